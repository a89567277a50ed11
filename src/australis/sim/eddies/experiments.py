"""The experiments of the paper on distributed eddies, beside the numbers that it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from australis.policy.route.examples import S3
from australis.policy.route.policies import POLICIES
from australis.sim.eddies.run import simulate
from australis.sim.eddies.world import alone

S3_RATES = (200, 210, 220, 230, 240)
S3_UNTIL = 500.0
"""The paper does not say how long its runs were; of this length its overloaded queues are as long as ours."""
S3_PAPER: Mapping[str, tuple[float, ...]] = {
    "T": (0.35, 22, 26, 35, 45),
    "Q": (1.5, 2.1, 2.6, 3, 3.8),
    "SC": (0.11, 2.3, 23, 34, 44),
    "WSC": (0.12, 0.49, 9.0, 20, 29),
    "SCQ": (0.54, 0.95, 1.2, 1.4, 2.2),
    "WSCQ": (0.22, 0.44, 0.61, 0.8, 1.6),
}


@dataclass(frozen=True)
class ResponseTimes:
    """Response times of the policies at some rates: the paper's, and ours."""

    table: str
    seed: int
    rates: tuple[float, ...]
    paper: Mapping[str, tuple[float, ...]]
    ours: Mapping[str, tuple[float, ...]]
    events: int
    """How many events it took."""


def response_times_of_s3(seed: int = 0, *, until: float = S3_UNTIL) -> ResponseTimes:
    """Table 4.10: S3, each operator on a node of its own.

    Tuples take just the time of their work: with such times, policies that are not overloaded have the
    response times of the paper, which are below those of the model with its exponential ones.
    """
    world = alone(S3)
    ran = {
        name: [simulate(world, policy, rate, until=until, seed=seed) for rate in S3_RATES]
        for name, policy in POLICIES.items()
    }
    ours = {name: tuple(each.response_time for each in outcomes) for name, outcomes in ran.items()}
    events = sum(each.events for outcomes in ran.values() for each in outcomes)
    return ResponseTimes("4.10", seed, S3_RATES, S3_PAPER, ours, events)
