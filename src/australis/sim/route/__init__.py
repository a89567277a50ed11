"""Distributed eddies, simulated: tuples that are routed from operator to operator by a policy.

`world` describes the nodes and the plan, `run` runs it for a while, `experiments` are those of the paper.
`loop` advances from event to event; it is compiled, as are `queues`, `links` and `choices`, and works on
`layout` and `heap`. In: plans, a policy and a seed. Out: response times and data rates.
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
