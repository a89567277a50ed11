"""Distributed eddies, simulated: tuples that are routed from operator to operator by a policy.

`world` says what there is, `run` lets it live for a while, `experiments` are those of the paper. `loop` goes
from event to event, compiled, as are `queues`, `links` and `choices`; they work on `layout` and `heap`.
Plans, a policy and a seed come in; response times and data rates go out.
"""

from australis.sim.route import queries
from australis.sim.route.experiments import ResponseTimes, response_times_of_ds3, response_times_of_s3
from australis.sim.route.queries import Job, Measured
from australis.sim.route.tables import Means, data_rates, mean, response_times

__all__ = [
    "Job",
    "Means",
    "Measured",
    "ResponseTimes",
    "data_rates",
    "mean",
    "queries",
    "response_times",
    "response_times_of_ds3",
    "response_times_of_s3",
]
