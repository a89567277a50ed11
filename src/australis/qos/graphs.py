"""Graphs: utility along piecewise linear curves, and by category (Aurora 4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.quality import Points, ValueGraph

Numbers = npt.NDArray[np.float64]


def utility(points: Points, x: float) -> float:
    """The utility at a position: linear between points, constant beyond them, 1 where there is no graph.

    >>> [utility(((2, 1), (10, 0)), x) for x in (0, 6, 11)]
    [1.0, 0.5, 0.0]
    """
    return float(utilities(points, np.array([x], np.float64))[0])


def utilities(points: Points, xs: Numbers) -> Numbers:
    """The utility at each of some positions."""
    if not points:
        return np.ones(len(xs))
    return np.interp(xs, [x for x, _ in points], [y for _, y in points])


class Graphs:
    """Many graphs, to be evaluated at once.

    >>> Graphs([((2, 1), (10, 0)), ()]).utilities(np.array([0, 1]), np.array([[6.0, 11.0], [6.0, 11.0]]))
    array([[0.5, 0. ],
           [1. , 1. ]])
    """

    def __init__(self, graphs: Sequence[Points]) -> None:
        known = [points or ((0.0, 1.0),) for points in graphs]
        self._last = np.array([len(points) - 1 for points in known], np.int64)
        width = int(self._last.max(initial=0)) + 1
        beyond = ((math.inf, 0.0),) * width
        padded = [(*points, *beyond[len(points) :]) for points in known]
        self._xs, self._ys = np.moveaxis(np.array(padded, np.float64).reshape(-1, width, 2), 2, 0)
        self._slopes = np.zeros(self._xs.shape)
        # Beyond the last point of a graph there is nothing to divide by; a step may be as steep as can be.
        with np.errstate(invalid="ignore", over="ignore"):
            self._slopes[:, :-1] = np.diff(self._ys) / np.diff(self._xs)
        self._slopes[np.arange(width) >= self._last[:, None]] = 0.0

    def utilities(self, rows: npt.NDArray[np.int64], positions: Numbers) -> Numbers:
        """The utility of some of the graphs, each at the positions in its row: as `utilities` finds it."""
        xs = self._xs[rows]
        steps = np.zeros(positions.shape, np.int64)
        for column in range(xs.shape[1]):
            steps += positions >= xs[:, column, None]
        before = np.maximum(steps - 1, 0)
        place = rows[:, None], before
        y = self._ys[place]
        inside = (steps > 0) & (before < self._last[rows][:, None])
        offset = np.where(inside, positions - self._xs[place], 0.0)
        found: Numbers = self._slopes[place] * offset + y
        return found


@lru_cache(maxsize=10_000)
def delta(points: Points) -> float:
    """Where the good zone of a delay graph ends: the last position of the highest utility (Aurora's delta).

    >>> delta(((0, 1), (2, 1), (10, 0)))
    2.0
    """
    if not points:
        return math.inf
    best = max(y for _, y in points)
    last = max(x for x, y in points if y == best)
    return math.inf if last == points[-1][0] else float(last)


def slope(points: Points, x: float, toward: int) -> float:
    """The slope of the graph on one side of a position: the cost of a small step down or up.

    >>> [slope(((0, 0), (0.5, 0.75), (1, 1)), 0.5, toward) for toward in (-1, 1)]
    [1.5, 0.5]
    """
    for (x0, y0), (x1, y1) in pairwise(points):
        if (x0 < x <= x1) if toward < 0 else (x0 <= x < x1):
            return (y1 - y0) / (x1 - x0)
    return 0.0


def value_utilities(graph: ValueGraph, values: npt.NDArray[Any]) -> Numbers:
    """The utility of values; 0 for one that is not a number, or a category that the graph does not name.

    >>> graph = ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.1)))
    >>> value_utilities(graph, np.array(["note", "x"]))
    array([0.1, 0. ])
    """
    if graph.points:
        xs = positions(values)
        return np.where(np.isnan(xs), 0.0, utilities(graph.points, xs))
    found = np.zeros(len(values))
    for name, worth in graph.categories:
        found[values == name] = worth
    return found


def positions(values: npt.NDArray[Any]) -> Numbers:
    """Values along the axis of a graph: timestamps in seconds since 1970, NaN for what is missing.

    >>> positions(np.array(["1970-01-01T00:00:01.5", "NaT"], "datetime64[us]"))
    array([1.5, nan])
    """
    if values.dtype.kind != "M":
        return values.astype(np.float64)
    micros = values.astype("datetime64[us]")
    return np.where(np.isnat(micros), np.nan, micros.astype(np.int64) / 1e6)
