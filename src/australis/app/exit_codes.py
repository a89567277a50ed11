"""The exit codes of the command line."""

FAILED, REFUSED, OVERLOADED = 1, 2, 3
"""The run failed; the network or the arguments are wrong; the load is more than the machine can take."""
INTERRUPTED, TERMINATED = 130, 143
"""Ended by Ctrl-C, or by a polite kill."""
