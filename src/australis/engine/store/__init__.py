"""Files below a storage root: segments of tuples, states of boxes, and what is decoded of them.

Arrow tables and states come in; immutable files go out. Driver and workers share the root and nothing else.
"""
