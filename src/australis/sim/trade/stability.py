"""How a market reacts to load that arrives at once, and leaves again: Figure 11 of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from australis.policy.trade import Task
from australis.sim.trade.configurations import capacities, contracts, named_variant
from australis.sim.trade.experiments import BEGIN, SECOND, drawn_phases, market_of
from australis.sim.trade.graphs import drawn_pairs
from australis.sim.trade.world import Market, Moment

NODES, LEAST = 50, 3
BASE = 333
"""The initial operators: 10 more at 10 nodes are 30 % of them."""
CHANGED = 10
"""The nodes that get more."""
COMES, GOES, UNTIL = 60 * SECOND, 120 * SECOND, 180 * SECOND
ON_THE_WAY = SECOND // 10
"""When to retry for an operator that is just being moved."""
LARGE, SMALL = 10, 5
"""Additional operators for each node that gets some: 30 % and 15 %."""


@dataclass(frozen=True)
class Shift:
    """Load that arrives at some nodes and leaves again; everything follows from it."""

    variant: str
    extra: int
    run: int = 0
    seed: int = 0


@dataclass(frozen=True)
class Reaction:
    """The reaction of a market: operators moved at first, under additional load, and after it has gone."""

    shift: Shift
    first: int
    more: int
    after: int
    moments: tuple[Moment, ...]
    """Second by second."""


def shifted(shift: Shift) -> Reaction:
    """Let load arrive and leave."""
    market = _market(shift)
    hosts = _chance(shift, 4).permutation(NODES)[:CHANGED].tolist()
    extra = [(str(host), Task(f"extra.{host}.{each}")) for host in hosts for each in range(shift.extra)]
    market.begin(BEGIN)
    for host, task in extra:
        market.clock.at(COMES, market.come, host, task)
        market.clock.at(GOES, _end, market, task.id)
    moved, moments = [], []
    for until in (COMES - 1000, GOES - 1000, UNTIL):
        for second in range(int(market.clock.now) // SECOND + 1, until // SECOND + 1):
            market.run(second * SECOND)
            moments.append(market.now)
        market.run(until)
        moved.append(market.now.operators)
    return Reaction(shift, moved[0], moved[1] - moved[0], moved[2] - moved[1], tuple(moments))


def _market(shift: Shift) -> Market:
    variant = named_variant(shift.variant)
    pairs = drawn_pairs(NODES, LEAST, _chance(shift, 0))
    loads = _chance(shift, 1).multinomial(BASE, np.full(NODES, 1 / NODES))
    full = capacities(variant, NODES, _chance(shift, 2))
    return market_of(contracts(variant, pairs, full), loads, drawn_phases(_chance(shift, 3), NODES))


def _chance(shift: Shift, about: int) -> np.random.Generator:
    return np.random.default_rng([shift.seed, shift.run, NODES, about])


def _end(market: Market, task: str) -> None:
    if not market.end(task):
        market.clock.after(ON_THE_WAY, _end, market, task)
