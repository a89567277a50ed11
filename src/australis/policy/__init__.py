"""Decisions: what runs next, and how much of it.

In: what is known of queues and time, as values. Out: choices. Nothing here reads a clock, runs a job or keeps
more state than fairness needs, so every decision can be replayed.
"""
