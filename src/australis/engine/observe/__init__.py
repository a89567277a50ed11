"""What is known of a node: statistics, quality of service, metrics, and a look at a root from outside.

The ledger comes in; reports go out. Nothing here changes anything.
"""
