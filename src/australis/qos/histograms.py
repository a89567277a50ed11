"""Histograms of values: how many tuples lie where on a value graph, and which matter least (Aurora 4.5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.quality import Points, ValueGraph
from australis.qos.graphs import Numbers, positions, utility

BINS_PER_PIECE = 8
"""The number of bins per linear piece of a graph."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """Values from `low`, which belongs to it, up to `high`, which does not."""

    low: float
    high: float


@dataclass(frozen=True)
class Bins:
    """The bins of a value graph: intervals or categories, and a last one for everything else.

    The first interval is open to the left and the last to the right. NULL and NaN belong to the last bin.
    """

    graph: ValueGraph
    intervals: tuple[Interval, ...]
    utilities: tuple[float, ...]
    """The average utility of a tuple in each bin; it is 0 for the last bin."""

    def __len__(self) -> int:
        return len(self.utilities)


@dataclass(frozen=True)
class Lowest:
    """The values that matter least, as intervals or categories; with `others`, all other values as well."""

    intervals: tuple[Interval, ...] = ()
    categories: tuple[str, ...] = ()
    others: bool = False
    fraction: float = 0.0
    """The fraction of all tuples that have such values."""
    utility: float = 0.0
    """The mean utility of these tuples: what dropping one of them loses."""


@lru_cache(maxsize=1024)
def bins_of(graph: ValueGraph, per_piece: int = BINS_PER_PIECE) -> Bins:
    """The bins of a graph: one per category, or equal parts of each linear piece and an open bin at each end.

    >>> bins = bins_of(ValueGraph("v", points=((0, 0), (10, 1))), per_piece=2)
    >>> [(each.low, each.high) for each in bins.intervals]
    [(-inf, 0.0), (0.0, 5.0), (5.0, 10.0), (10.0, inf)]
    >>> bins.utilities
    (0.0, 0.25, 0.75, 1.0, 0.0)
    """
    if graph.categories:
        return Bins(graph, (), (*(worth for _, worth in graph.categories), 0.0))
    edges = _edges(graph.points, per_piece)
    intervals = tuple(Interval(*pair) for pair in pairwise([-math.inf, *edges, math.inf]))
    worths = (utility(graph.points, _middle(each)) for each in intervals)
    return Bins(graph, intervals, (*worths, 0.0))


def count(bins: Bins, values: npt.NDArray[Any], tuples: Counts | None = None) -> Counts:
    """How many of some values are in each bin; `tuples` says how often each value occurs, by default once.

    >>> bins = bins_of(ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.1))))
    >>> count(bins, np.array(["note", "x", "note"]))
    array([0, 2, 1])
    """
    found = (_by_category if bins.graph.categories else _by_interval)(bins, values, tuples)
    total = len(values) if tuples is None else int(tuples.sum())
    return np.append(found, total - found.sum())


def mean_utility(bins: Bins, counts: Counts) -> float:
    """The mean utility of the tuples in a histogram; 1 without tuples.

    >>> mean_utility(bins_of(ValueGraph("v", points=((0, 0), (10, 1))), 2), np.array([0, 1, 1, 0, 0]))
    0.5
    """
    total = int(counts.sum())
    return float(counts @ np.array(bins.utilities)) / total if total else 1.0


def lowest(bins: Bins, counts: Counts, fraction: float) -> Lowest:
    """The values of lowest utility that a fraction of the tuples has.

    Takes whole bins, the least useful first, and only as much of the last interval as is needed. A category
    or an open interval cannot be cut, so the fraction found may be greater than the one wanted.

    >>> bins = bins_of(ValueGraph("v", points=((0, 0), (10, 1))), per_piece=2)
    >>> found = lowest(bins, np.array([10, 40, 50, 0, 0]), 0.3)
    >>> found.intervals, found.fraction
    ((Interval(low=-inf, high=2.5),), 0.3)
    """
    total = int(counts.sum())
    chosen, missing = _chosen(bins, counts, fraction * total)
    if not chosen:
        return Lowest()
    taken = counts[chosen].astype(np.float64)
    worths = np.array(bins.utilities)[chosen]
    intervals = [bins.intervals[index] for index in chosen if index < len(bins.intervals)]
    if missing < taken[-1] and chosen[-1] < len(bins.intervals) and _is_closed(intervals[-1]):
        intervals[-1] = _cut(bins.graph.points, intervals[-1], missing / float(taken[-1]))
        taken[-1], worths[-1] = missing, utility(bins.graph.points, _middle(intervals[-1]))
    return Lowest(
        intervals=_merged(intervals),
        categories=tuple(bins.graph.categories[index][0] for index in chosen if _is_category(bins, index)),
        others=len(bins) - 1 in chosen,
        fraction=float(taken.sum()) / total,
        utility=float(taken @ worths / taken.sum()),
    )


def _edges(points: Points, per_piece: int) -> list[float]:
    xs = [x for x, _ in points]
    parts = [np.linspace(low, high, per_piece, endpoint=False) for low, high in pairwise(xs)]
    return [float(edge) for edge in np.unique(np.concatenate([*parts, xs[-1:]]))]


def _middle(interval: Interval) -> float:
    """The middle of an interval, or the end of an open one, beyond which graphs are flat."""
    if _is_closed(interval):
        return interval.low + (interval.high - interval.low) / 2
    return interval.high if math.isinf(interval.low) else interval.low


def _is_closed(interval: Interval) -> bool:
    return math.isfinite(interval.low) and math.isfinite(interval.high)


def _is_category(bins: Bins, index: int) -> bool:
    return index < len(bins.graph.categories)


def _by_category(bins: Bins, values: npt.NDArray[Any], tuples: Counts | None) -> Counts:
    same = (values == name for name, _ in bins.graph.categories)
    found = (np.count_nonzero(mask) if tuples is None else tuples[mask].sum() for mask in same)
    return np.fromiter(found, np.int64)


def _by_interval(bins: Bins, values: npt.NDArray[Any], tuples: Counts | None) -> Counts:
    xs: Numbers = positions(values)
    # NaN is greater than every edge: it gets a place of its own after the intervals, and is left out.
    edges = [interval.low for interval in bins.intervals[1:]]
    places = np.where(np.isnan(xs), len(bins.intervals), np.searchsorted(edges, xs, side="right"))
    found = np.bincount(places, tuples, len(bins))
    return found[:-1].astype(np.int64)


def _chosen(bins: Bins, counts: Counts, wanted: float) -> tuple[list[int], float]:
    """The bins to take, the least useful first, and how many tuples of the last one are needed."""
    chosen: list[int] = []
    missing = wanted
    for index in sorted(range(len(bins)), key=bins.utilities.__getitem__):
        if missing <= 0:
            break
        # Intervals without tuples are taken too, so that fewer intervals remain.
        if counts[index] or index < len(bins.intervals):
            chosen.append(index)
        if missing <= counts[index]:
            break
        missing -= int(counts[index])
    return chosen, missing


def _cut(points: Points, interval: Interval, part: float) -> Interval:
    """The less useful end of an interval that lies on one piece of the graph."""
    width = (interval.high - interval.low) * part
    if utility(points, interval.low) <= utility(points, interval.high):
        return Interval(interval.low, interval.low + width)
    return Interval(interval.high - width, interval.high)


def _merged(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    found: list[Interval] = []
    for each in sorted(intervals, key=lambda interval: interval.low):
        if each.low == each.high:
            continue
        if found and found[-1].high >= each.low:
            found[-1] = Interval(found[-1].low, each.high)
        else:
            found.append(each)
    return tuple(found)
