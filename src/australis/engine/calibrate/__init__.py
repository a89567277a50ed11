"""What boxes cost before a node runs: measured on a sample, or taken from a root's statistics.

A network and tuples come in; costs for the static analysis go out.
"""
