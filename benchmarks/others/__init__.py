"""Australis beside other engines, on the same tuples: `python -m benchmarks.others` (`make bench-others`).

Each engine has an environment of its own, which the target makes, and serves passes from there (`flink_side`,
`bytewax_side`); ours are those of `benchmarks.engine`. Results are compared before anything is printed.
"""
