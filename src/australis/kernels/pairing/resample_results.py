"""The results of a Resample's windows: the group, the left order value, and the functions over the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowFunctions
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.kernels.arrays import (
    Indexes,
    Numbers,
    column,
    first_beyond,
    lower_to_least,
    members,
    numbers,
    rows_of,
    stacked,
)
from australis.kernels.expressions import arrow
from australis.kernels.functions import apply, computed
from australis.kernels.kernel import CAUSE, empty_output
from australis.kernels.pairing.interpolation import INTERPOLATIONS, Points, interpolate
from australis.kernels.pairing.resample_windows import Windows

MEMBERS_MOST = 1 << 20
"""How many tuples of windows are accumulated at once, which bounds memory."""


@dataclass(frozen=True)
class Lefts:
    """Left tuples by order value, then by arrival."""

    table: pa.Table
    """The order attribute, those that are kept, and TS."""
    values: Numbers


@dataclass(frozen=True)
class Rights:
    """Right tuples, and their layout by group, then by order value, then by arrival."""

    table: pa.Table
    """The arguments of the functions and TS."""
    keys: pa.Table
    """The attributes grouped by, for each group."""
    starts: Indexes
    """Where each group starts."""
    rows: Indexes
    """The row at each place."""
    values: Numbers
    """The order value at each place."""


def argument_name(call: int, argument: int) -> str:
    """The column with an argument of a function, each given by its number."""
    return f"{call}.{argument}"


class ResampleResults:
    """Makes the output tuples of windows."""

    def __init__(
        self,
        functions: WindowFunctions,
        kept: Sequence[str],
        output: Schema,
        timezone: str,
        *,
        extrapolate: bool,
    ) -> None:
        self._functions, self._calls, self._timezone = functions, functions.calls, timezone
        self._interpolates = any(call.function in INTERPOLATIONS for call in self._calls)
        self._extrapolate = extrapolate
        self._kept = kept
        self._output = empty_output(output).schema

    def table(self, found: Windows, causes: Indexes, lefts: Lefts, rights: Rights) -> pa.Table:
        """The output tuples of some windows, in their order."""
        parts = [self._part(part, lefts, rights) for part in _parts(found)]
        schema = self._output.remove(self._output.get_field_index(CAUSE))
        table = stacked(parts) if parts else schema.empty_table()
        return table.append_column(self._output.field(CAUSE), pa.array(causes))

    def _part(self, found: Windows, lefts: Lefts, rights: Rights) -> pa.Table:
        ends = np.cumsum(found.highs - found.lows)
        slots, places = members(found.lows, ends, 0, int(ends[-1]))
        rows = rights.rows[places]
        points = _points(found, lefts, rights) if self._interpolates else None
        results = [
            apply(call, args, slots, rows, len(found.lefts))
            if points is None or call.function not in INTERPOLATIONS
            else interpolate(call, args[0], points, extrapolate=self._extrapolate)
            for call, args in zip(self._calls, self._arguments(rights), strict=True)
        ]
        values = computed(self._functions, results, self._timezone)
        ts = numbers(column(lefts.table, TS))[found.lefts]
        lower_to_least(ts, slots, rows, numbers(column(rights.table, TS)))
        groups = rows_of(rights.keys, found.groups).columns
        rows = pa.array(found.lefts)
        kept = [column(lefts.table, name).take(rows) for name in self._kept]
        schema = self._output.remove(self._output.get_field_index(CAUSE))
        return pa.Table.from_arrays([*groups, *kept, *values, arrow(ts, TIMESTAMP.arrow)], schema=schema)

    def _arguments(self, rights: Rights) -> list[list[pa.Array]]:
        return [
            [column(rights.table, argument_name(number, at)) for at in range(len(call.inputs))]
            for number, call in enumerate(self._calls)
        ]


def _parts(found: Windows) -> Iterator[Windows]:
    """The windows in parts of at most MEMBERS_MOST tuples, but at least one window."""
    ends = np.cumsum(found.highs - found.lows)
    begin, before = 0, 0
    while begin < len(ends):
        end = max(int(np.searchsorted(ends, before + MEMBERS_MOST, side="right")), begin + 1)
        yield found.take(slice(begin, end))
        begin, before = end, int(ends[end - 1])


def _points(found: Windows, lefts: Lefts, rights: Rights) -> Points:
    positions = lefts.values[found.lefts]
    splits = first_beyond(found.groups, positions, rights.starts, rights.values, rights.values.dtype.type(0))
    return Points(rights.rows, rights.values, found.lows, found.highs, splits, positions)
