"""The example plans of the paper on distributed eddies, simulated: S3 and DS3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from australis.policy.route import DS3, DS3_RESOURCES, POLICIES, RULES, S3
from australis.sim.route import paper
from australis.sim.route.run import simulate
from australis.sim.route.world import Sharing, World, alone

UNTIL = 500.0
"""The paper does not give the length of its runs; with this one its overloaded queues are as long as ours."""
SMALL = RULES._replace(overloaded=300)
"""The nodes of DS3 have far fewer resources than others, and are overloaded far sooner."""


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


def response_times_of_s3(seed: int = 0, *, until: float = UNTIL) -> ResponseTimes:
    """Table 4.10: S3, each operator on its own node.

    Service times are constant: with these, policies that are not overloaded have the response times of the
    paper, which are below those of the model with its exponential times.
    """
    return _response_times("4.10", alone(S3), paper.S3_RATES, paper.S3, seed, until)


def response_times_of_ds3(seed: int = 0, *, until: float = UNTIL) -> ResponseTimes:
    """Table 5.2: DS3, each operator on a node that initially has a third of the resources."""
    capacities = {id_: DS3_RESOURCES / len(DS3.operators) for id_ in DS3.operators}
    world = World(DS3, capacities, {id_: id_ for id_ in DS3.operators}, sharing=Sharing(rules=SMALL))
    return _response_times("5.2", world, paper.DS3_RATES, paper.DS3, seed, until)


def _response_times(
    table: str,
    world: World,
    rates: tuple[float, ...],
    theirs: Mapping[str, tuple[float, ...]],
    seed: int,
    until: float,
) -> ResponseTimes:
    ran = {
        name: [simulate(world, policy, rate, until=until, seed=seed) for rate in rates]
        for name, policy in POLICIES.items()
    }
    ours = {name: tuple(each.response_time for each in outcomes) for name, outcomes in ran.items()}
    events = sum(each.events for outcomes in ran.values() for each in outcomes)
    return ResponseTimes(table, seed, rates, theirs, ours, events)
