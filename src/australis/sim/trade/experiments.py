"""How close a market comes to an acceptable allocation: Figures 8 to 10 of the paper, and its Table 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from australis.policy.trade import Contract, Participant, Settings, Task
from australis.sim.trade.configurations import (
    COST,
    FULL,
    SCENARIOS,
    VARIANTS,
    Counts,
    capacities,
    contracts,
    named_variant,
)
from australis.sim.trade.graphs import Pairs, degrees, drawn_pairs, longest_ways
from australis.sim.trade.world import Market, Moment, Movable, loads_of, settle

NODES, RUNS = 995, 9
LEAST_CONTRACTS = (1, 3, 5, 7, 9, 10)
SECOND = 1_000_000
BEGIN = 5 * SECOND
"""Nothing is moved within the first 5 seconds."""
PERIOD = 2 * SECOND
"""A node tries to move load at most once every 2 seconds."""
UNTIL = 600 * SECOND
SOON = 15 * SECOND
PAPER_GRAPHS: Mapping[int, tuple[int, int]] = {
    1: (11, 19),
    3: (13, 8),
    5: (14, 6),
    7: (15, 5),
    9: (17, 4),
    10: (18, 4),
}
"""Table 1: the most contracts that a node has and the average diameter, by the least contracts."""


@dataclass(frozen=True)
class Job:
    """One run of a market; everything follows from it."""

    variant: str
    scenario: str
    least: int
    """The least number of contracts of a node."""
    run: int = 0
    seed: int = 0
    nodes: int = NODES
    notify: bool = False
    even: bool = False
    traced: bool = False
    """Whether the times of all movements are reported."""


class Counted(NamedTuple):
    """Excess operators over all nodes, and free capacity; and the most at one node.

    Operators above 14 are in excess, whatever the prices: Figure 8 also counts them without contracts, where
    there are no prices. There is free capacity until a node's marginal cost reaches its highest price
    (section 5.1).
    """

    excess: int
    room: int
    excess_most: int
    room_most: int


@dataclass(frozen=True)
class Outcome:
    """The result of a market."""

    job: Job
    before: Counted
    after: Counted
    cost_before: int
    now: Moment
    last_movement: int | None
    settled: bool
    """Whether no more movement was possible, rather than no time left."""
    soon: float
    """The fraction of the total fall in cost that was reached 15 s after the first movement."""
    messages: Mapping[str, int]
    moments: tuple[Moment, ...] = field(default=(), repr=False)

    @property
    def excess_moved(self) -> float:
        """The fraction of the excess load that moved elsewhere."""
        return 1 - self.after.excess / self.before.excess if self.before.excess else 1.0

    @property
    def capacity_used(self) -> float:
        """The fraction of the initial free capacity that is used."""
        return 1 - self.after.room / self.before.room if self.before.room else 1.0


def measured(job: Job) -> Outcome:
    """Run a market until no more movement is possible."""
    market = built(job)
    top = highest_prices(market)
    before, cost_before = counted(market, top), market.now.cost
    market.begin(BEGIN)
    done = settle(market, Movable(market), UNTIL)
    soon = fallen(market.history, cost_before, SOON)
    return Outcome(
        job,
        before,
        counted(market, top),
        cost_before,
        market.now,
        market.last_movement,
        done,
        soon,
        dict(market.messages),
        tuple(market.history) if job.traced else (),
    )


def fallen(history: Sequence[Moment], before: int, within: int) -> float:
    """The fraction of the total fall in cost that was reached a while after the first movement."""
    if not history:
        return 1.0
    soon = [each.cost for each in history if each.time <= history[0].time + within]
    return (before - soon[-1]) / (before - history[-1].cost)


def built(job: Job) -> Market:
    """The market of a job; the variants of prices share graphs and loads, as in the paper."""
    variant = named_variant(job.variant)
    scenario = replace(SCENARIOS[job.scenario], even=job.even)
    pairs = _pairs(job)
    loads = scenario.drawn(job.nodes, _chance(job, 1, scenario.mean))
    full = capacities(variant, job.nodes, _chance(job, 2))
    phases = drawn_phases(_chance(job, 3), job.nodes)
    return market_of(contracts(variant, pairs, full), loads, phases, notify=job.notify)


def drawn_phases(chance: np.random.Generator, nodes: int) -> Counts:
    """When in a period each node acts, to a millisecond."""
    return 1000 * chance.integers(PERIOD // 1000, size=nodes)


def market_of(agreed: Sequence[Contract], loads: Counts, phases: Counts, *, notify: bool = False) -> Market:
    """Nodes with some operators each, and contracts between them."""
    own: dict[str, list[Contract]] = {str(node): [] for node in range(len(loads))}
    for contract in agreed:
        own[contract.giver].append(contract)
        own[contract.taker].append(contract)
    return Market(
        Participant(
            str(node),
            COST,
            own[str(node)],
            [Task(f"{node}.{number}") for number in range(count)],
            # A failed round is rarely repeated if partners report when there is room.
            Settings(period=PERIOD, phase=phase, notify=notify, retry=30 * PERIOD if notify else None),
        )
        for node, (count, phase) in enumerate(zip(loads.tolist(), phases.tolist(), strict=True))
    )


def _pairs(job: Job) -> Pairs:
    return drawn_pairs(job.nodes, job.least, _chance(job, 0, job.least))


def _chance(job: Job, *about: int) -> np.random.Generator:
    return np.random.default_rng([job.seed, job.run, job.nodes, *about])


def highest_prices(market: Market) -> Counts:
    """The highest price in any contract of each participant: it is full when its marginal cost reaches it."""
    return np.array(
        [
            max((each.high for half in (p.giver, p.taker) for each in half.contracts.values()), default=0)
            for p in market.participants.values()
        ],
        dtype=np.int64,
    )


def counted(market: Market, top: Counts) -> Counted:
    """Excess operators, and those that could be accepted at the highest price of each node."""
    loads = np.array(loads_of(market))
    excess = np.maximum(0, loads - FULL)
    room = np.maximum(0, np.searchsorted(COST.slopes, top, side="left") - loads)
    return Counted(int(excess.sum()), int(room.sum()), int(excess.max()), int(room.max()))


# --- many runs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """Means over runs of one variant and one number of contracts."""

    variant: str
    contracts: int
    """The least number of contracts of a node."""
    excess_moved: float
    """Of an underloaded market."""
    capacity_used: float
    """Of an overloaded market."""
    excess_before: float
    excess_left: float
    excess_most: float
    """The most operators above 14 that any node is left with."""
    capacity_before: float
    capacity_left: float
    capacity_most: float
    """The most operators that any node still has room for at the end."""
    movements: float
    operators_moved: float
    messages: float
    settled_s: float
    """When the last movement was."""
    soon: float
    """The fraction of the fall in cost within 15 s of the first movement; these five: for the underload."""


def jobs(
    variants: Iterable[str] = tuple(VARIANTS),
    least: Iterable[int] = LEAST_CONTRACTS,
    *,
    nodes: int = NODES,
    runs: int = RUNS,
    seed: int = 0,
    even: bool = False,
) -> list[Job]:
    """All runs for Figures 8 and 9."""
    return [
        Job(variant, scenario, contracts, run, seed, nodes, even=even)
        for variant in variants
        for contracts in least
        for scenario in SCENARIOS
        for run in range(runs)
    ]


def summed_up(outcomes: Iterable[Outcome]) -> list[Result]:
    """Means over runs, by variant and contracts."""
    groups: dict[tuple[str, int], dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        job = outcome.job
        group = groups.setdefault((job.variant, job.least), {name: [] for name in SCENARIOS})
        group[job.scenario].append(outcome)
    return [
        _result(variant, least, group["underload"], group["overload"])
        for (variant, least), group in groups.items()
    ]


def _result(variant: str, least: int, under: list[Outcome], over: list[Outcome]) -> Result:
    return Result(
        variant,
        least,
        excess_moved=fmean(each.excess_moved for each in under),
        capacity_used=fmean(each.capacity_used for each in over),
        excess_before=fmean(each.before.excess for each in under),
        excess_left=fmean(each.after.excess for each in under),
        excess_most=fmean(each.after.excess_most for each in under),
        capacity_before=fmean(each.before.room for each in over),
        capacity_left=fmean(each.after.room for each in over),
        capacity_most=fmean(each.after.room_most for each in over),
        movements=fmean(each.now.movements for each in under),
        operators_moved=fmean(each.now.operators for each in under),
        messages=fmean(sum(each.messages.values()) for each in under),
        settled_s=fmean((each.last_movement or 0) / SECOND for each in under),
        soon=fmean(each.soon for each in under),
    )


# --- Table 1 ------------------------------------------------------------------------------------------------


class Graphs(NamedTuple):
    """A row of Table 1: means over runs."""

    least: int
    most: float
    diameter: float
    """The distance of the farthest node, averaged over nodes: the paper's average diameter."""
    longest: float
    """The greatest distance between two nodes."""


STARTS = 1000
"""The most nodes whose distances are computed; of a larger market, a sample."""


def table_1(least: int, *, nodes: int = NODES, runs: int = RUNS, seed: int = 0) -> Graphs:
    """The contract graphs of the runs."""
    drawn = [_pairs(Job("", "", least, run, seed, nodes)) for run in range(runs)]
    starts = np.arange(nodes)[:: -(-nodes // STARTS)]
    ways = [longest_ways(pairs, nodes, starts) for pairs in drawn]
    return Graphs(
        least,
        fmean(int(degrees(pairs, nodes).max()) for pairs in drawn),
        fmean(float(each.mean()) for each in ways),
        fmean(int(each.max()) for each in ways),
    )
