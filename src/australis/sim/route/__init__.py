"""Distributed eddies, simulated: tuples that are routed from operator to operator by a policy.

`world` describes the nodes and the plan, `run` runs it for a while, `experiments` are those of the paper.
`loop` advances from event to event; it is compiled, as are `queues`, `links` and `choices`, and works on
`layout` and `heap`. `trials` are unreliable worlds of routers. In: plans, a policy and a seed. Out: response
times and data rates, or an error that names the seed.
"""

from australis.sim.route import queries
from australis.sim.route.experiments import ResponseTimes, response_times_of_ds3, response_times_of_s3
from australis.sim.route.queries import Job, Measured
from australis.sim.route.tables import Means, data_rates, mean, response_times
from australis.sim.route.trials import BadEddy, Trial, tried

__all__ = [
    "BadEddy",
    "Job",
    "Means",
    "Measured",
    "ResponseTimes",
    "Trial",
    "data_rates",
    "mean",
    "queries",
    "response_times",
    "response_times_of_ds3",
    "response_times_of_s3",
    "tried",
]
