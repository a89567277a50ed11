"""Two streams and how they interleave, for boxes with two inputs; run by the kernel and by the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from tests.conformance.events import rows_of, text_of

from australis.algebra.boxes import Box
from australis.algebra.schema import TS, Schema, parse_schema
from australis.kernels.kernel import CAUSE, REASON, Kernel, Step
from australis.kernels.make import kernel_for
from australis.kernels.state import pack, unpack
from australis.reference.boxes.asof import AsOfMachine
from australis.reference.boxes.join import JoinMachine
from australis.reference.boxes.resample import ResampleMachine
from australis.reference.machines import machine_of
from australis.reference.row import Item, Rejected, Tuple

Event = tuple[int, list[Tuple]]
"""A port, and the tuples that arrive on it together."""

SIZES: dict[str, list[Any]] = {
    "int": [0, 1, 3, 2**31],
    "long": [0, 1, 4, 2**62],
    "decimal(9,2)": [0, 0.01, 0.03],
    "timestamp": ["0 s", "1 us", "3 us"],
    "double": [0.0, 0.1, 0.3, 1e-9, 1e300],
}
"""For each type of an order some sizes; between tenths 0.1 and 0.3 apart, roundings decide."""
ODD: dict[str, list[Any]] = {
    "int": [None, 2**31 - 1, -(2**31)],
    "long": [None, 2**62, -(2**62), 2**62 - 1, 1 - 2**62],
    "decimal(9,2)": [None, Decimal("9999999.99")],
    "timestamp": [None, 2**62, 2**62 - 1],
    "double": [None, math.nan, math.inf, 2.0**62, -0.0, -3.0, 1e-17],
}
"""Order values without a place, or far away."""


def schema_with(order_type: str) -> Schema:
    return parse_schema(f"at {order_type}, g string, h double, x double, n int")


def order_value(order_type: str, number: int) -> Any:
    """The order value that stands for a small whole number."""
    if order_type == "double":
        return number / 10
    return Decimal(number).scaleb(-2) if order_type.startswith("decimal") else number


def tuples_at(value: Any) -> st.SearchStrategy[Tuple]:
    values = st.fixed_dictionaries(
        {
            "at": st.just(value),
            "g": st.sampled_from(["a", "a", "b", None]),
            "h": st.sampled_from([0.0, -0.0, 0.0, math.nan, None]),
            "x": st.sampled_from([0.1, 0.2, -0.3, 1e16, math.nan, None]),
            "n": st.sampled_from([0, 1, -7, None]),
        }
    )
    return st.builds(Tuple, values, st.integers(0, 9))


@st.composite
def streams(draw: st.DrawFn, order_type: str, most: int = 20, oddity: int = 12) -> list[Tuple]:
    """Tuples that come nearly in order; about one of `oddity` has no place in it or is far away."""
    tuples, at = [], draw(st.integers(-3, 3))
    for _ in range(draw(st.integers(0, most))):
        at += draw(st.integers(0, 2))
        value = order_value(order_type, at - draw(st.sampled_from([0, 0, 0, 1, 2, 4, 7])))
        if oddity and draw(st.integers(1, oddity)) == oddity:
            value = draw(st.sampled_from(ODD[order_type]))
        tuples.append(draw(tuples_at(value)))
    return tuples


@st.composite
def interleavings(draw: st.DrawFn, left: list[Tuple], right: list[Tuple]) -> list[Event]:
    """Batches of two streams, in turns."""
    events: list[Event] = []
    rest = [left, right]
    while rest[0] or rest[1]:
        port = draw(st.integers(0, 1)) if rest[0] and rest[1] else int(not rest[0])
        count = draw(st.sampled_from([1, 2, 5, 20]))
        events.append((port, rest[port][:count]))
        rest[port] = rest[port][count:]
    return events


@st.composite
def histories(draw: st.DrawFn, order_type: str) -> list[Event]:
    """Two streams and how they interleave."""
    return draw(interleavings(draw(streams(order_type)), draw(streams(order_type))))


@st.composite
def recuts(draw: st.DrawFn, events: list[Event]) -> list[Event]:
    """The same tuples with each batch cut in two."""
    pieces = []
    for port, tuples in events:
        at = draw(st.integers(0, len(tuples)))
        pieces += [(port, tuples[:at]), (port, tuples[at:])]
    return pieces


@dataclass
class Seen:
    """The output of a box as texts: NaN equals NaN and -0.0 is not 0.0."""

    emitted: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    late: int = 0

    def reference(self, items: list[Item], event: int, row: int) -> None:
        """Note what a tuple made the reference emit."""
        for item in items:
            if isinstance(item, Rejected):
                values = sorted(item.tuple.values.items())
                self.rejected.append(repr((values, item.tuple.ts, item.reason)))
            else:
                self.emitted.append(repr((event, row, sorted(item[1].values.items()), item[1].ts)))

    def kernel(self, step: Step, event: int) -> None:
        """Note what a batch made a kernel emit."""
        for values in rows_of(step.outputs[0]):
            ts, cause = values.pop(TS), values.pop(CAUSE)
            self.emitted.append(repr((event, cause, sorted(values.items()), ts)))
        rejected = None if step.rejected is None else step.rejected.drop_columns([CAUSE])
        for values in rows_of(rejected) if rejected is not None else []:
            ts, reason = values.pop(TS), values.pop(REASON)
            self.rejected.append(repr((sorted(values.items()), ts, reason)))
        self.late += step.late


def table_of(tuples: Sequence[Tuple], schema: Schema) -> pa.Table:
    """Tuples as an Arrow batch."""
    columns = [pa.array([each.values[f.name] for each in tuples], f.type.arrow) for f in schema]
    ts = pa.array([each.ts for each in tuples], schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, ts], schema=schema.arrow_with_ts)


def by_reference(box: Box, schema: Schema, events: Sequence[Event]) -> tuple[Seen, list[Any]]:
    """What the reference emits for events and at the end, and how many tuples of each side it keeps."""
    machine = machine_of(box, (schema, schema))
    assert isinstance(machine, JoinMachine | AsOfMachine | ResampleMachine)
    seen, kept = Seen(), []
    for number, (port, tuples) in enumerate(events):
        for row, arriving in enumerate(tuples):
            seen.reference(machine.push(port, arriving, 0), number, row)
        kept.append(machine.kept)
    seen.reference(machine.flush(0), len(events), -1)
    seen.late = machine.late
    return seen, kept


def by_kernel(box: Box, schema: Schema, events: Sequence[Event]) -> tuple[Seen, list[Any], list[str]]:
    """What the kernel makes of them, what it keeps, and its states, which are packed and unpacked."""
    kernel = kernel_for(box, (schema, schema))
    seen, kept, states, state = Seen(), [], [], kernel.start()
    for number, (port, tuples) in enumerate(events):
        step = kernel.step(unpack(pack(state)), port, table_of(tuples, schema), 0)
        state = step.state
        seen.kernel(step, number)
        kept.append((state["left"].num_rows, state["right"].num_rows))
        states.append(text_of(state))
    ended = kernel.flush(unpack(pack(state)), 0)
    seen.kernel(ended, len(events))
    assert text_of(ended.state) == text_of(kernel.start())
    return seen, kept, states


def all_rows(kernel: Kernel, schema: Schema, events: Sequence[Event]) -> list[dict[str, Any]]:
    """Everything that a kernel emits for events and at the end, without times."""
    state, found = kernel.start(), []
    for port, tuples in events:
        step = kernel.step(state, port, table_of(tuples, schema), 0)
        state, found = step.state, [*found, *rows_of(step.outputs[0].drop_columns([CAUSE]))]
    return [*found, *rows_of(kernel.flush(state, 0).outputs[0].drop_columns([CAUSE]))]
