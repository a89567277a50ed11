"""Decisions: what runs next, and how much of it.

Comes in: what is known of queues and time, as values. Goes out: choices. Nothing here reads a clock, runs a
job or keeps more than it needs to be fair, so that whatever it did can be done again.
"""
