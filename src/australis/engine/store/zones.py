"""Lookups: the requested values of one attribute, and the row groups of a file that may have them.

Values are given as positions on the axis of their type, texts as they are, so that a lookup is a plain value
that can go into a waybill. The zone of a row group comes from the Parquet statistics of the attribute;
without statistics it may contain anything.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow.parquet as pq

from australis.algebra.types import DataType, parse_type
from australis.qos.intervals import Axis

Position = int | str
"""The position of a value among those of its type: a number on its axis, or the text itself."""
Range = tuple[Position | None, Position | None]
"""From one position to another, both included; None for no end."""


@dataclass(frozen=True)
class Zone:
    """What is known of an attribute in a row group."""

    rows: int
    low: Position | None
    high: Position | None
    """The least and the greatest value; None if unknown."""
    values: bool = True
    """Whether there may be values at all."""
    null: bool = True
    nan: bool = False
    """Whether NULL, or NaN, may be among them."""


@dataclass(frozen=True)
class Lookup:
    """The requested values of an attribute.

    >>> wanted = Lookup("k", "long", ((3, 5), (9, None)))
    >>> [wanted.meets(Zone(1, low, low)) for low in (2, 4, 7, 100)]
    [False, True, False, True]
    """

    attribute: str
    type: str
    ranges: tuple[Range, ...]
    """Disjoint and ascending."""
    null: bool = False
    nan: bool = False

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Lookup:
        ranges = tuple((low, high) for low, high in given["ranges"])
        return cls(given["attribute"], given["type"], ranges, given["null"], given["nan"])

    def meets(self, zone: Zone) -> bool:
        """Whether a row group may have one of the values."""
        if (self.null and zone.null) or (self.nan and zone.nan):
            return True
        if not zone.values:
            return False
        if zone.low is None or zone.high is None:
            return True
        begun = bisect_right(self._lows, _above(zone.high))
        return begun > 0 and _reaches(self.ranges[begun - 1][1], zone.low)

    @cached_property
    def _lows(self) -> list[tuple[bool, Position]]:
        """The beginnings of the ranges, in a form that can be ordered: an open one comes first."""
        return [(False, 0) if low is None else (True, low) for low, _ in self.ranges]

    def groups(self, zones: Sequence[Zone]) -> list[int]:
        """The row groups that may have some of the values."""
        return [number for number, zone in enumerate(zones) if self.meets(zone)]

    def rows(self, zones: Sequence[Zone]) -> int:
        """How many tuples these row groups have."""
        return sum(zone.rows for zone in zones if self.meets(zone))


def _above(position: Position) -> tuple[bool, Position]:
    return (True, position)


def _reaches(high: Position | None, low: Position) -> bool:
    return high is None or high >= low  # type: ignore[operator]


def zones_of(metadata: pq.FileMetaData, attribute: str, type_: str) -> tuple[Zone, ...]:
    """The zones of an attribute in the row groups of a file, which is sorted by it if it is a double."""
    place = next((i for i in range(metadata.num_columns) if _name(metadata, i) == attribute), None)
    parsed = parse_type(type_)
    found = [_zone(metadata.row_group(i), place, parsed) for i in range(metadata.num_row_groups)]
    return tuple(_with_nan(found)) if parsed.name == "double" else tuple(found)


def _name(metadata: pq.FileMetaData, index: int) -> str:
    return str(metadata.schema.column(index).path)


def _zone(group: pq.RowGroupMetaData, place: int | None, type_: DataType) -> Zone:
    told = None if place is None else group.column(place).statistics
    if told is None:
        return Zone(group.num_rows, None, None)
    null = not told.has_null_count or told.null_count > 0
    if not told.has_min_max:
        # There are no bounds where all are NULL, where all are NaN, and where texts are too long.
        return Zone(
            group.num_rows, None, None, values=not null or told.null_count < group.num_rows, null=null
        )
    low, high = _position(told.min, told.min_raw, type_), _position(told.max, told.max_raw, type_)
    return Zone(group.num_rows, low, high, null=null)


def _position(value: Any, raw: Any, type_: DataType) -> Position:
    if type_.name == "string":
        return str(value)
    return Axis(type_).position(raw if type_.name == "timestamp" else value)


def _with_nan(found: Sequence[Zone]) -> Iterator[Zone]:
    """NaN sorts after all numbers: a row group has none if a later one has numbers."""
    last = max((number for number, zone in enumerate(found) if zone.low is not None), default=0)
    for number, zone in enumerate(found):
        yield replace(zone, nan=number >= last)
