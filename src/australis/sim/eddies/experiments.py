"""The experiments of the paper on distributed eddies, beside the numbers that it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log, sqrt

from australis.policy.route.examples import S3
from australis.policy.route.policies import POLICIES, Policy
from australis.sim.eddies.run import simulate
from australis.sim.eddies.workload import drawn
from australis.sim.eddies.world import World, alone

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


MDR_UNTIL = 1000.0
"""How long a world must live without a node that is overloaded for its rate not to be too high."""
MDR_PRECISION = 1.05
MDR_PAPER: Mapping[str, float] = {"T": 35, "Q": 150, "SC": 194, "WSC": 277, "SCQ": 349, "WSCQ": 347}


@dataclass(frozen=True)
class DataRates:
    """Maximum data rates of the policies: geometric means over plans, the paper's and ours."""

    table: str
    seed: int
    plans: int
    paper: Mapping[str, float]
    ours: Mapping[str, float]


def data_rates_of(plan: int, *, until: float = MDR_UNTIL) -> dict[str, float]:
    """The maximum data rate of each policy for the plan that a number draws."""
    world = drawn(plan)
    return {name: maximum_data_rate(world, policy, until=until) for name, policy in POLICIES.items()}


def data_rates(seed: int, each: Sequence[Mapping[str, float]]) -> DataRates:
    """Table 4.12, of the rates of some plans."""
    means = {name: exp(fsum(log(rates[name]) for rates in each) / len(each)) for name in POLICIES}
    return DataRates("4.12", seed, len(each), MDR_PAPER, means)


def maximum_data_rate(world: World, policy: Policy, *, until: float = MDR_UNTIL) -> float:
    """The highest rate, to some per cent, at which no node is overloaded until a time."""

    def fits(rate: float) -> bool:
        return simulate(world, policy, rate, until=until, stop_overloaded=True).overloaded is None

    low = 100.0
    while not fits(low):
        low /= 2
    high = 2 * low
    while fits(high):
        low, high = high, 2 * high
    while high / low > MDR_PRECISION:
        middle = sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
