"""How good: what lateness, loss and unimportant values cost an output, and what was delivered is worth.

Comes in: the graphs of a network's outputs, and what was measured of these, as values. Goes out: utilities.
Nothing here reads a clock or does I/O.
"""
