"""Charts of lines as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COLOURS = ("#1f6f8b", "#588157", "#0b3c49", "#c8553d", "#e09f3e", "#6d597a", "#b56576")
WIDTH, LEFT, RIGHT, PANEL, GAP = 760, 56, 150, 170, 60
TICKS = 4
"""The approximate number of steps along an axis, of a round size."""


@dataclass(frozen=True)
class Line:
    """Points of one thing."""

    name: str
    points: tuple[tuple[float, float], ...]
    dashed: bool = False


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
        colour = COLOURS[index % len(COLOURS)]
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
        dash = ' stroke-dasharray="6 3"' if line.dashed else ""
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'
        yield _text(right + 10, top + 10 + 16 * index, line.name, "start", colour)


def _ticks(least: float, most: float) -> list[float]:
    """Round values from one to another: steps of 1, 2, 2.5 or 5 times a power of ten."""
    rough = (most - least) / TICKS or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * factor for factor in (1, 2, 2.5, 5, 10)), key=lambda size: abs(size - rough))
    return [number * step for number in range(math.ceil(least / step), math.floor(most / step + 1e-9) + 1)]


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="12" text-anchor="{anchor}" fill="{colour}">{text}</text>'
