"""The charts of an output as SVG, on a light background beside the output's end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from australis.algebra.quality import Points
from australis.app.pictures.charts import BARS_MAX, CHART_GAP, CHART_HEIGHT, CHART_WIDTH, Chart
from australis.app.pictures.coordinates import Point
from australis.app.pictures.marks import opened, spot, tag, text_at
from australis.app.pictures.shapes import ELLIPSIS, LABEL_SIZE, elided

_LEFT, _RIGHT, _TOP, _BOTTOM = 18.0, 10.0, 24.0, 18.0
_WIDTH, _HEIGHT = CHART_WIDTH - _LEFT - _RIGHT, CHART_HEIGHT - _TOP - _BOTTOM
_ROW, _NAME_WIDTH = 12.0, 52.0
_TITLE_CHARACTERS, _NAME_CHARACTERS = 20, 8
CHART_STYLE = f"""<style>
.chart {{ fill: #ffffff; stroke: #d0d7de; }}
.chart-title {{ font-size: {LABEL_SIZE}px; font-weight: 600; fill: #57606a; }}
.tick {{ font-size: {LABEL_SIZE}px; fill: #57606a; }}
.axis {{ fill: none; stroke: #7d8590; }}
.curve {{ fill: none; stroke: #c2560c; stroke-width: 2; stroke-linejoin: round; }}
.area, .bar {{ fill: #c2560c; fill-opacity: 0.18; }}
.good {{ stroke: #2f855a; stroke-width: 1.5; stroke-dasharray: 3 2; }}
</style>"""


def drawn_charts(charts: Sequence[Chart], corner: Point) -> Iterator[str]:
    """Charts side by side, from their upper left corner."""
    for number, chart in enumerate(charts):
        x, y = corner[0] + CHART_GAP + number * (CHART_WIDTH + CHART_GAP), corner[1]
        yield opened(chart.tooltip)
        yield tag("rect", kind="chart", x=x, y=y, width=CHART_WIDTH, height=CHART_HEIGHT, rx=5.0)
        yield text_at("chart-title", x + 8, y + 14, elided(chart.title, _TITLE_CHARACTERS))
        yield from _bars(chart, (x, y)) if chart.bars else _plot(chart, (x + _LEFT, y + _TOP))
        yield "</g>"


def _plot(chart: Chart, corner: Point) -> Iterator[str]:
    """A curve with its axes; `corner` is where the highest utility meets the vertical axis."""
    x, y = corner
    bottom = y + _HEIGHT
    curve = _placed(chart.curve, corner)
    way = " L".join(map(spot, curve))
    yield tag("path", kind="area", d=f"M{spot((x, bottom))} L{way} L{spot((x + _WIDTH, bottom))} z")
    if chart.good is not None:
        middle = x + chart.good * _WIDTH
        yield tag("path", kind="good", d=f"M{spot((middle, y - 4))} L{spot((middle, bottom))}")
    yield tag(
        "path", kind="axis", d=f"M{spot((x, y - 4))} L{spot((x, bottom))} L{spot((x + _WIDTH, bottom))}"
    )
    yield tag("path", kind="curve", d=f"M{way}")
    yield text_at("tick", x - 4, y + 3, "1", "end")
    yield text_at("tick", x - 4, bottom + 3, "0", "end")
    for place, text in chart.ticks:
        yield text_at("tick", x + place * _WIDTH, bottom + 12, text, "middle")


def _placed(curve: Points, corner: Point) -> list[Point]:
    x, y = corner
    return [(x + place * _WIDTH, y + (1 - worth) * _HEIGHT) for place, worth in curve]


def _bars(chart: Chart, corner: Point) -> Iterator[str]:
    """A bar for each category, the most useful first; if there are many, the rest are summarised."""
    x, y = corner[0] + 8, corner[1] + 19
    shown = chart.bars if len(chart.bars) <= BARS_MAX else chart.bars[: BARS_MAX - 1]
    width = CHART_WIDTH - _NAME_WIDTH - 38
    for number, (name, worth) in enumerate(shown):
        top = y + number * _ROW
        yield text_at("tick", x, top + 10, elided(name, _NAME_CHARACTERS))
        left = x + _NAME_WIDTH
        yield tag("rect", kind="bar", x=left, y=top + 2, width=worth * width, height=_ROW - 3)
        yield tag("path", kind="axis", d=f"M{spot((left, top + 1))} L{spot((left, top + _ROW))}")
        yield text_at("tick", left + worth * width + 3, top + 10, f"{worth:g}")
    if len(shown) < len(chart.bars):
        yield text_at(
            "tick", x, y + len(shown) * _ROW + 10, f"{ELLIPSIS} {len(chart.bars) - len(shown)} more"
        )
