"""Plans drawn at random, on nodes drawn at random: the workload of section 4.4 of the paper.

The paper says: ten nodes of 500 to 1,000 units of resources, 20 to 30 operators that take 1 to 20 of them
for a tuple, links of 1 to 100 MB in a unit of time, pages of 40 tuples that wait for at most one unit. It
does not say what plans look like. Here three to five streams share out the operators of a plan, each visits
its own in any order, and one operator in four is a join.
"""

from __future__ import annotations

import numpy as np

from australis.policy.route.plan import Operator, Plan, Stream, any_order, plan_of
from australis.sim.eddies.world import Links, World

NODES = 10
PAGE_TUPLES = 40
PAGE_MB = 0.004
JOINS = 0.25


def drawn(seed: int) -> World:
    """A plan on ten nodes; the same for the same seed.

    >>> world = drawn(seed=1)
    >>> len(world.capacities), 20 <= len(world.plan.operators) <= 30, world == drawn(seed=1)
    (10, True, True)
    """
    rng = np.random.default_rng(seed)
    plan = _plan(rng)
    nodes = [f"node{place}" for place in range(NODES)]
    homes = {id_: nodes[rng.integers(NODES)] for id_ in (*plan.operators, *(s.id for s in plan.streams))}
    capacities = {node: rng.uniform(500, 1000) for node in nodes}
    page_times = {(a, b): PAGE_MB / rng.uniform(1, 100) for a in nodes for b in nodes if a != b}
    return World(plan, capacities, homes, Links(PAGE_TUPLES, wait=1.0, page_times=page_times))


def _plan(rng: np.random.Generator) -> Plan:
    count, sources = rng.integers(20, 31), rng.integers(3, 6)
    ids = [f"op{place}" for place in range(count)]
    operators = tuple(Operator(id_, rng.uniform(1, 20), _selectivity(rng)) for id_ in ids)
    streams = tuple(
        Stream(f"source{place}", any_order(*ids[place::sources]), 1 / sources) for place in range(sources)
    )
    return plan_of(operators, streams)


def _selectivity(rng: np.random.Generator) -> float:
    return rng.uniform(0.5, 2.0) if rng.random() < JOINS else rng.uniform(0.1, 1.0)
