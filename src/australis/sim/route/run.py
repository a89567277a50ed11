"""Runs of a virtual world, by policy, rate, duration and seed; and their results."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

from australis.errors import Problem, SimulationError
from australis.policy.route import RULES, Policy
from australis.sim.route.compiled import SCORES, Arrays, How, laid_out, run_until
from australis.sim.route.world import OVERLOADED, World

ROOM = 1 << 19
"""The most tuples in the world at a time."""


@dataclass(frozen=True)
class Outcome:
    """The result: tuples counted once each, times in the world's own unit."""

    entered: int
    made: int
    eaten: int
    left: int
    inside: int
    """Those that were still queued or in transit."""
    response_time: float
    """The mean of those that left; nan if none did."""
    late: Late
    overloaded: float | None
    """When a node first had too long a queue."""
    full: bool
    """Whether it ended early, because there was no room for another tuple."""
    queues: tuple[tuple[int, ...], tuple[int, ...]]
    """The tuples queued at each node, half way and at the end."""
    changes: Changes
    events: int


@dataclass(frozen=True)
class Late:
    """The second half, when a world has settled, or has not: mean times, nan if there are none."""

    response_time: float
    """Of those that left then."""
    stay: float
    """Of those that left then or were eliminated."""


@dataclass(frozen=True)
class Changes:
    """How often operators were slid, split and merged, and the queued tuples that moved with them."""

    slid: int
    split: int
    merged: int
    handed: int


def simulate(
    world: World,
    policy: Policy,
    rate: float,
    *,
    until: float = 500.0,
    seed: int = 0,
    ramp: float = 0.0,
    stop_overloaded: bool = False,
    may_fill: bool = False,
) -> Outcome:
    """Let the sources send at a total rate, and the policy route, until a time.

    With a ramp the rate rises until then. A world without room for another tuple is an error, unless it may
    fill up: then the run ends there.
    """
    if not rate > 0:
        raise SimulationError(Problem("rate", f"is {rate:g}", "above 0"))
    arrays = laid_out(world, rate, ROOM)
    half, end = _halves(arrays, how_of(world, policy, stop_overloaded, ramp), until, seed)
    found = _outcome(half, end)
    if found.full and not may_fill:
        now = end.counts["now"]
        raise SimulationError(
            Problem("rate", f"at {rate:g} there were too many tuples at {now:.4g}", "a shorter run")
        )
    return found


class _Moment(NamedTuple):
    """The state at a time."""

    counts: dict[str, Any]
    queues: tuple[int, ...]


def _halves(arrays: Arrays, how: How, until: float, seed: int) -> list[_Moment]:
    """Run both halves; returns the state at the end of each."""
    rng, moments = np.random.default_rng(seed), []
    for end in (until / 2, until):
        run_until(arrays, how, end, rng)
        counts = {name: arrays.counts[0][name].item() for name in arrays.counts.dtype.names}
        moments.append(_Moment(counts, tuple(arrays.nodes["queued"].tolist())))
    return moments


def _outcome(half: _Moment, end: _Moment) -> Outcome:
    count = end.counts
    return Outcome(
        count["entered"],
        count["made"],
        count["eaten"],
        count["left"],
        inside=count["entered"] + count["made"] - count["eaten"] - count["left"],
        response_time=_mean(count["response"], count["left"]),
        late=_late({name: value - half.counts[name] for name, value in count.items()}),
        overloaded=count["overloaded"] if count["overloaded"] >= 0 else None,
        full=bool(count["full"]),
        queues=(half.queues, end.queues),
        changes=Changes(count["slid"], count["split"], count["merged"], count["handed"]),
        events=count["events"],
    )


def _late(count: dict[str, Any]) -> Late:
    ended = count["left"] + count["eaten"]
    return Late(_mean(count["response"], count["left"]), _mean(count["response"] + count["stay"], ended))


def _mean(whole: float, number: int) -> float:
    return whole / number if number else nan


def how_of(world: World, policy: Policy, stop_overloaded: bool = False, ramp: float = 0.0) -> How:
    """The parameters of the loop besides the arrays."""
    links, exchange, sharing = world.links, world.exchange, world.sharing
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
        ramp,
        sharing.every if sharing else 0.0,
        sharing.rules if sharing else RULES,
    )
