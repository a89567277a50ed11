"""How tuples get in: the log that numbers them, and back-pressure while the disk budget is used up.

Arrow tables come in; events of the log and segments of input arcs go out, durable on return.
"""
