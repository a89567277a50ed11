"""Lines and bars over numbers, as SVG: panels side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from australis.app.pictures.marks import opened, spot, tag, text_at

COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#e09f3e", "#6d597a", "#0b3c49")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _GAP = 250.0, 190.0, 56.0, 44.0, 44.0, 34.0
_LEGEND_ROW = 18.0
_TICKS = 4
_STYLE = """<style>
text { font: 11px sans-serif; fill: #333; }
.title { font-weight: 600; }
.grid { stroke: #e3e3e3; fill: none; }
.axis { stroke: #7d8590; fill: none; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
</style>"""


@dataclass(frozen=True)
class Series:
    """Points with a name; `bars`: drawn as bars, not as a line; `dots`: with a dot at each, or only these."""

    name: str
    points: tuple[tuple[float, float], ...]
    bars: bool = False
    dots: bool = False
    line: bool = True


@dataclass(frozen=True)
class Panel:
    """Series over the same axes."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    marks: tuple[float, ...] = ()
    """The numbers written along the axis; none: round ones."""


Scale = Callable[[float], float]


def plotted(panels: Sequence[Panel]) -> str:
    """Panels side by side, with a legend below."""
    names = list(dict.fromkeys(series.name for panel in panels for series in panel.series))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    width = max(len(panels) * (_LEFT + _WIDTH) + _GAP, _LEFT + sum(map(_legend_width, names)))
    height = _TOP + _HEIGHT + _BOTTOM + _LEGEND_ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}">',
        _STYLE,
        tag("rect", width=width, height=height, fill="white"),
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, place * (_LEFT + _WIDTH) + _LEFT, colours)
    parts += _legend(colours, height - _LEGEND_ROW + 4)
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, left: float, colours: dict[str, str]) -> Iterator[str]:
    points = [point for series in panel.series for point in series.points]
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    across = _scale(first, last, left, left + _WIDTH - 16)
    up = _scale(0, max(y for _, y in points) * 1.05 or 1.0, _TOP + _HEIGHT, _TOP)
    yield opened(panel.title)
    yield text_at("title", left, _TOP - 24, panel.title)
    yield text_at("", left, _TOP - 8, panel.up)
    yield from _grid(left, up, max(y for _, y in points) * 1.05 or 1.0)
    for value in panel.marks or ticks(first, last):
        yield text_at("", across(value), _TOP + _HEIGHT + 16, f"{value:g}", "middle")
    yield text_at("", left + _WIDTH - 16, _TOP + _HEIGHT + 32, panel.across, "end")
    for series in panel.series:
        yield from _bars(series, across, up, colours) if series.bars else _line(series, across, up, colours)
    yield "</g>"


def _grid(left: float, up: Scale, most: float) -> Iterator[str]:
    bottom, right = _TOP + _HEIGHT, left + _WIDTH - 16
    for value in ticks(0, most):
        yield tag("path", kind="grid", d=f"M{spot((left, up(value)))} L{spot((right, up(value)))}")
        yield text_at("", left - 6, up(value) + 4, f"{value:,.6g}", "end")
    yield tag(
        "path", kind="axis", d=f"M{spot((left, _TOP))} L{spot((left, bottom))} L{spot((right, bottom))}"
    )


def _line(series: Series, across: Scale, up: Scale, colours: dict[str, str]) -> Iterator[str]:
    colour, places = colours[series.name], [(across(x), up(y)) for x, y in series.points]
    if series.line:
        yield tag("path", kind="line", d="M" + " L".join(map(spot, places)), stroke=colour)
    if series.dots:
        for x, y in places:
            yield tag("circle", cx=x, cy=y, r=3.0 if series.line else 1.8, fill=colour)


def _bars(series: Series, across: Scale, up: Scale, colours: dict[str, str]) -> Iterator[str]:
    colour = colours[series.name]
    for x, y in series.points:
        if y:
            top, height = up(y), _TOP + _HEIGHT - up(y)
            yield tag("rect", x=across(x) - 1.5, y=top, width=3.0, height=height, fill=colour)


def _legend(colours: dict[str, str], y: float) -> Iterator[str]:
    x = _LEFT
    for name, colour in colours.items():
        yield tag("rect", x=x, y=y - 9, width=10.0, height=10.0, fill=colour)
        yield text_at("", x + 15, y, name)
        x += _legend_width(name)


def _legend_width(name: str) -> float:
    return 35.0 + 7 * len(name)


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    return lambda value: start + (end - start) * (value - low) / ((high - low) or 1.0)


def ticks(least: float, most: float) -> list[float]:
    """Round values from one to another.

    >>> ticks(0, 10), ticks(0, 0.7)
    ([0.0, 2.5, 5.0, 7.5, 10.0], [0.0, 0.2, 0.4, 0.6])
    """
    rough = (most - least) / _TICKS or 1.0
    power = 10.0 ** floor(log10(rough))
    step = min((power * factor for factor in (1, 2, 2.5, 5, 10)), key=lambda size: abs(size - rough))
    first, last = ceil(least / step), floor(most / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
