"""Layouts: the windows of a box, and how they and the waiting tuples are stored in its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from australis.algebra.expr import Expr, WindowCall
from australis.kernels.arrays import column
from australis.kernels.functions import stored_types
from australis.kernels.windows.gaps import FIELDS as TAIL_FIELDS
from australis.kernels.windows.local_clock import LocalClock
from australis.kernels.windows.windows import Openings, Sessions, Steps

GROUP, NUMBER, START, VALUE = "#group", "#number", "#start", "#value"
END = "#end"
OLDEST, BEGAN, TIMED_OUT = "#oldest", "#began", "#timed_out"
ARRIVED, OPENS, TAKEN = "#arrived", "#opens", "#taken"
PASSED, FIRST_START, FIRST_KNOWN = "#passed", "#first_start", "#first_known"
LAST_VALUE, LAST_ARRIVED = "#last_value", "#last_arrived"

Fields = list[tuple[str, pa.DataType]]


@dataclass(frozen=True)
class Layout:
    """The windows of an Aggregate, in the units of its order."""

    calls: tuple[WindowCall, ...]
    windows: Steps | Openings | Sessions
    timeout: int | None
    clock: LocalClock | None = None
    """If the windows lie along the clocks of a time zone, these."""
    empty: bool = False
    """Whether windows without tuples are emitted."""
    forget: int | float | None = None
    """How far after its last tuple a group may be forgotten, if nothing else tells."""
    forget_us: int | None = None
    """After how long without a tuple a group is forgotten."""

    @cached_property
    def number_type(self) -> pa.DataType:
        """The type in which order values are stored."""
        return pa.float64() if isinstance(self.windows.size, float) else pa.int64()

    @cached_property
    def args(self) -> tuple[Expr, ...]:
        """The inputs of all calls, without repetition."""
        return tuple(dict.fromkeys(arg for call in self.calls for arg in call.inputs))

    def groups_schema(self, keys: pa.Schema) -> pa.Schema:
        """The groups by first arrival: their keys, what each has passed, where its windows begin."""
        marks: Fields = [
            (PASSED, self.number_type),
            (FIRST_START, self.number_type),
            (FIRST_KNOWN, pa.int64()),
        ]
        marks += TAIL_FIELDS if self.empty else []
        marks += [] if self.forget is None else [(LAST_VALUE, self.number_type)]
        marks += [] if self.forget_us is None else [(LAST_ARRIVED, pa.int64())]
        return pa.schema([*keys, *(pa.field(name, kind) for name, kind in marks)])

    @cached_property
    def windows_schema(self) -> pa.Schema:
        """The open windows by group and start: their identity, their oldest ts, and what is accumulated."""
        fields: Fields = [(GROUP, pa.int64()), (NUMBER, pa.int64()), (START, self.number_type)]
        fields += [(OLDEST, pa.int64()), (BEGAN, pa.int64()), (TIMED_OUT, pa.bool_())]
        if isinstance(self.windows, Sessions):
            fields.append((END, self.number_type))
        for index, call in enumerate(self.calls):
            fields += [(f"#{index}.{part}", kind) for part, kind in enumerate(stored_types(call))]
        return pa.schema(fields)

    @cached_property
    def rows_schema(self) -> pa.Schema:
        """The tuples that wait for their slack, in order of arrival, with the values of the arguments."""
        fields: Fields = [(GROUP, pa.int64()), (VALUE, self.number_type), (OLDEST, pa.int64())]
        if isinstance(self.windows, Openings):
            fields.append((OPENS, pa.bool_()))
        if self.timeout is not None:
            fields += [(ARRIVED, pa.int64()), (TAKEN, pa.bool_())]
        return pa.schema(fields + [(f"#arg{index}", arg.type.arrow) for index, arg in enumerate(self.args)])

    def stored(self, windows: pa.Table, index: int) -> list[pa.Array]:
        """The columns of a table of windows that store the accumulations of one call."""
        parts = range(len(stored_types(self.calls[index])))
        return [column(windows, f"#{index}.{part}") for part in parts]

    def arguments(self, rows: pa.Table, call: WindowCall) -> list[pa.Array]:
        """The columns of a table of rows that hold a call's inputs."""
        return [column(rows, f"#arg{self.args.index(arg)}") for arg in call.inputs]
