"""The papers' experiments: `australis simulate`.

One sub-room per policy, named as in `policy` and `sim`; each has its command, its report and its charts.
"""
