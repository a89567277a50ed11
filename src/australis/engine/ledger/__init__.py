"""What is committed: the catalogue of a root, its mirror in memory, and files that nothing refers to.

Segments, states, heads and statistics come in and become visible whole or not at all.
"""
