"""What an output can have by the fraction of its tuples that it gets in time: its graphs as one curve."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from australis.algebra.quality import Points, Quality
from australis.qos.graphs import utility
from australis.qos.histograms import Counts, bins_of


def attainable(quality: Quality, counts: Counts | None = None) -> Points:
    """The highest weighted utility of an output, by the fraction of its tuples that it gets in time.

    What it does not get in time is shed, or waits for ever: the better of both. So without a loss graph the
    curve is a line from the utility at the end of the delay graph, and without a delay graph, which makes
    waiting free, it is flat. `counts` are the values of its tuples, in the bins of its value graph: the least
    important ones are shed first. Where graphs are not convex (see `Network.warnings`) the curve is their
    concave hull, which no fraction exceeds.

    >>> attainable(Quality(delay=((1, 1), (3, 0)), weight=4))
    ((0.0, 0.0), (1.0, 4.0))
    >>> attainable(Quality(delay=((1, 1), (3, 0)), loss=((0, 0), (0.5, 0.75), (1, 1)), weight=2))
    ((0.0, 0.0), (0.5, 1.5), (1.0, 2.0))
    >>> attainable(Quality(loss=((0, 0), (1, 1))))
    ((0.0, 1.0), (1.0, 1.0))
    """
    curve = _by_fraction(quality)
    if quality.value is not None and counts is not None and counts.sum():
        mean = _means(np.array(bins_of(quality.value).utilities), counts)
        # Both are convex between these positions, as is their product: a chord is never below it.
        places = sorted({x for x, _ in curve} | {x for x, _ in mean})
        curve = _hull((x, utility(curve, x) * _mean(mean, x)) for x in places)
    return tuple((x, quality.weight * y) for x, y in curve)


def _by_fraction(quality: Quality) -> Points:
    """The utility by the delay and the loss graph."""
    late = quality.delay[-1][1] if quality.delay else 1.0
    if quality.value is not None and not quality.loss:
        # What is shed costs nothing, as long as the right values are left.
        return ((0.0, 1.0), (1.0, 1.0))
    if not quality.loss:
        return ((0.0, late), (1.0, 1.0))
    ends = [(x, utility(quality.loss, x)) for x in (0.0, 1.0)]
    return _hull([(0.0, late), *ends, *quality.loss])


def _means(worths: Counts, counts: Counts) -> Points:
    """The mean utility of the most important values, by the fraction of all tuples that they are."""
    best_first = [index for index in np.argsort(-worths, kind="stable") if counts[index]]
    tuples, values = counts[best_first], (counts * worths)[best_first]
    fractions = np.cumsum(tuples) / counts.sum()
    means = np.cumsum(values) / np.cumsum(tuples)
    first = (0.0, float(means[0]))
    return (first, *zip(fractions.tolist(), means.tolist(), strict=True))


def _mean(means: Points, fraction: float) -> float:
    """The mean utility at a fraction: between points it is the sum of values that is linear."""
    for (x0, y0), (x1, y1) in pairwise(means):
        if x0 < fraction <= x1:
            return (x0 * y0 + (fraction - x0) / (x1 - x0) * (x1 * y1 - x0 * y0)) / fraction
    return means[0][1] if fraction <= 0 else means[-1][1]


def _hull(points: Iterable[tuple[float, float]]) -> Points:
    """The concave hull: the least concave curve that is nowhere below the points.

    >>> _hull([(0, 0), (0.5, 0.2), (1, 1), (0, 0.1)])
    ((0, 0.1), (1, 1))
    """
    best: dict[float, float] = {}
    for x, y in points:
        best[x] = max(y, best.get(x, y))
    found: list[tuple[float, float]] = []
    for x, y in sorted(best.items()):
        while len(found) > 1 and _is_below(found[-2], found[-1], (x, y)):
            found.pop()
        found.append((x, y))
    return tuple(found)


def _is_below(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether a point is not above the line between its neighbours."""
    (x0, y0), (x, y), (x1, y1) = first, middle, last
    return (y - y0) * (x1 - x0) <= (y1 - y0) * (x - x0)
