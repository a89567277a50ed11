"""Layered drawing, second half: the exact position of each item, and the path of each arc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from australis.app.pictures.layers import Columns, Edge, Item, arrange

GAP_BETWEEN_ITEMS = 24.0
GAP_AT_BENDS = 14.0
CURVE_WIDTH = 54.0
"""The width between columns in which arcs change their height."""
_PASSES = (*("left", "right") * 7, "left and right", "left ends", "right ends")
"""The side whose neighbours pull the items of a column, by pass; in the last one only the ends move."""
_STAYING = 1000
_BEND_WEIGHT = 3.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Drawing:
    """Where everything is: the upper left corner of each item, and the corners of each arc's path.

    Between an odd corner and the next the path is a straight line to the right, otherwise a curve.
    """

    corners: Mapping[str, Point]
    ways: Mapping[Edge, tuple[Point, ...]]
    width: float
    height: float


def draw(
    items: Sequence[Item], arcs: Sequence[Edge], label_widths: Mapping[tuple[str, int], float]
) -> Drawing:
    """Place items and arcs; `label_widths` gives the straight length that an outlet needs for its label."""
    columns = arrange(items, arcs)
    lefts, rights, width = _across(columns, label_widths)
    tops = _down(columns)
    lowest = min(tops.values(), default=0.0)
    tops = {item: top - lowest for item, top in tops.items()}
    corners = {item: (lefts[item], tops[item]) for item in tops}
    ways = {arc: _way(columns, arc, corners, rights, label_widths) for arc in arcs}
    height = max((tops[item] + columns.items[item].height for item in tops), default=0.0)
    return Drawing({item.id: corners[item.id] for item in items}, ways, width, height)


def _across(
    columns: Columns, label_widths: Mapping[tuple[str, int], float]
) -> tuple[dict[str, float], dict[str, float], float]:
    """The left border of each item, and the right border of each column including its labels."""
    lefts: dict[str, float] = {}
    rights: dict[str, float] = {}
    x = 0.0
    for number, column in enumerate(columns.columns):
        width = max((columns.items[item].width for item in column), default=0.0)
        labels = max((w for (item, _), w in label_widths.items() if item in column), default=0.0)
        for item in column:
            lefts[item], rights[item] = x, x + width
        x += width + (labels + CURVE_WIDTH if number < len(columns.columns) - 1 else 0.0)
    return lefts, rights, x


def _down(columns: Columns) -> dict[str, float]:
    """The top of each item: stacked first, then pulled towards straight arcs, back and forth."""
    tops: dict[str, float] = {}
    for column in columns.columns:
        y = 0.0
        for item in column:
            tops[item] = y
            y += columns.items[item].height + GAP_BETWEEN_ITEMS
    for sides in _PASSES:
        for column in columns.columns if "left" in sides else reversed(columns.columns):
            _settle(columns, column, tops, sides)
    return tops


def _settle(columns: Columns, column: list[str], tops: dict[str, float], sides: str) -> None:
    wishes, weights = [], []
    for item in column:
        wanted = _wanted(columns, item, tops, "left" in sides, "right" in sides)
        is_end = len(wanted) == len(_wanted(columns, item, tops, True, True))
        if "ends" in sides and not is_end:
            wanted = [tops[item]] * _STAYING
        wishes.append(sum(wanted) / len(wanted) if wanted else tops[item])
        is_bend = columns.items[item].width == 0
        weights.append((_BEND_WEIGHT if is_bend else 1.0) * len(wanted) if wanted else 0.1)
    steps = [_step(columns.items[a], columns.items[b]) for a, b in pairwise(column)]
    for item, top in zip(column, separated(wishes, weights, steps), strict=True):
        tops[item] = top


def _wanted(columns: Columns, item: str, tops: Mapping[str, float], left: bool, right: bool) -> list[float]:
    """The tops at which each of an item's arcs would be straight."""
    me = columns.items[item]
    found = []
    for hop in columns.hops:
        source, target = columns.items[hop.source], columns.items[hop.target]
        if left and hop.target == item:
            found.append(tops[hop.source] + source.outlets[hop.outlet] - me.inlets[hop.inlet])
        if right and hop.source == item:
            found.append(tops[hop.target] + target.inlets[hop.inlet] - me.outlets[hop.outlet])
    return found


def _step(upper: Item, lower: Item) -> float:
    bend = upper.width == 0 or lower.width == 0
    return upper.height + (GAP_AT_BENDS if bend else GAP_BETWEEN_ITEMS)


def separated(wishes: Sequence[float], weights: Sequence[float], steps: Sequence[float]) -> list[float]:
    """The positions nearest to the wanted ones (least squares) that are at least `steps` apart, in order.

    Pooling adjacent violators: an item that would be too close to the one above forms a block with it.

    >>> separated([0.0, 0.0, 50.0], [1.0, 1.0, 1.0], [10.0, 10.0])
    [-5.0, 5.0, 50.0]
    """
    offsets = [0.0]
    for step in steps:
        offsets.append(offsets[-1] + step)
    blocks: list[tuple[float, float, int]] = []
    for wish, weight, offset in zip(wishes, weights, offsets, strict=False):
        mean, total, count = wish - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            above, heavier, more = blocks.pop()
            mean, total, count = (
                (above * heavier + mean * total) / (heavier + total),
                heavier + total,
                more + count,
            )
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=False)]


def _way(
    columns: Columns,
    arc: Edge,
    corners: Mapping[str, Point],
    rights: Mapping[str, float],
    label_widths: Mapping[tuple[str, int], float],
) -> tuple[Point, ...]:
    """Straight out of the item and past the labels, a curve to each next column, straight through it."""
    source, target = columns.items[arc.source], columns.items[arc.target]
    x, y = corners[arc.source][0] + source.width, corners[arc.source][1] + source.outlets[arc.outlet]
    points = [(x, y), (_curve_start(columns, arc.source, rights, label_widths), y)]
    for bend in columns.chains[arc]:
        left, height = corners[bend]
        points += [(left, height), (_curve_start(columns, bend, rights, label_widths), height)]
    left, top = corners[arc.target]
    return (*points, (left, top + target.inlets[arc.inlet]))


def _curve_start(
    columns: Columns, item: str, rights: Mapping[str, float], label_widths: Mapping[tuple[str, int], float]
) -> float:
    column = next(column for column in columns.columns if item in column)
    labels = max((width for (labelled, _), width in label_widths.items() if labelled in column), default=0.0)
    return rights[item] + labels
