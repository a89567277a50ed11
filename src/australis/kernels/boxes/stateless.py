"""Filter, Map, Union (Aurora 5.2.1) and Unnest: the boxes that remember nothing between batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.boxes import Filter, Map, Union, Unnest
from australis.algebra.expr import Expr, attributes
from australis.algebra.schema import TS, Schema
from australis.kernels.arrays import Numbered, PortKeys
from australis.kernels.expressions import evaluate, evaluate_all, raw, truths
from australis.kernels.kernel import CAUSE, Kernel, State, Step, empty_output, output_schema

Rows = npt.NDArray[Any]
"""Numbers of rows of a batch, ascending."""
_NO_ROWS: Rows = np.empty(0, np.int64)


class Stateless(Kernel):
    """A kernel whose state is always empty."""

    def start(self) -> State:
        return {}

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return ()


class FilterKernel(Stateless):
    """Routes each tuple to the output of the first predicate that it satisfies, or to the last output.

    A predicate is evaluated only on the tuples that no earlier one has accepted; unread outputs are not
    produced.
    """

    def __init__(self, box: Filter, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)
        self._predicates = box.bind(*schemas)
        self._timezone = timezone

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        batch = batch.combine_chunks()
        chosen: list[Rows] = []
        rest: Rows | None = None
        last = len(self._predicates)
        for number, predicate in enumerate(self._predicates):
            holds = self._holds(predicate, batch, rest)
            chosen.append(_NO_ROWS if number in self.unread_ports else _where(holds, rest))
            if number + 1 < last or last not in self.unread_ports:
                rest = _where(~holds, rest)
        chosen.append(_NO_ROWS if rest is None or last in self.unread_ports else rest)
        unread = batch.num_rows - sum(map(len, chosen))
        return Step(state, tuple(_rows(batch, rows) for rows in chosen), unread=unread)

    def _holds(self, predicate: Expr, batch: pa.Table, rows: Rows | None) -> npt.NDArray[np.bool_]:
        """Which of some rows, or of all, satisfy a predicate."""
        if rows is None or len(rows) == batch.num_rows:
            return truths(evaluate(predicate, batch, self._timezone))
        if len(rows) == 0:
            return np.zeros(0, np.bool_)
        # No predicate reads TS, but it gives the number of rows where a predicate reads no attribute at all.
        read = batch.select([*sorted(attributes(predicate)), TS]).take(pa.array(rows))
        return truths(evaluate(predicate, read, self._timezone))


def _where(holds: npt.NDArray[np.bool_], rows: Rows | None) -> Rows:
    """Those of some rows, or of all, for which something holds."""
    return np.flatnonzero(holds) if rows is None else rows[holds]


class MapKernel(Stateless):
    """Computes the attributes of each output tuple from those of its input tuple."""

    def __init__(self, box: Map, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)
        self._attributes = tuple(box.bind(*schemas).values())
        self._timezone = timezone

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        columns = evaluate_all(self._attributes, batch, self._timezone)
        return Step(state, (_output(self.output_schemas[0], [*columns, batch[TS]]),))


class UnionKernel(Stateless):
    """Passes the tuples of every port through, in the order in which they arrive."""

    def __init__(self, box: Union, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        schema = self.output_schemas[0]
        return Step(state, (_output(schema, [batch[name] for name in (*schema.names, TS)]),))


class UnnestKernel(Stateless):
    """Repeats each tuple for every element of an array, and adds the elements."""

    def __init__(self, box: Unnest, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self.output_schemas = box.output_schemas(*schemas)
        self._array = box.bind(*schemas)
        self._copied = schemas[0].names
        self._with_position, self._keep_empty = box.position is not None, box.keep_empty
        self._timezone = timezone

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        batch = batch.combine_chunks()
        arrays = evaluate(self._array, batch, self._timezone)
        sizes = raw(pc.list_value_length(arrays).fill_null(0))
        counts = np.maximum(sizes, 1) if self._keep_empty else sizes
        parents = np.repeat(np.arange(batch.num_rows), counts)
        places = _places(counts)
        empty = sizes[parents] == 0 if self._keep_empty else None
        added = [_elements(arrays, sizes, parents, places, empty)]
        if self._with_position:
            added.append(pa.array(places, pa.int32(), mask=empty))
        copied = batch.select([*self._copied, TS]).take(pa.array(parents))
        columns = [*(copied[name] for name in self._copied), *added, copied[TS], pa.array(parents)]
        output = pa.Table.from_arrays(columns, schema=output_schema(self.output_schemas[0]))
        return Step(state, (output,))


def _places(counts: Rows) -> Rows:
    """From 0 to the count of each, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _elements(
    arrays: pa.Array, sizes: Rows, parents: Rows, places: Rows, empty: npt.NDArray[np.bool_] | None
) -> pa.Array:
    """The elements of arrays, and NULL for each array that is kept though it has none."""
    elements = pc.list_flatten(arrays)
    if empty is None or not empty.any():
        return elements
    starts = np.cumsum(sizes) - sizes
    return elements.take(pa.array(starts[parents] + places, mask=empty))


def _rows(batch: pa.Table, rows: Rows) -> pa.Table:
    """Some rows of a batch, each with itself as its cause."""
    taken = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows))
    return taken.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(rows))


def _output(schema: Schema, columns: list[pa.Array]) -> pa.Table:
    """An output with one tuple for each tuple of the input."""
    causes = pa.array(np.arange(len(columns[-1])))
    return pa.Table.from_arrays([*columns, causes], schema=empty_output(schema).schema)
