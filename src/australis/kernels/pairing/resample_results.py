"""The results of a Resample's windows: the group, the left order value, and the functions over the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.algebra.expr import WindowCall, WindowFunctions
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.kernels.arrays import (
    Indexes,
    Numbers,
    column,
    members,
    numbers,
    rows_of,
    stacked,
)
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow
from australis.kernels.functions import apply, computed
from australis.kernels.kernel import CAUSE, empty_output
from australis.kernels.pairing.interpolation import INTERPOLATIONS, Points, interpolate
from australis.kernels.pairing.resample_windows import Windows

NO_ROWS = np.empty(0, np.int64)
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
        self._accumulates = any(
            call.function not in INTERPOLATIONS and not is_length(call) for call in self._calls
        )
        self._extrapolate = extrapolate
        self._kept = kept
        self._output = empty_output(output).schema

    def table(self, found: Windows, causes: Indexes, lefts: Lefts, rights: Rights) -> pa.Table:
        """The output tuples of some windows, in their order."""
        parts = [self._part(part, lefts, rights) for part in self._parts(found)]
        schema = self._output.remove(self._output.get_field_index(CAUSE))
        table = stacked(parts) if parts else schema.empty_table()
        return table.append_column(self._output.field(CAUSE), pa.array(causes))

    def _parts(self, found: Windows) -> Iterator[Windows]:
        """The windows in parts whose tuples are accumulated at once."""
        if not len(found.lefts):
            return iter(())
        return _parts(found) if self._accumulates else iter([found])

    def _part(self, found: Windows, lefts: Lefts, rights: Rights) -> pa.Table:
        positions = lefts.values[found.lefts]
        ts, right_ts = numbers(column(lefts.table, TS))[found.lefts], numbers(column(rights.table, TS))
        splits = split(found.lows, found.highs, positions, rights.values, rights.rows, right_ts, ts)
        points = Points(rights.rows, rights.values, found.lows, found.highs, splits, positions)
        values = computed(self._functions, self._results(found, points, rights), self._timezone)
        groups = rows_of(rights.keys, found.groups).columns
        rows = pa.array(found.lefts)
        kept = [column(lefts.table, name).take(rows) for name in self._kept]
        schema = self._output.remove(self._output.get_field_index(CAUSE))
        return pa.Table.from_arrays([*groups, *kept, *values, arrow(ts, TIMESTAMP.arrow)], schema=schema)

    def _results(self, found: Windows, points: Points, rights: Rights) -> list[pa.Array]:
        """The results of the calls over some windows."""
        slots = rows = NO_ROWS
        if self._accumulates:
            ends = np.cumsum(found.highs - found.lows)
            slots, places = members(found.lows, ends, 0, int(ends[-1]))
            rows = rights.rows[places]
        results = []
        for call, args in zip(self._calls, self._arguments(rights), strict=True):
            if call.function in INTERPOLATIONS:
                results.append(interpolate(call, args[0], points, extrapolate=self._extrapolate))
            elif is_length(call):
                results.append(pa.array(found.highs - found.lows))
            else:
                results.append(apply(call, args, slots, rows, len(found.lefts)))
        return results

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


def is_length(call: WindowCall) -> bool:
    """Whether a call counts all tuples of a window."""
    return call.function == "count" and not call.inputs


@njit(nogil=True)
def split(lows: Any, highs: Any, positions: Any, laid_out: Any, rows: Any, right_ts: Any, oldest: Any) -> Any:
    """The first place of each window that is after its position; lowers `oldest` to the ts in the window."""
    splits = np.empty(len(lows), np.int64)
    for window in range(len(lows)):
        position, least, before = positions[window], oldest[window], 0
        for place in range(lows[window], highs[window]):
            least = min(least, right_ts[np.uint64(rows[np.uint64(place)])])
            before += laid_out[np.uint64(place)] <= position
        splits[window], oldest[window] = lows[window] + before, least
    return splits
