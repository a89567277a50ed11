"""One train after another: what the next one takes, how it is committed, and the loop that runs them.

Queues and choices come in; committed trains go out.
"""
