"""The graphs of an output as charts, before they are placed: curves, bars, and the ticks of their axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from australis.algebra.quality import Points, Quality, ValueGraph
from australis.app.pictures.notation import graph_notation, span_text
from australis.qos.graphs import delta

CHART_WIDTH, CHART_HEIGHT, CHART_GAP = 134.0, 88.0, 10.0
BARS_MAX = 5
_LETTER = 0.056
"""The width of a letter at an axis, as a fraction of the axis."""
_MARGINS = (0.14, 0.06)
"""How far ticks may extend to the left and to the right, as fractions of the axis."""
_TAIL = 0.12
"""How much of an axis shows that a graph is flat beyond its points."""


@dataclass(frozen=True)
class Chart:
    """Utility along an axis, with positions from 0 to 1, or by name as bars."""

    title: str
    tooltip: str
    curve: Points = ()
    ticks: tuple[tuple[float, str], ...] = ()
    good: float | None = None
    """The end of the good zone, Aurora's delta."""
    bars: tuple[tuple[str, float], ...] = ()


def charts_of(quality: Quality | None) -> tuple[Chart, ...]:
    """A chart for each graph that an output has: delay, loss, value.

    >>> [chart.title for chart in charts_of(Quality(delay=((2, 1), (10, 0)), loss=((0, 0), (1, 1))))]
    ['delay', 'delivered']
    """
    return tuple(_charts(quality)) if quality is not None else ()


def charts_width(count: int) -> float:
    """How much width some charts need beside an output."""
    return count * (CHART_WIDTH + CHART_GAP)


def _charts(quality: Quality) -> Iterator[Chart]:
    graphs = graph_notation(quality)
    if quality.delay:
        title = "delay since trigger" if quality.counts_since_trigger else "delay"
        yield _delay(title, quality.delay, graphs["Delay"])
    if quality.loss:
        ends = [(0.0, "0 %"), (1.0, "100 %")]
        ticks = _ticks(0, 1, [*ends, *((x, f"{100 * x:.3g} %") for x, _ in quality.loss)])
        yield Chart("delivered", graphs["Loss"], _curve(quality.loss, 0, 1), ticks)
    if quality.value is not None:
        yield _value(quality.value, graphs["Value"])


def _delay(title: str, points: Points, tooltip: str) -> Chart:
    end, good = points[-1][0], delta(points)
    high = end * (1 + _TAIL) or 1.0
    zone = [(good, f"δ {span_text(good, 3)}")] if math.isfinite(good) else []
    ticks = _ticks(0, high, [*zone, (end, span_text(end, 3)), (0.0, "0")])
    return Chart(title, tooltip, _curve(points, 0, high), ticks, good / high if zone else None)


def _value(graph: ValueGraph, tooltip: str) -> Chart:
    if graph.categories:
        named = sorted(graph.categories, key=lambda category: -category[1])
        return Chart(graph.attribute, tooltip, bars=tuple(named))
    first, last = graph.points[0][0], graph.points[-1][0]
    margin = (last - first) * _TAIL or 1.0
    low, high = first - margin, last + margin
    marks = [(x, f"{x:.3g}") for x in (first, last, *(x for x, _ in graph.points))]
    return Chart(graph.attribute, tooltip, _curve(graph.points, low, high), _ticks(low, high, marks))


def _curve(points: Points, low: float, high: float) -> Points:
    """The points along an axis, including the flat ends."""
    across = _scale(low, high)
    return ((0.0, points[0][1]), *((across(x), y) for x, y in points), (1.0, points[-1][1]))


def _ticks(low: float, high: float, marks: Iterable[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """The ticks of an axis that do not overlap earlier ones, which matter more."""
    across, kept = _scale(low, high), list[tuple[float, str]]()
    for x, text in marks:
        place = _inside(across(x), len(text) * _LETTER / 2)
        if all(abs(place - other) > (len(text) + len(beside) + 1) * _LETTER / 2 for other, beside in kept):
            kept.append((place, text))
    return tuple(sorted(kept))


def _inside(place: float, half: float) -> float:
    """The middle of a tick, moved so that its ends stay in the chart."""
    left, right = _MARGINS
    return min(max(place, half - left), 1 - half + right)


def _scale(low: float, high: float) -> Callable[[float], float]:
    return lambda x: (x - low) / (high - low)
