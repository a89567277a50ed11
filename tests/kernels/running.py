"""One kernel, run by hand: batches in, plain rows with their causes out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from australis.algebra.boxes import Box
from australis.algebra.schema import TS, Schema, parse_schema
from australis.kernels.functions.user import plain
from australis.kernels.kernel import CAUSE, REASON, State, Step
from australis.kernels.make import kernel_for


class Run:
    """A box on inputs of some schemas; local time stands still, and a ts is the number of the tuple."""

    def __init__(self, box: Box, *schemas: str) -> None:
        self._schemas = tuple(map(parse_schema, schemas))
        self.kernel = kernel_for(box, self._schemas)
        self.state: State = self.kernel.start()
        self.reasons: list[str] = []
        self.ts: list[int] = []
        """The ts of what the last step emitted on output 0."""
        self.causes: list[int] = []
        """The causes of what the last step emitted on output 0."""
        self.late = 0
        self._number = 0

    def push(self, port: int, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """A batch arrives; what comes out on output 0."""
        return self.push_all(port, *rows)[0]

    def push_all(self, port: int, *rows: tuple[Any, ...]) -> list[list[tuple[Any, ...]]]:
        """A batch arrives; what comes out on every output."""
        stamps = [self._number + 1 + at for at in range(len(rows))]
        self._number += len(rows)
        return self._seen(self.kernel.step(self.state, port, table(self._schemas[port], rows, stamps), 0))

    def flush(self) -> list[tuple[Any, ...]]:
        """The streams end."""
        return self._seen(self.kernel.flush(self.state, 0))[0]

    def kept(self, name: str) -> int:
        """How many rows a table of the state has."""
        return int(self.state[name].num_rows)

    def _seen(self, step: Step) -> list[list[tuple[Any, ...]]]:
        self.state = step.state
        self.late += step.late
        if step.rejected is not None:
            self.reasons += step.rejected[REASON].to_pylist()
        for output, empty in zip(step.outputs, self.kernel.nothing(), strict=True):
            output.validate(full=True)
            assert output.schema == empty.schema
        self.ts, self.causes = plain(step.outputs[0][TS].combine_chunks()), step.outputs[0][CAUSE].to_pylist()
        return [rows_of(output.drop_columns([TS, CAUSE])) for output in step.outputs]


def table(schema: Schema, rows: tuple[tuple[Any, ...], ...], stamps: list[int]) -> pa.Table:
    """Rows as a batch, each with its ts."""
    columns = [pa.array([row[at] for row in rows], field.type.arrow) for at, field in enumerate(schema)]
    ts = pa.array(stamps, schema.arrow_with_ts.field(TS).type)
    return pa.Table.from_arrays([*columns, ts], schema=schema.arrow_with_ts)


def rows_of(found: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as tuples in plain Python."""
    return list(zip(*(plain(column.combine_chunks()) for column in found.columns), strict=True))
