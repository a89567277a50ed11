"""Charts of lines as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
"""Colours that the colour-blind can tell apart; lines differ by their marks, too."""
MARKS = "osdtv"
"""Circle, square, diamond, and triangles that point up and down."""
MARKED_MOST = 12
"""Lines with more points have no marks."""
WIDTH, LEFT, RIGHT, PANEL, GAP = 760, 56, 190, 190, 60
TICKS = 4
"""The approximate number of steps along an axis, of a round size."""


@dataclass(frozen=True)
class Line:
    """Points of one thing."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    colour: str | None = None
    """None: the next one of those that can be told apart."""
    range: tuple[tuple[float, float, float], ...] = ()
    """The least and the greatest value at some positions."""


@dataclass(frozen=True)
class Panel:
    """Lines over one axis; `marks` are ranges along it, from and to, that are shaded."""

    title: str
    lines: tuple[Line, ...]
    most: float | None = None
    marks: tuple[tuple[float, float], ...] = ()


def chart(panels: Sequence[Panel], unit: str) -> str:
    """Panels one below the other, over the same axis."""
    xs = [x for panel in panels for line in panel.lines for x, _ in line.points]
    height = GAP * len(panels) + PANEL * len(panels) + 20
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">'
    parts = [head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for number, panel in enumerate(panels):
        parts += _panel(panel, 34 + number * (PANEL + GAP), min(xs), max(xs), unit)
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, top: float, least_x: float, most_x: float, unit: str) -> Iterator[str]:
    highest = max((y for line in panel.lines for _, y in line.points), default=1.0)
    most = panel.most or highest * 1.05 or 1.0
    right, bottom = WIDTH - RIGHT, top + PANEL

    def x(value: float) -> float:
        return LEFT + (right - LEFT) * (value - least_x) / ((most_x - least_x) or 1.0)

    def y(value: float) -> float:
        return bottom - PANEL * min(value / most, 1.0)

    yield _text(LEFT, top - 12, panel.title, "start")
    for begin, end in panel.marks:
        place = f'x="{x(begin):.1f}" y="{top:.1f}" width="{x(end) - x(begin):.1f}" height="{PANEL}"'
        yield f'<rect {place} fill="#f4ead5"/>'
    for value in _ticks(0, most):
        yield f'<path d="M{LEFT} {y(value):.1f}H{right}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y(value) + 4, f"{value:.6g}", "end")
    for along in _ticks(least_x, most_x):
        yield _text(x(along), bottom + 16, f"{along:.6g} {unit}", "middle")
    for index, line in enumerate(panel.lines):
        colour = line.colour or COLOURS[index % len(COLOURS)]
        for along, least, greatest in line.range:
            across = f"M{x(along):.1f} {y(least):.1f}V{y(greatest):.1f}"
            yield f'<path d="{across}" stroke="{colour}" opacity="0.5"/>'
        places = [(x(a), y(b)) for a, b in line.points]
        beside = top + 6 + 17 * index
        yield _path(places, colour, line.dashed)
        yield _path([(right + 10, beside), (right + 42, beside)], colour, line.dashed)
        if len(places) <= MARKED_MOST:
            for place in (*places, (right + 26, beside)):
                yield f'<path d="{_mark(MARKS[index % len(MARKS)], *place)}" fill="{colour}"/>'
        yield _text(right + 48, beside + 4, line.name, "start")


def _path(places: Sequence[tuple[float, float]], colour: str, dashed: bool) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = ' stroke-dasharray="6 3"' if dashed else ""
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'


def _mark(kind: str, x: float, y: float) -> str:
    """The outline of a mark."""
    if kind == "o":
        return f"M{x - 3.5:.1f} {y:.1f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z"
    corners = {
        "s": ((-3, -3), (3, -3), (3, 3), (-3, 3)),
        "d": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
        "t": ((0, -4), (4, 3), (-4, 3)),
        "v": ((0, 4), (4, -3), (-4, -3)),
    }[kind]
    return "M" + "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + "z"


def _ticks(least: float, most: float) -> list[float]:
    """Round values from one to another: steps of 1, 2, 2.5 or 5 times a power of ten."""
    rough = (most - least) / TICKS or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * factor for factor in (1, 2, 2.5, 5, 10)), key=lambda size: abs(size - rough))
    return [number * step for number in range(math.ceil(least / step), math.floor(most / step + 1e-9) + 1)]


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="12" text-anchor="{anchor}" fill="{colour}">{text}</text>'
