"""The clairvoyant bound: the best total utility that any fractions delivered could have (beyond Aurora 4.5).

A stage has to do the greatest part of its work that any output downstream needs, if the outputs share as many
tuples as they can. So what fractions cost is convex, what they are worth is concave, and the best of them are
found by a price for time: at each price, an output takes another part of its tuples if that is worth the
stages that it needs for it (`selection`). Between two prices both fractions and utility are linear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from australis.algebra.quality import Points
from australis.policy.limit.selection import worthwhile

PRICES_MAX = 200
"""A search with more prices is caught in rounding errors."""
NEAR = 1e-9


@dataclass(frozen=True)
class Work:
    """What a node would have to do if it delivered everything, and what its outputs are worth."""

    stages: Mapping[str, float]
    """The workers' time that each stage would need per second."""
    ways: Mapping[str, tuple[str, ...]]
    """The stages that lead to each output."""
    curves: Mapping[str, Points]
    """The weighted utility of each output by the fraction delivered: concave (see `attainable`)."""

    def utility(self, fractions: Mapping[str, float]) -> float:
        """The total utility if outputs get some fractions of their tuples."""
        return sum(_worth(points, fractions[name]) for name, points in self.curves.items())

    def needs(self, fractions: Mapping[str, float]) -> float:
        """The workers' time per second that this takes: each stage serves the output that gets most."""
        most = dict.fromkeys(self.stages, 0.0)
        for name, way in self.ways.items():
            for stage in way:
                most[stage] = max(most[stage], fractions[name])
        return sum(part * self.stages[stage] for stage, part in most.items())

    @cached_property
    def _positions(self) -> tuple[float, ...]:
        """Where the slope of any curve changes."""
        return tuple(sorted({0.0, 1.0} | {x for points in self.curves.values() for x, _ in points}))

    @cached_property
    def _slopes(self) -> tuple[tuple[float, Mapping[str, float]], ...]:
        """The length of each piece between such positions, and the slopes of the curves there."""
        return tuple(
            (x1 - x0, {name: _slope(points, x0, x1) for name, points in self.curves.items()})
            for x0, x1 in pairwise(self._positions)
        )

    def at(self, price: float) -> _Choice:
        """What is best if a second of the workers' time costs a price."""
        costs = {stage: price * cost for stage, cost in self.stages.items()}
        fractions = dict.fromkeys(self.curves, 0.0)
        for length, slopes in self._slopes:
            chosen = worthwhile(slopes, costs, self.ways)
            if not chosen:
                break
            for name in chosen:
                fractions[name] += length
        return _Choice(fractions, self.utility(fractions), self.needs(fractions))

    @property
    def free(self) -> _Choice:
        """What is best if nothing may be spent."""
        fractions = {
            name: 0.0 if any(self.stages[stage] > 0 for stage in self.ways[name]) else _best(points)
            for name, points in self.curves.items()
        }
        return _Choice(fractions, self.utility(fractions), self.needs(fractions))


@dataclass(frozen=True)
class _Choice:
    """Fractions of the tuples of each output, their utility, and the time that they take per second."""

    fractions: Mapping[str, float]
    utility: float
    needs: float


@dataclass(frozen=True)
class Bound:
    """The best that outputs could have."""

    utility: float
    fractions: Mapping[str, float]
    """The fraction of its tuples that each output gets then."""


def bound(work: Work, capacity: float) -> Bound:
    """The best total utility within the workers' time per second, and the fractions that have it.

    >>> curves = {"a": ((0, 0), (1, 4)), "b": ((0, 0), (0.5, 0.8), (1, 1))}
    >>> work = Work({"shared": 0.4, "a": 0.4, "b": 0.8}, {"a": ("shared", "a"), "b": ("shared", "b")}, curves)
    >>> best = bound(work, 1.0)
    >>> round(best.utility, 6), {name: round(each, 6) for name, each in best.fractions.items()}
    (4.4, {'a': 1.0, 'b': 0.25})
    """
    above, below = work.at(0.0), work.free
    if above.needs <= capacity:
        return Bound(above.utility, above.fractions)
    for _ in range(PRICES_MAX):
        price = (above.utility - below.utility) / (above.needs - below.needs)
        between = work.at(price)
        gain = between.utility - below.utility - price * (between.needs - below.needs)
        if gain <= NEAR * max(1.0, above.utility):
            break
        above, below = (between, below) if between.needs > capacity else (above, between)
    return _between(below, above, capacity)


def _between(below: _Choice, above: _Choice, capacity: float) -> Bound:
    """The mixture of two choices that takes what there is."""
    part = min(max((capacity - below.needs) / (above.needs - below.needs), 0.0), 1.0)
    fractions = {name: each + part * (above.fractions[name] - each) for name, each in below.fractions.items()}
    return Bound(below.utility + part * (above.utility - below.utility), fractions)


def _worth(points: Points, fraction: float) -> float:
    """The utility at a fraction: linear between points, flat beyond them."""
    if fraction <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if fraction <= x1:
            return y0 + (fraction - x0) * (y1 - y0) / (x1 - x0)
    return points[-1][1]


def _slope(points: Points, x0: float, x1: float) -> float:
    """The slope between two positions between which there is no point."""
    return (_worth(points, x1) - _worth(points, x0)) / (x1 - x0)


def _best(points: Points) -> float:
    """The least fraction with the highest utility."""
    return max(points, key=lambda point: (point[1], -point[0]))[0]
