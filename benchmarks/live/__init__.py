"""What a network that lives is good for, in figures: queries on a running stream and its past, and rewriting.

`python -m benchmarks.live [--part attach] [--quick]`. The parts are attaching (nothing lost or doubled, equal
to a query that was there from the start), looking up by key against a scan, the run-time optimiser, and
expiry.
"""
