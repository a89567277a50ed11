"""The demonstration: a made-up hour of network connections, and a network that finds the intruders in it.

Comes in: a seed. Goes out: what was found, how fast, and that the evaluators agree.
"""
