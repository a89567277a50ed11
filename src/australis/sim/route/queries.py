"""Many queries: random plans, alone or together, at many rates, with fixed or shared resources.

A job is one world. Its runs at some rates are also steps of the search for its maximum data rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum, isnan
from typing import NamedTuple

from australis.policy.route import POLICIES
from australis.sim.route.probes import Search
from australis.sim.route.workload import TOGETHER, drawn, drawn_together
from australis.sim.route.world import Sharing, World

PARTS = tuple(round(0.42 + 0.02 * step, 2) for step in range(10))
"""The rates of a world's queries, as fractions of its best policy's maximum; too much for some."""
PARTS_TOGETHER = PARTS[::2]
PARTS_SHARED = (0.6, 0.7, 0.8, 0.9)
"""If nodes share load, the other policies take more, too."""
BEST = ("SCQ", "WSCQ")
UNTIL = 300.0
"""How long runs are."""
WORK = 20.0
"""Where a search begins: at the rate that all nodes together could take of tuples with this work."""


class Job(NamedTuple):
    """A world: a plan alone or several together, with fixed or shared resources."""

    seed: int
    together: bool = False
    shared: bool = False


@dataclass(frozen=True)
class Measured:
    """The result of a job; rates are per plan."""

    job: Job
    parts: tuple[float, ...]
    """The rates of its queries, as fractions of the highest rate of its best policy."""
    rates: tuple[float, ...]
    response_times: Mapping[str, tuple[float, ...]]
    """By policy, at these rates, in the second half; if no tuple came through, the length of the run."""
    stays: Mapping[str, tuple[float, ...]]
    """The same for all tuples, until they came through or were eliminated."""
    data_rates: Mapping[str, float]
    """By policy, the highest rate that lasts."""
    events: int


def jobs(seed: int, plans: int, *, together: bool, shared: bool) -> list[Job]:
    """Worlds with a number of plans."""
    worlds = max(1, plans // TOGETHER) if together else plans
    return [Job(number, together, shared) for number in range(seed, seed + worlds)]


def world_of(job: Job) -> World:
    """The world of a job; with shared resources it is the same, except that operators can move."""
    world = drawn_together(job.seed) if job.together else drawn(job.seed)
    return replace(world, sharing=Sharing()) if job.shared else world


def measured(job: Job) -> Measured:
    """Run a world with each policy at some rates, and find the highest."""
    world, plans = world_of(job), TOGETHER if job.together else 1
    searches = {name: Search(world, POLICIES[name], until=UNTIL, seed=job.seed) for name in POLICIES}
    start = fsum(world.capacities.values()) / WORK
    best = max(searches[name].maximum(start) for name in BEST)
    parts = PARTS_SHARED if job.shared else PARTS_TOGETHER if job.together else PARTS
    rates = tuple(best * part for part in parts)
    ran = {name: [search.run(rate) for rate in rates] for name, search in searches.items()}
    return Measured(
        job,
        parts,
        tuple(rate / plans for rate in rates),
        {name: tuple(_number(each.late.response_time) for each in found) for name, found in ran.items()},
        {name: tuple(_number(each.late.stay) for each in found) for name, found in ran.items()},
        {name: search.maximum(rates[0]) / plans for name, search in searches.items()},
        sum(search.events for search in searches.values()),
    )


def _number(time: float) -> float:
    return UNTIL if isnan(time) else time
