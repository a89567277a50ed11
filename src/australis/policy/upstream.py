"""Quality at inner nodes: what a stream is worth that goes on to another node (Aurora* 7.1, Figure 9).

The graphs of the outputs behind it are moved upstream: those of delay by what the way still takes, those of
loss by the part that the stream has in each output and by what is shed on the way. Their sum is a graph as
any other, by which a node schedules and sheds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from australis.algebra.quality import Points, Quality
from australis.qos.graphs import Numbers, delta, utilities

POINTS_MOST = 32
"""The most points of an inferred graph."""
SPENT_MOST = 0.8
"""The most of its good zone that an output is taken to spend beyond a stream.

What is beyond may be late through no fault of this node, which it could not mend by shedding everything.
"""


@dataclass(frozen=True)
class Downstream:
    """An output behind a stream."""

    quality: Quality
    share: float = 1.0
    """The part of its tuples that come by the stream."""
    delay_s: float = 0.0
    """How much later than the stream it is."""
    kept: float = 1.0
    """The fraction of its tuples that are not shed on the way."""


def inferred(outputs: Sequence[Downstream]) -> Quality | None:
    """The graphs of a stream by those of the outputs behind it; None if none of them has any.

    What may lose no tuple behind it, the stream may not lose either.

    >>> from australis.algebra.quality import Quality
    >>> graphs = Quality(delay=((0, 1), (4, 1), (8, 0)), loss=((0, 0), (1, 1)), weight=2)
    >>> found = inferred([Downstream(graphs, delay_s=1.0)])
    >>> found.delay, found.loss, found.weight
    (((0.0, 1.0), (3.0, 1.0), (7.0, 0.0)), ((0.0, 0.0), (1.0, 1.0)), 2.0)
    """
    behind = [each for each in outputs if each.share > 0]
    known = [each for each in behind if each.quality.delay or _curve(each.quality) is not None]
    if not known:
        return None
    weight = sum(each.quality.weight for each in behind)
    return Quality(_delay(behind), _loss(behind), weight=weight)


def later(quality: Quality, delay_s: float) -> Quality:
    """The graphs of a stream that reaches its reader some time later."""
    return inferred([Downstream(quality, delay_s=delay_s)]) or quality


def together(qualities: Sequence[Quality]) -> Quality | None:
    """The graphs of a stream with several readers, of which each gets all of it."""
    return inferred([Downstream(each) for each in qualities])


def _delay(outputs: Sequence[Downstream]) -> Points:
    if not any(each.quality.delay for each in outputs):
        return ()
    spent = [_spent(each) for each in outputs]
    places = {0.0}
    for each, gone in zip(outputs, spent, strict=True):
        places |= {x - gone for x, _ in each.quality.delay if x > gone}

    def whole(xs: Numbers) -> Numbers:
        found = (
            each.quality.weight * utilities(each.quality.delay, xs + gone)
            for each, gone in zip(outputs, spent, strict=True)
        )
        return sum(found, np.zeros(len(xs)))

    return _points(places, whole, falls=True)


def _spent(output: Downstream) -> float:
    good = delta(output.quality.delay)
    return min(output.delay_s, SPENT_MOST * good) if good < np.inf else output.delay_s


def _curve(quality: Quality) -> Points | None:
    """The utility by the fraction that comes; None for an output that never loses a tuple."""
    return quality.loss or (((0.0, 0.0), (1.0, 1.0)) if quality.value else None)


def _loss(outputs: Sequence[Downstream]) -> Points:
    curves = [_curve(each.quality) for each in outputs]
    if any(points is None for points in curves):
        return ()
    known = [(each, points) for each, points in zip(outputs, curves, strict=True) if points is not None]
    if not sum(each.quality.weight * utilities(points, np.array([each.kept]))[0] for each, points in known):
        known = [(Downstream(each.quality, each.share), points) for each, points in known]
    places = {0.0, 1.0}
    for each, points in known:
        if each.kept > 0:
            # Where the fraction that comes brings the output to a point of its curve.
            places |= {1 - (1 - x / each.kept) / each.share for x, _ in points}

    def whole(xs: Numbers) -> Numbers:
        found = (
            each.quality.weight * utilities(points, each.kept * (1 - each.share * (1 - xs)))
            for each, points in known
        )
        return sum(found, np.zeros(len(xs)))

    return _points({x for x in places if 0 <= x <= 1}, whole, falls=False)


def _points(places: set[float], whole: Callable[[Numbers], Numbers], *, falls: bool) -> Points:
    """A sum of curves at the places where it bends, with 1 as its highest utility."""
    xs = np.array(sorted(places))
    if len(xs) > POINTS_MOST:
        xs = np.interp(np.linspace(0, len(xs) - 1, POINTS_MOST), np.arange(len(xs)), xs)
    ys = whole(xs)
    best = ys[0] if falls else ys[-1]
    ys = np.clip(ys / best, 0.0, 1.0) if best > 0 else np.ones(len(xs))
    # Sums of doubles may differ in the last digit where the curve is flat.
    ys = np.minimum.accumulate(ys) if falls else np.maximum.accumulate(ys)
    return tuple(zip(xs.tolist(), ys.tolist(), strict=True))
