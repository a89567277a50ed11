"""Quality of service: what lateness, loss and unimportant values cost an output, and its utility.

In: the graphs of a network's outputs and the measurements of these outputs, as values. Out: utilities.
Nothing here reads a clock or does I/O.
"""
