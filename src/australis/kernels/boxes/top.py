"""Top: the first tuples of each window by some keys, whole and with their ranks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Top
from australis.algebra.expr import Attribute, WindowCall
from australis.algebra.schema import TS, TUP, Schema
from australis.algebra.types import LONG
from australis.kernels.arrays import Indexes
from australis.kernels.boxes.aggregate import AggregateKernel
from australis.kernels.expressions import arrow
from australis.kernels.functions import TOP
from australis.kernels.ordering import order_array
from australis.kernels.windows import WindowResults


class TopKernel(AggregateKernel):
    """Has the windows and the state of an Aggregate; what a window accumulates are whole tuples."""

    def __init__(self, box: Top, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        self._call = call_of(box, schemas[0])
        super().__init__(box.windows, schemas, timezone)
        self.output_schemas = box.output_schemas(*schemas)[:1]

    def calls(self) -> tuple[WindowCall, ...]:
        return (self._call,)

    def _output(self, results: WindowResults, groups: pa.Table, causes: Indexes) -> pa.Table:
        lists = results.values[0]
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        window = np.repeat(np.arange(len(lengths)), lengths)
        ranks = np.arange(len(window)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
        schema = self.nothing()[0].schema
        starts = results.start if self._clock is None else self._clock.instants(results.start)
        start = [] if self._order.on == TUP else [order_array(starts[window], self._bound.order_type)]
        hidden = [arrow(results.oldest[window], schema.field(TS).type), pa.array(causes[window], pa.int64())]
        columns = [*start, *lists.flatten().flatten(), pa.array(ranks, pa.int32()), *hidden]
        return pa.Table.from_arrays(columns, schema=schema)


def call_of(box: Top, schema: Schema) -> WindowCall:
    """The function that keeps the first tuples of a window."""
    keys = [(schema.names.index(key.name), int(key.descending)) for key in box.bind(schema).keys]
    args = tuple(Attribute(field.name, field.type, field.nullable) for field in schema)
    return WindowCall(TOP, args, LONG, parameters=(box.n, *(number for key in keys for number in key)))
