"""Runs of a virtual world: a policy, a rate, a while, a seed; and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from australis.errors import Problem, SimulationError
from australis.policy.route.policies import Policy
from australis.sim.eddies.choices import SCORES
from australis.sim.eddies.layout import How, laid_out
from australis.sim.eddies.loop import lived
from australis.sim.eddies.world import OVERLOADED, World

ROOM = 1 << 19
"""The most tuples that are in the world at a time."""


@dataclass(frozen=True)
class Outcome:
    """What happened: tuples counted once each, times in the world's own unit."""

    entered: int
    made: int
    eaten: int
    left: int
    inside: int
    """Those that were still queued or on their way."""
    response_time: float
    """The mean of those that left; nan if none did."""
    overloaded: float | None
    """When a node first had too long a queue."""
    events: int


def simulate(
    world: World,
    policy: Policy,
    rate: float,
    *,
    until: float = 500.0,
    seed: int = 0,
    stop_overloaded: bool = False,
) -> Outcome:
    """Let the sources send at a rate together, and the policy route, until a time."""
    if not rate > 0:
        raise SimulationError(Problem("rate", f"is {rate:g}", "above 0"))
    arrays = laid_out(world, rate, ROOM)
    how = how_of(world, policy, stop_overloaded)
    rng = np.random.default_rng(seed)
    lived(arrays, how, until, rng)
    count = arrays.counts[0]
    if count["full"]:
        raise SimulationError(
            Problem("rate", f"at {rate:g} there were too many tuples at {count['now']:.4g}", "a shorter run")
        )
    inside = count["entered"] + count["made"] - count["eaten"] - count["left"]
    return Outcome(
        int(count["entered"]),
        int(count["made"]),
        int(count["eaten"]),
        int(count["left"]),
        int(inside),
        float(count["response"] / count["left"]) if count["left"] else nan,
        float(count["overloaded"]) if count["overloaded"] >= 0 else None,
        int(count["events"]),
    )


def how_of(world: World, policy: Policy, stop_overloaded: bool = False) -> How:
    """What the loop is told besides the arrays."""
    links, exchange = world.links, world.exchange
    return How(
        SCORES.index(policy.score),
        policy.weighted,
        world.steady,
        links.are_instant,
        links.page_tuples,
        links.wait,
        links.latency,
        exchange.tuples,
        exchange.time,
        world.ticket_limit,
        OVERLOADED,
        stop_overloaded,
    )
