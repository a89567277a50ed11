"""Progress: the marks that inputs make of their tuples, and what boxes make of marks.

In: batches, local times, marks. Out: the marks of every stream of a network. Nothing here depends on the
state of a box, so the marks of an arc follow from those of the inputs alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Passings
from australis.algebra.counters import BEFORE
from australis.algebra.network import Network, Ref
from australis.algebra.progress import BoundProgress, MarkFunction, Passing, Same, Shift, Starts, Through
from australis.algebra.quarantine_text import ORDER_LIMIT
from australis.algebra.schema import Schema
from australis.algebra.types import DataType
from australis.kernels.arrays import Indexes, Mask, Numbers, array_of, column, numbers, rows_of
from australis.kernels.expressions import evaluate, nulls
from australis.kernels.kernel import causes_of
from australis.kernels.marks import InputMark, Marks, least, raised, rising
from australis.kernels.windows import local_clock

StreamMarks = Mapping[str, Marks]
"""The marks of a stream, by attribute."""


def risen(bound: BoundProgress, batch: pa.Table) -> tuple[Indexes, Numbers]:
    """The rows of a batch with which its own marks rise, and these marks."""
    array = column(batch, bound.read)
    values, missing = numbers(array), nulls(array)
    within = (values > -ORDER_LIMIT) & (values < ORDER_LIMIT)
    if missing is not None:
        within &= ~missing
    rows = np.flatnonzero(within)
    found = rising(None, rows, values[rows] - bound.slack)
    return found.causes, found.values


def mark_of(value: pa.Array) -> int | float:
    """The only value of an array of an attribute's type as a mark."""
    if value.null_count:
        raise ValueError("it is NULL")
    found: int | float = numbers(value)[0].item()
    if not -ORDER_LIMIT < found < ORDER_LIMIT:
        raise ValueError("it has no place in an order")
    return found


def risen_of(
    bound: BoundProgress, tables: Iterable[pa.Table], schema: Schema
) -> tuple[Indexes, Numbers] | None:
    """The rows of tables with which their own marks rise, and these marks; None if their input admits no row.

    The tables are parts of one; rows are numbered through all of them.
    """
    causes, values, first, admitted = [np.empty(0, np.int64)], [], 0, 0
    for table in tables:
        rows = _admitted(table, schema)
        raising, marks = _risen_rows(bound, table, rows, schema)
        causes.append(first + raising)
        values.append(marks)
        first, admitted = first + table.num_rows, admitted + len(rows)
    if not admitted:
        return None
    dtype = np.float64 if bound.order_type.name == "double" else np.int64
    found = rising(None, np.concatenate(causes), np.concatenate([np.empty(0, dtype), *values]))
    return found.causes, found.values


def _admitted(table: pa.Table, schema: Schema) -> Indexes:
    """The rows that have no NULL where none is allowed."""
    rows = np.arange(table.num_rows)
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            missing = nulls(column(table, field.name))
            assert missing is not None, "a column with NULLs"
            rows = rows[~missing[rows]]
    return rows


def _risen_rows(
    bound: BoundProgress, table: pa.Table, rows: Indexes, schema: Schema
) -> tuple[Indexes, Numbers]:
    """Of some rows of a table those with which its own marks rise, and these marks."""
    kept = table if len(rows) == table.num_rows else rows_of(table, rows)
    target = pa.schema([schema.arrow.field(name) for name in kept.column_names])
    found, marks = risen(bound, kept.cast(target))
    return rows[found], marks


class InputProgress:
    """The marks of a running network's inputs, from one event to the next."""

    def __init__(self, network: Network) -> None:
        self._bound = {
            name: given.progress.bind(given.schema)
            for name, given in network.inputs.items()
            if given.progress is not None
        }
        self.known = {name: InputMark() for name in self._bound}

    def event(
        self,
        now: int,
        arrivals: Mapping[str, pa.Table] | None = None,
        promises: Mapping[str, int | float] | None = None,
    ) -> dict[str, StreamMarks]:
        """The marks of an event; the batches, if any, have causes."""
        found: dict[str, StreamMarks] = {}
        for name, bound in self._bound.items():
            batch = (arrivals or {}).get(name)
            came = None if batch is None or not batch.num_rows else caused_rises(bound, batch)
            marks, self.known[name] = raised(
                bound, self.known[name], now, BEFORE, arrivals=came, promise=(promises or {}).get(name)
            )
            found[name] = {bound.on: marks}
        return found

    def table(self) -> pa.Table:
        """What the inputs have promised so far, as `restore` takes it."""
        rows = [
            {"input": name, "whole": None, "double": None, "quiet_since": each.quiet_since}
            | ({} if each.mark is None else {_number_of(each.mark): each.mark})
            for name, each in self.known.items()
        ]
        return pa.Table.from_pylist(rows, _KNOWN)

    def restore(self, table: pa.Table) -> None:
        """Continue from a table that `table` made."""
        for row in table.to_pylist():
            mark = row["double"] if row["whole"] is None else row["whole"]
            self.known[row["input"]] = InputMark(mark, row["quiet_since"])

    def start(self) -> None:
        """Begin again, after the end of the streams."""
        self.known = {name: InputMark() for name in self._bound}


