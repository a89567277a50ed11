"""Where tuples and states are kept: segments, state files, the catalogue of both, and what is decoded.

Comes in: Arrow tables and states. Goes out: files below one root that never change once written, and SQLite
transactions that make them visible, whole or not at all. Driver and tasks share the root and nothing else.
"""
