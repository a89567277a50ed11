"""Australis beside hand-written Structured Streaming, on the same files: `python -m benchmarks.engine`.

Each case has one query for both sides: a network for Australis (`networks`), and native operators for
Structured Streaming in its best configuration (`streaming`, `tuning`). Every side of every case runs in a
process of its own (`worker`), warms up, and is timed; a ratio is only printed of results that are equal
(`digest`).
"""