_KNOWN = pa.schema(
    [("input", pa.string()), ("whole", pa.int64()), ("double", pa.float64()), ("quiet_since", pa.int64())]
)


def _number_of(mark: int | float) -> str:
    """The column of a mark."""
    return "double" if isinstance(mark, float) else "whole"


def caused_rises(bound: BoundProgress, batch: pa.Table) -> tuple[Indexes, Numbers]:
    """The causes with which a batch's own marks rise, and these marks."""
    rows, marks = risen(bound, batch)
    return causes_of(batch)[rows], marks


def passed_marks(
    passings: Passings, marks: Mapping[tuple[int, str], Marks], timezone: str
) -> dict[str, Marks]:
    """The marks of an output port by attribute, from those at the input ports."""
    return {
        name: least([_made(each, marks[each.port, each.attribute], timezone) for each in sources])
        for name, sources in passings.items()
        if all((each.port, each.attribute) in marks for each in sources)
    }


def network_marks(network: Network, inputs: Mapping[str, StreamMarks]) -> dict[Ref, StreamMarks]:
    """The marks of every stream of a network, from those of its inputs."""
    found: dict[Ref, StreamMarks] = {Ref(name): marks for name, marks in inputs.items()}
    for box_id in network.order:
        found |= box_marks(network, box_id, found)
    return found


def box_marks(network: Network, box_id: str, streams: Mapping[Ref, StreamMarks]) -> dict[Ref, StreamMarks]:
    """The marks of a box's outputs, from those of the streams that it reads."""
    node = network.boxes[box_id]
    marks = {
        (port, name): each
        for port, source in enumerate(node.sources)
        for name, each in streams.get(source, {}).items()
    }
    if not marks:
        return {}
    passings = node.box.passings(*network.input_schemas(box_id))
    return {
        Ref(box_id, port): made
        for port, each in enumerate(passings)
        if (made := passed_marks(each, marks, network.timezone))
    }


def _made(passing: Passing, marks: Marks, timezone: str) -> Marks:
    """What the marks of an attribute become."""
    if isinstance(passing.by, Same):
        return marks
    before = None
    if marks.before is not None:
        stood, known = _applied(passing.by, np.array([marks.before], marks.values.dtype), timezone)
        before = stood[0].item() if known[0] else None
    values, known = _applied(passing.by, marks.values, timezone)
    return rising(before, marks.causes[known], values[known])


def _applied(by: MarkFunction, values: Numbers, timezone: str) -> tuple[Numbers, Mask]:
    """The values of a mark function, and which of them there are."""
    everywhere = np.ones(len(values), np.bool_)
    match by:
        case Shift(delta):
            moved = values + delta
            return (np.nextafter(moved, -np.inf) if moved.dtype == np.float64 else moved), everywhere
        case Starts():
            return _least_starts(by, values, timezone), everywhere
        case Through():
            return _through(by, values, timezone)
    return values, everywhere


def _least_starts(by: Starts, marks: Numbers, timezone: str) -> Numbers:
    """The least start of a window that ends after each mark."""
    clock = local_clock(timezone, int(by.advance)) if by.local else None
    if clock is not None:
        marks = clock.readings(marks)
    starts: Numbers = ((marks - by.origin - by.size) // by.advance + 1) * by.advance + by.origin
    return starts if clock is None else clock.instants(starts)


def _through(by: Through, values: Numbers, timezone: str) -> tuple[Numbers, Mask]:
    fits = _values_of(by.source, values)
    batch = pa.table({by.attribute: array_of(np.where(fits, values, 0), by.source.arrow)})
    made = evaluate(by.expr, batch, timezone)
    found, missing = numbers(made), nulls(made)
    known = fits & (found > -ORDER_LIMIT) & (found < ORDER_LIMIT)
    return found, known if missing is None else known & ~missing


def _values_of(source: DataType, values: Numbers) -> Mask:
    """Which numbers are values of a type."""
    fits: Mask = (values > -ORDER_LIMIT) & (values < ORDER_LIMIT)
    if source.name == "int":
        fits &= (values >= -(2**31)) & (values < 2**31)
    if source.is_decimal:
        fits &= np.abs(values) < 10**source.precision
    return fits
