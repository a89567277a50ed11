"""Short streams for tests of kernels, written as rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from australis.algebra.boxes import Box
from australis.algebra.schema import TS, Schema
from australis.kernels.functions.user import plain
from australis.kernels.kernel import CAUSE, Kernel, State, Step
from australis.kernels.make import kernel_for


def batch(schema: Schema, *rows: tuple[Any, ...], ts: int = 0) -> pa.Table:
    """A batch of tuples; the ts of each is `ts` and its place in the batch."""
    columns = [
        pa.array(values, f.type.arrow) for f, values in zip(schema, _columns(schema, rows), strict=True)
    ]
    stamps = pa.array([ts + number for number in range(len(rows))], schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, stamps], schema=schema.arrow_with_ts)


def _columns(schema: Schema, rows: tuple[tuple[Any, ...], ...]) -> list[list[Any]]:
    return [[row[index] for row in rows] for index in range(len(schema))]


def rows(table: pa.Table, *names: str) -> list[Any]:
    """Some columns of a table, all attributes if none are named, as tuples; as values if it is one."""
    chosen = names or tuple(name for name in table.column_names if name not in (TS, CAUSE))
    columns = [plain(table.column(name).combine_chunks()) for name in chosen]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


class Running:
    """A kernel with its state."""

    def __init__(self, box: Box, *schemas: Schema) -> None:
        self.kernel: Kernel = kernel_for(box, schemas)
        self.state: State = self.kernel.start()

    def step(self, given: pa.Table, now: int = 0) -> Step:
        return self._after(self.kernel.step(self.state, 0, given, now))

    def tick(self, now: int) -> Step:
        return self._after(self.kernel.tick(self.state, now))

    def flush(self, now: int = 0) -> Step:
        return self._after(self.kernel.flush(self.state, now))

    @property
    def deadline(self) -> int | None:
        return self.kernel.deadline(self.state)

    def _after(self, step: Step) -> Step:
        self.state = step.state
        return step
