"""Distributed eddies, simulated: tuples that are routed from operator to operator by a policy.

`world` says what there is, `run` lets it live for a while, `experiments` are those of the paper. `loop` goes
from event to event, compiled, as are `queues`, `links` and `choices`; they work on `layout` and `heap`.
"""
