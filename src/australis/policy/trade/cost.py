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
    """The cost of a load: each unit costs at least as much as the one below (section 3.1).

    The cost is linear between knots that are `step` units of load apart, and continues with the last slope.
    Loads, slopes and costs are whole numbers: sums of marginal costs are differences of costs, exactly.

    >>> cost = CostCurve(slopes=(1, 2, 5), step=10)
    >>> cost.of(10), cost.of(25), cost.of(100), cost.marginal(15, load=10)
    (10, 55, 430, 45)
    """

    slopes: tuple[int, ...]
    """The price of a unit of load, between knots."""
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
        """The additional cost of a task on top of a load (the paper's MC)."""
        return self.of(load + task) - self.of(load)

    def least_price(self, task: int, load: int) -> int:
        """The lowest unit price that exceeds the cost of a task on top of a load."""
        return self.marginal(task, load) // task + 1

    def most_price(self, task: int, load: int, fee: int = 0) -> int:
        """The highest unit price at which it is cheaper to pay for a task than to keep it in a load."""
        return -(-(self.marginal(task, load - task) - fee) // task) - 1


def in_flight(uses: Sequence[Fraction], *, unit: int, beyond: int) -> CostCurve:
    """The cost by tuples in flight, if each unit of load takes a fraction of each resource of a node.

    A resource with utilisation u has u / (1 - u) tuples in flight (M/M/1). `unit` is the cost of one tuple; a
    unit of load without resources left costs as much as `beyond` tuples.

    >>> in_flight([Fraction(1, 4)], unit=100, beyond=10)
    CostCurve(slopes=(33, 67, 200, 1000), step=1)
    """
    fitting = ceil(1 / max(uses)) - 1
    tuples = [sum((use * load / (1 - use * load) for use in uses), Fraction()) for load in range(fitting + 1)]
    # Steps are rounded, not totals, so that the cost stays convex.
    slopes = [round(unit * (high - low)) for low, high in pairwise(tuples)]
    return CostCurve((*slopes, max(unit * beyond, *slopes)))


def narrowest(cost: CostCurve, full: int, moves: int, task: int = 1) -> int:
    """The narrowest range of prices that lets a task move along a chain (Lemma 1).

    It is the paper's δ for one task fewer than moves, below the load at which nodes are full.

    >>> cost = CostCurve(slopes=(1, 2, 4, 7, 11))
    >>> [narrowest(cost, full=5, moves=moves) for moves in (1, 2, 3)]
    [0, 4, 7]
    """
    highest = cost.marginal(task, full - task)
    lowest = cost.marginal(task, full - moves * task)
    return -(-(highest - lowest) // task)
