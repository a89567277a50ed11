"""Live networks in figures: queries on a running stream and its history, and rewriting.

`python -m benchmarks.live [--part attach] [--quick]`. The parts are attaching (nothing lost or duplicated,
equal to a query that ran from the start), lookups by key against a scan, the run-time optimiser, and expiry.
"""
