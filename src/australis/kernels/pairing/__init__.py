"""Boxes with two inputs: keys that meet, pairs that satisfy a predicate, and their sequence.

Batches and kept tuples of both sides come in; pairs, or the windows of a Resample, go out.
"""
