"""A source that makes tuples up: the same ones for the same seed.

A text of settings comes in; deliveries with positions go out.
"""
