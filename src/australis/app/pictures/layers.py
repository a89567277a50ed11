"""Layered drawing, first half: the column of each item, and the order from top to bottom.

Items in columns, arcs from left to right, with as few crossings as a few sweeps find (Sugiyama's method). It
is deterministic: ties keep the order in which the items were given.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_SWEEPS = 12


@dataclass(frozen=True)
class Item:
    """A rectangle with places for arcs: inlets on the left, outlets on the right, from its top down."""

    id: str
    width: float = 0.0
    height: float = 0.0
    inlets: tuple[float, ...] = (0.0,)
    outlets: tuple[float, ...] = (0.0,)
    pin: str = ""
    """`first` or `last` for an item that belongs in the first or last column."""


@dataclass(frozen=True)
class Edge:
    """An arc from an outlet of one item to an inlet of another."""

    source: str
    outlet: int
    target: str
    inlet: int


@dataclass
class Columns:
    """Items, with a bend in each column that an arc only passes through, and the arcs cut at these bends."""

    items: dict[str, Item]
    columns: list[list[str]]
    hops: list[Edge]
    """All arcs from one column to the next."""
    chains: dict[Edge, list[str]] = field(default_factory=dict)
    """For each arc the bends that it passes, from left to right."""


def has_loop(ids: Sequence[str], arcs: Sequence[Edge]) -> bool:
    """Whether the arcs form a loop."""
    return len(_ranks(ids, arcs)) < len(ids)


def arrange(items: Sequence[Item], arcs: Sequence[Edge]) -> Columns:
    """Put items into columns and order each column."""
    ranks = _columns_of(items, arcs)
    columns = _with_bends(items, arcs, ranks)
    return _untangled(columns)


def _ranks(ids: Sequence[str], arcs: Sequence[Edge]) -> dict[str, int]:
    """The longest path to each item; items in or after a loop have none."""
    waiting = {item: sum(arc.target == item for arc in arcs) for item in ids}
    ranks = {item: 0 for item, count in waiting.items() if count == 0}
    ready = list(ranks)
    while ready:
        item = ready.pop(0)
        for arc in (arc for arc in arcs if arc.source == item):
            next_rank = max(ranks.get(arc.target, 0), ranks[item] + 1)
            waiting[arc.target] -= 1
            ranks[arc.target] = next_rank
            if waiting[arc.target] == 0:
                ready.append(arc.target)
    return {item: rank for item, rank in ranks.items() if waiting[item] == 0}


def _columns_of(items: Sequence[Item], arcs: Sequence[Edge]) -> dict[str, int]:
    ranks = _ranks([item.id for item in items], arcs)
    for item in items:  # a source is placed just before its reader, so that its arcs are short
        readers = [ranks[arc.target] for arc in arcs if arc.source == item.id]
        if readers and not any(arc.target == item.id for arc in arcs) and not item.pin:
            ranks[item.id] = min(readers) - 1
    last = max(ranks.values(), default=0)
    last += any(item.pin != "last" and ranks[item.id] == last for item in items)
    has_last = any(item.pin == "last" for item in items)
    return {item.id: last if item.pin == "last" and has_last else ranks[item.id] for item in items}


def _with_bends(items: Sequence[Item], arcs: Sequence[Edge], ranks: Mapping[str, int]) -> Columns:
    count = max(ranks.values(), default=-1) + 1
    found = Columns({item.id: item for item in items}, [[] for _ in range(count)], [])
    for item in items:
        found.columns[ranks[item.id]].append(item.id)
    for number, arc in enumerate(arcs):
        bends = [Item(f"bend {number} {rank}") for rank in range(ranks[arc.source] + 1, ranks[arc.target])]
        for rank, bend in enumerate(bends, ranks[arc.source] + 1):
            found.items[bend.id] = bend
            found.columns[rank].append(bend.id)
        found.chains[arc] = [bend.id for bend in bends]
        stops = [(arc.source, arc.outlet), *((bend.id, 0) for bend in bends)]
        goals = [*((bend.id, 0) for bend in bends), (arc.target, arc.inlet)]
        found.hops += [Edge(*stop, *goal) for stop, goal in zip(stops, goals, strict=True)]
    return found


def _untangled(columns: Columns) -> Columns:
    """Sweep back and forth from several starts; the order with the fewest crossings wins."""
    given = [list(column) for column in columns.columns]
    best, fewest = given, crossings(columns)
    for start, forward in itertools.product((given, [column[::-1] for column in given]), (True, False)):
        columns.columns = [list(column) for column in start]
        for sweep in range(_SWEEPS):
            if not fewest:
                break
            _sweep(columns, forward == (sweep % 2 == 0))
            count = crossings(columns)
            if count < fewest:
                best, fewest = [list(column) for column in columns.columns], count
    columns.columns = best
    return columns


def _sweep(columns: Columns, forward: bool) -> None:
    """Order each column by where its arcs come from, or go to; then swap neighbours that still cross."""
    numbers = range(1, len(columns.columns)) if forward else range(len(columns.columns) - 2, -1, -1)
    for number in numbers:
        _sort_column(columns, number, forward)
    _swap_neighbours(columns)


def _sort_column(columns: Columns, number: int, forward: bool) -> None:
    neighbours = columns.columns[number - 1 if forward else number + 1]
    place = {item: index for index, item in enumerate(neighbours)}
    mine = {item: index for index, item in enumerate(columns.columns[number])}
    pulls: dict[str, list[float]] = {item: [] for item in mine}
    for hop in columns.hops:
        if forward and hop.target in mine:
            pulls[hop.target].append(
                place[hop.source] + _fraction(columns.items[hop.source].outlets, hop.outlet)
            )
        if not forward and hop.source in mine:
            pulls[hop.source].append(
                place[hop.target] + _fraction(columns.items[hop.target].inlets, hop.inlet)
            )
    means = {item: sum(found) / len(found) for item, found in pulls.items() if found}
    fixed = sorted((item for item in mine if item in means), key=lambda item: (means[item], mine[item]))
    moving = iter(fixed)
    # Items without arcs to that side keep their position; the others fill the positions between them.
    columns.columns[number] = [next(moving) if item in means else item for item in columns.columns[number]]


def _swap_neighbours(columns: Columns) -> None:
    """Swap neighbours wherever that removes a crossing."""
    for column in columns.columns:
        for index in range(len(column) - 1):
            before = crossings(columns)
            column[index], column[index + 1] = column[index + 1], column[index]
            if crossings(columns) >= before:
                column[index], column[index + 1] = column[index + 1], column[index]


def crossings(columns: Columns) -> int:
    """How often arcs cross between neighbouring columns."""
    place = {item: index for column in columns.columns for index, item in enumerate(column)}
    rank = {item: number for number, column in enumerate(columns.columns) for item in column}
    by_column: dict[int, list[tuple[float, float]]] = {}
    for hop in columns.hops:
        start = place[hop.source] + _fraction(columns.items[hop.source].outlets, hop.outlet)
        end = place[hop.target] + _fraction(columns.items[hop.target].inlets, hop.inlet)
        by_column.setdefault(rank[hop.source], []).append((start, end))
    return sum(
        (a[0] - b[0]) * (a[1] - b[1]) < 0
        for ends in by_column.values()
        for index, a in enumerate(ends)
        for b in ends[:index]
    )


def _fraction(places: tuple[float, ...], number: int) -> float:
    """Where a connection is on its side, from 0 to 1: arcs of one item can cross each other, too."""
    return (number + 1) / (len(places) + 1)
