"""Random plans on random nodes: the workload of section 4.4 of the paper.

The paper gives: ten nodes of 500 to 1,000 units of resources, 20 to 30 operators that take 1 to 20 of them
per tuple, links of 1 to 100 MB per unit of time, pages of 40 tuples that wait for at most one unit. It does
not describe the plans. Here three streams divide the operators of a plan among them, and also visit most of
each other's, all in any order; and a good third of the operators are joins.
"""

from __future__ import annotations

import numpy as np

from australis.policy.route import Operator, RoutedStream, any_order, plan_of
from australis.sim.route.world import Links, World

NODES, OPERATORS = 10, (20, 30)
"""For a single plan."""
TOGETHER, NODES_TOGETHER, OPERATORS_TOGETHER = 20, 40, (10, 40)
"""For several plans."""
PAGE_TUPLES = 40
PAGE_MB = 0.004
SOURCES, VISITED, JOINS = 3, 0.6, 0.36
"""Streams of a plan, the fraction of other operators that each visits, and the fraction that are joins."""
SELECTED, JOINED = (0.1, 1.0), (0.5, 2.5)
"""Selectivities of operators that are not joins, and of joins."""


def drawn(seed: int) -> World:
    """A plan on ten nodes; the same for the same seed.

    >>> world = drawn(seed=1)
    >>> len(world.capacities), 20 <= len(world.plan.operators) <= 30, world == drawn(seed=1)
    (10, True, True)
    """
    rng = np.random.default_rng(seed)
    return _world(rng, _plan(rng, 0, OPERATORS, 1.0), NODES)


def drawn_together(seed: int) -> World:
    """Twenty plans on forty nodes, with equal numbers of tuples for each.

    >>> world = drawn_together(seed=1)
    >>> len(world.capacities), 200 <= len(world.plan.operators) <= 800
    (40, True)
    """
    rng = np.random.default_rng(seed)
    plans = [_plan(rng, number, OPERATORS_TOGETHER, 1 / TOGETHER) for number in range(TOGETHER)]
    operators = tuple(operator for own, _ in plans for operator in own)
    return _world(rng, (operators, tuple(stream for _, own in plans for stream in own)), NODES_TOGETHER)


Parts = tuple[tuple[Operator, ...], tuple[RoutedStream, ...]]
"""The parts of a plan."""


def _world(rng: np.random.Generator, parts: Parts, count: int) -> World:
    """A plan on nodes and links with random resources, at random places."""
    plan, nodes = plan_of(*parts), [f"node{place}" for place in range(count)]
    homes = {id_: nodes[rng.integers(count)] for id_ in (*plan.operators, *(s.id for s in plan.streams))}
    capacities = {node: rng.uniform(500, 1000) for node in nodes}
    page_times = {(a, b): PAGE_MB / rng.uniform(1, 100) for a in nodes for b in nodes if a != b}
    return World(plan, capacities, homes, Links(PAGE_TUPLES, wait=1.0, page_times=page_times))


def _plan(rng: np.random.Generator, number: int, operators: tuple[int, int], share: float) -> Parts:
    ids = [f"plan{number}.op{place}" for place in range(rng.integers(*operators, endpoint=True))]
    joins = rng.permutation(len(ids)) < JOINS * len(ids)
    made = tuple(
        Operator(id_, rng.uniform(1, 20), rng.uniform(*(JOINED if join else SELECTED)))
        for id_, join in zip(ids, joins, strict=True)
    )
    visitors = [
        {place % SOURCES, *np.flatnonzero(rng.random(SOURCES) < VISITED)} for place in range(len(ids))
    ]
    streams = tuple(
        RoutedStream(
            f"plan{number}.source{source}",
            any_order(*(id_ for id_, own in zip(ids, visitors, strict=True) if source in own)),
            share / SOURCES,
        )
        for source in range(SOURCES)
    )
    return made, streams
