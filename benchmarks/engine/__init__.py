"""Australis against hand-written Structured Streaming, on the same files: `python -m benchmarks.engine`.

Each case has one query for both sides: a network for Australis (`networks`), and native operators for
Structured Streaming in its best configuration (`streaming`, `tuning`). Every side of every case runs in its
own process (`worker`), warms up, and is timed; a ratio is printed only if the results are equal (`digest`).
"""
