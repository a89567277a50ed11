"""The configurations of the paper's Table 2: the prices of contracts, and the initial loads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from australis.errors import Problem, SimulationError
from australis.policy.trade import Contract, CostCurve, in_flight, narrowest
from australis.sim.trade.graphs import Pairs

Counts = NDArray[np.int64]
"""A number for each node."""

MONEY = 1_000_000
"""The cost of a tuple in flight, in the smallest unit of money."""
COST = in_flight((Fraction(1, 40), Fraction(1, 25)), unit=MONEY, beyond=500)
"""Costs of operators that take 2.5 % of a processor and 4 % of a link: 500 tuples/s, 50 µs, 1 kB per tuple.

Beyond 24 of them the link is full, and a queue grows by 500 tuples per second for each.
"""
FULL = 14
FULL_RANGE = (12, 18)
MOVES = 3
"""The range of prices is as wide as the change of the marginal cost over two operators: δ2."""


@dataclass(frozen=True)
class Variant:
    """How contracts get their prices."""

    name: str
    drawn: bool
    """Whether nodes have random capacities, or all the same."""
    bounded: bool
    """Whether contracts have a range of prices, or one price."""


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("fixed", drawn=False, bounded=False),
        Variant("bounded", drawn=False, bounded=True),
        Variant("random", drawn=True, bounded=False),
        Variant("random-bounded", drawn=True, bounded=True),
    )
}


@dataclass(frozen=True)
class Scenario:
    """The initial loads: many operators at some nodes, random numbers at the others."""

    name: str
    mean: int
    """Of operators at a node, over all nodes."""
    crowd: int = 22
    crowded: Fraction = Fraction(299, 995)
    even: bool = False
    """Whether nodes that are not crowded have equal or random numbers of operators."""

    def drawn(self, nodes: int, rng: np.random.Generator) -> Counts:
        """The number of operators of each node."""
        many = round(nodes * self.crowded)
        few, left = nodes - many, self.mean * nodes - self.crowd * many
        counts = np.full(nodes, self.crowd, dtype=np.int64)
        others = rng.permutation(nodes)[many:]
        if self.even:
            counts[others] = left // few + (np.arange(few) < left % few)
        else:
            counts[others] = rng.multinomial(left, np.full(few, 1 / few))
        return counts


SCENARIOS = {scenario.name: scenario for scenario in (Scenario("underload", 12), Scenario("overload", 15))}


def named_variant(name: str) -> Variant:
    """The variant of a name.

    >>> named_variant("random")
    Variant(name='random', drawn=True, bounded=False)
    """
    if name not in VARIANTS:
        raise SimulationError(Problem("prices", f"there is no {name!r}", f"one of {', '.join(VARIANTS)}"))
    return VARIANTS[name]


def capacities(variant: Variant, nodes: int, rng: np.random.Generator) -> Counts:
    """The greatest load of each node that is not too much for it."""
    if not variant.drawn:
        return np.full(nodes, FULL, dtype=np.int64)
    low, high = FULL_RANGE
    return rng.integers(low, high + 1, nodes)


def contracts(variant: Variant, pairs: Pairs, full: Counts, cost: CostCurve = COST) -> list[Contract]:
    """Both contracts of each pair, at the price that just pays the node that is full first for filling up.

    That is the marginal cost plus one smallest unit: "a lightly loaded node accepts tasks until its load
    reaches that of taskset^F" (section 3.2.3), and accepts only tasks that pay more than they cost. Prices
    range below that by the change of the node's marginal cost over two operators.
    """
    made = []
    for one, other in pairs.tolist():
        least = int(min(full[one], full[other]))
        high = cost.least_price(1, least - 1)
        low = high - narrowest(cost, least, MOVES) if variant.bounded else high
        made += [Contract(str(one), str(other), low, high), Contract(str(other), str(one), low, high)]
    return made
