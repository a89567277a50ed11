"""Events for one box, run by its kernel and by the reference, in a form in which the two can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from australis.algebra.boxes import Box
from australis.algebra.expr.tree import Value
from australis.algebra.schema import TS, Schema
from australis.kernels.functions.user import plain
from australis.kernels.kernel import CAUSE, REASON, Kernel, State, Step
from australis.kernels.make import kernel_for
from australis.kernels.state import pack, unpack
from australis.reference.machines import machine_of
from australis.reference.row import Item, Rejected, Tuple

LONG_AFTER = 2**60
"""Later than every timeout."""


@dataclass(frozen=True)
class Batch:
    """Tuples that arrive together, each with its ts; without any, only time passes."""

    rows: tuple[tuple[dict[str, Value], int], ...]
    now: int

    def cut(self, at: int) -> list[Batch]:
        """The same tuples in two batches of the same time."""
        return [Batch(self.rows[:at], self.now), Batch(self.rows[at:], self.now)]


@dataclass
class Seen:
    """The output of a box as texts, so that NaN equals NaN and -0.0 is not 0.0."""

    emitted: list[str]
    rejected: list[str]
    late: int = 0
    ignored: int = 0


def reference(box: Box, schema: Schema, events: Sequence[Batch], end: int, timezone: str = "UTC") -> Seen:
    """What the reference emits for events and at the end of the stream."""
    machine = machine_of(box, (schema,), timezone)
    seen = Seen([], [])
    for number, event in enumerate(events):
        _collect(seen, machine.tick(event.now), (number, -1))
        for row, (values, ts) in enumerate(event.rows):
            pushed = machine.push(0, Tuple(values, ts), event.now)
            _collect(seen, pushed, (number, row))
    _collect(seen, machine.flush(end), (len(events), -1))
    seen.late, seen.ignored = machine.late, machine.ignored
    return seen


def _collect(seen: Seen, items: list[Item], where: tuple[int, int]) -> None:
    for item in items:
        if isinstance(item, Rejected):
            seen.rejected.append(repr((sorted(item.tuple.values.items()), item.tuple.ts, item.reason)))
        else:
            seen.emitted.append(repr((where, sorted(item[1].values.items()), item[1].ts)))


def kernels(
    box: Box, schema: Schema, events: Sequence[Batch], end: int, timezone: str = "UTC"
) -> tuple[Seen, list[str]]:
    """What the kernel emits for them, and its states; each state is packed and unpacked before it is used."""
    kernel = kernel_for(box, (schema,), timezone)
    seen, states = Seen([], []), []
    state = kernel.start()
    for number, event in enumerate(events):
        state = unpack(pack(state))
        step = kernel.step(state, 0, batch_of(event, schema), event.now)
        _collect_step(seen, step, number)
        state = step.state
        states.append(text_of(state))
        check_deadline(kernel, state)
    ended = kernel.flush(unpack(pack(state)), end)
    _collect_step(seen, ended, len(events))
    assert text_of(ended.state) == text_of(kernel.start())
    return seen, states


def _collect_step(seen: Seen, step: Step, number: int) -> None:
    output = step.outputs[0]
    for values in rows_of(output):
        ts, cause = values.pop(TS), values.pop(CAUSE)
        seen.emitted.append(repr(((number, cause), sorted(values.items()), ts)))
    if step.rejected is not None:
        for values in rows_of(step.rejected.drop_columns([CAUSE])):
            ts, reason = values.pop(TS), values.pop(REASON)
            seen.rejected.append(repr((sorted(values.items()), ts, reason)))
    seen.late += step.late
    seen.ignored += step.ignored


def check_deadline(kernel: Kernel, state: State) -> None:
    """Nothing is due before the deadline of a state, and something is then."""
    due = kernel.deadline(state)
    if due is None:
        assert emitted_at(kernel, state, LONG_AFTER) == 0
    else:
        assert emitted_at(kernel, state, due - 1) == 0
        assert emitted_at(kernel, state, due) > 0


def emitted_at(kernel: Kernel, state: State, now: int) -> int:
    """How many tuples the passing of time makes a kernel emit."""
    return kernel.tick(state, now).outputs[0].num_rows  # type: ignore[no-any-return]


def batch_of(event: Batch, schema: Schema) -> pa.Table:
    """The tuples of an event as an Arrow batch."""
    columns = [pa.array([values[f.name] for values, _ in event.rows], f.type.arrow) for f in schema]
    ts = pa.array([ts for _, ts in event.rows], schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, ts], schema=schema.arrow_with_ts)


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table in plain Python."""
    columns = [_values(table.column(name).combine_chunks()) for name in table.column_names]
    return [dict(zip(table.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(array: pa.Array) -> list[Any]:
    """The values of a column; whole tuples in one may have timestamps that Python does not know."""
    if pa.types.is_struct(array.type):
        parts = {field.name: _values(array.field(field.name)) for field in array.type}
        rows = [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
        return [row if known.is_valid else None for row, known in zip(rows, array, strict=True)]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        return [_values(each.values) if each.is_valid else None for each in array]
    return plain(array)


def text_of(state: State) -> str:
    """A state as text, to compare it with another."""
    return repr({name: (table.schema.names, rows_of(table)) for name, table in state.items()})
