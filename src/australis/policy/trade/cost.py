"""Convex costs of load, exact to the smallest unit of money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil

from australis.errors import PolicyError, Problem


@dataclass(frozen=True)
class CostCurve:
    """What a load costs: each unit of it as much as the one below, or more (section 3.1).

    The cost is linear between knots that are `step` units of load apart, and goes on with the last slope.
    Loads, slopes and costs are whole numbers: sums of marginal costs are differences of costs, exactly.

    >>> cost = CostCurve(slopes=(1, 2, 5), step=10)
    >>> cost.of(10), cost.of(25), cost.of(100), cost.marginal(15, load=10)
    (10, 55, 430, 45)
    """

    slopes: tuple[int, ...]
    """The price of a unit of load, from knot to knot."""
    step: int = 1
    _totals: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.step < 1 or not self.slopes:
            raise PolicyError(Problem("cost", f"has {len(self.slopes)} slopes, {self.step} apart", "some"))
        if self.slopes[0] < 0 or any(left > right for left, right in pairwise(self.slopes)):
            raise PolicyError(Problem("cost.slopes", "fall somewhere", "a convex cost, whose slopes rise"))
        totals = accumulate((slope * self.step for slope in self.slopes[:-1]), initial=0)
        object.__setattr__(self, "_totals", tuple(totals))

    def of(self, load: int) -> int:
        """The cost of a load."""
        knot = load // self.step
        if knot >= len(self.slopes):
            knot = len(self.slopes) - 1
        return self._totals[knot] + (load - knot * self.step) * self.slopes[knot]

    def marginal(self, task: int, load: int) -> int:
        """What a task of a load costs more, above a load that is there (the paper's MC)."""
        return self.of(load + task) - self.of(load)

    def least_price(self, task: int, load: int) -> int:
        """The lowest price of a unit that pays for more than a task above a load costs."""
        return self.marginal(task, load) // task + 1

    def most_price(self, task: int, load: int, fee: int = 0) -> int:
        """The highest price of a unit at which it is cheaper to pay for a task than to keep it in a load."""
        return -(-(self.marginal(task, load - task) - fee) // task) - 1


def in_flight(uses: Sequence[Fraction], *, unit: int, beyond: int) -> CostCurve:
    """The tuples in flight, where each unit of load takes a part of each resource of a node.

    A resource of which a part is used has part / (1 - part) tuples in flight, as M/M/1 says. `unit` is what
    one tuple costs; a unit of load for which there is no resource left costs as `beyond` tuples do.

    >>> in_flight([Fraction(1, 4)], unit=100, beyond=10)
    CostCurve(slopes=(33, 67, 200, 1000), step=1)
    """
    fitting = ceil(1 / max(uses)) - 1
    tuples = [sum((use * load / (1 - use * load) for use in uses), Fraction()) for load in range(fitting + 1)]
    # Steps are rounded, not totals: what rises still rises then, and the cost stays convex.
    slopes = [round(unit * (high - low)) for low, high in pairwise(tuples)]
    return CostCurve((*slopes, max(unit * beyond, *slopes)))


def narrowest(cost: CostCurve, full: int, moves: int, task: int = 1) -> int:
    """The narrowest range of prices with which a task gets through a chain of moves (Lemma 1).

    It is the paper's δ for one task less than moves, below the load at which nodes are full.

    >>> cost = CostCurve(slopes=(1, 2, 4, 7, 11))
    >>> [narrowest(cost, full=5, moves=moves) for moves in (1, 2, 3)]
    [0, 4, 7]
    """
    highest = cost.marginal(task, full - task)
    lowest = cost.marginal(task, full - moves * task)
    return -(-(highest - lowest) // task)
