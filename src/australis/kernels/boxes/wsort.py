"""WSort: a sort bounded by time (Aurora* 2.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.boxes import WSort
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.kernels.arrays import Indexes, Mask, column, normalised, numbers, rows_of, stacked
from australis.kernels.expressions import truths
from australis.kernels.functions import by_keys
from australis.kernels.kernel import CAUSE, Kernel, State, Step, refused
from australis.kernels.windows import ARRIVED


class WSortKernel(Kernel):
    """Holds tuples back; one that has waited too long is emitted, after all that sort before it.

    The state: `waiting`, the tuples held back in order of arrival; `last`, the sort attributes of the last
    one emitted.
    """

    def __init__(self, box: WSort, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._keys = box.keys
        self._by = [key.name for key in box.keys]
        self._timeout = microseconds(box.timeout)
        self._schema = schema.arrow_with_ts
        self._last_schema = pa.schema([self._schema.field(name) for name in dict.fromkeys(self._by)])

    def start(self) -> State:
        waiting = self._schema.append(pa.field(ARRIVED, pa.int64()))
        return {"waiting": waiting.empty_table(), "last": self._last_schema.empty_table()}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        fired = self.tick(state, now)
        arrived = self.step_at(fired.state, port, batch, np.full(batch.num_rows, now))
        return replace(arrived, outputs=fired.outputs)

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        batch, rejected = self._placed(_arrived(batch.select(self._schema.names), times))
        late = self._before(batch, state["last"])
        fresh = rows_of(batch, np.flatnonzero(~late)) if late.any() else batch
        after = {**state, "waiting": stacked([state["waiting"], fresh])}
        return Step(after, self.nothing(), rejected, int(late.sum()))

    def tick(self, state: State, now: int) -> Step:
        due = np.flatnonzero(numbers(column(state["waiting"], ARRIVED)) < now - self._timeout)
        if not len(due):
            return Step(state, self.nothing())
        order = self._sorted(state["waiting"])
        return self._leave(state, order[: int(np.flatnonzero(np.isin(order, due))[-1]) + 1])

    def flush(self, state: State, now: int) -> Step:
        left = self._leave(state, self._sorted(state["waiting"])) if state["waiting"].num_rows else None
        return Step(self.start(), left.outputs if left else self.nothing())

    def deadline(self, state: State) -> int | None:
        arrived = numbers(column(state["waiting"], ARRIVED))
        return int(arrived.min()) + self._timeout + 1 if len(arrived) else None

    def _leave(self, state: State, leaving: Indexes) -> Step:
        """Emit some waiting tuples, in the given order."""
        waiting = state["waiting"]
        left = rows_of(waiting.drop_columns([ARRIVED]), leaving)
        staying = np.setdiff1d(np.arange(waiting.num_rows), leaving)
        last = left.slice(left.num_rows - 1).select(self._last_schema.names)
        after = {"waiting": rows_of(waiting, staying), "last": rows_of(last, np.zeros(1, np.int64))}
        causes = pa.array(np.full(len(leaving), -1))
        return Step(after, (left.append_column(pa.field(CAUSE, pa.int64(), False), causes),))

    def _placed(self, batch: pa.Table) -> tuple[pa.Table, pa.Table | None]:
        """The tuples without NULLs in the sort attributes, and the others with the reason."""
        missing = [name for name in self._by if column(batch, name).null_count]
        if not missing:
            return batch, None
        absent = np.stack([truths(column(batch, name).is_null()) for name in missing])
        outside = np.flatnonzero(absent.any(axis=0))
        reasons = [order_reason(missing[int(index)], None) for index in absent[:, outside].argmax(axis=0)]
        rejected = refused(batch.drop_columns([ARRIVED]), outside, reasons)
        return rows_of(batch, np.flatnonzero(~absent.any(axis=0))), rejected

    def _sorted(self, rows: pa.Table) -> Indexes:
        """The rows in the order of the sort keys, ties by arrival."""
        if any(key.descending for key in self._keys):
            return by_keys([column(rows, name) for name in self._by], self._keys)
        keys = {f"{index}": normalised(column(rows, name)) for index, name in enumerate(self._by)}
        by = [(name, "ascending") for name in keys]
        return pc.sort_indices(pa.table(keys), sort_keys=by).to_numpy().astype(np.int64)

    def _before(self, batch: pa.Table, last: pa.Table) -> Mask:
        """Which tuples sort strictly before the last one emitted."""
        before, equal = np.zeros(batch.num_rows, np.bool_), np.ones(batch.num_rows, np.bool_)
        if not last.num_rows:
            return before
        for key in self._keys:
            less, same = _compared(column(batch, key.name), column(last, key.name)[0])
            before |= equal & (~less & ~same if key.descending else less)
            equal &= same
        return before


def _arrived(batch: pa.Table, times: Indexes) -> pa.Table:
    """A batch with the local times at which its tuples arrived."""
    return batch.append_column(pa.field(ARRIVED, pa.int64()), pa.array(times))


def _compared(values: pa.Array, bound: pa.Scalar) -> tuple[Mask, Mask]:
    """Where values are less than a bound and where they equal it; NaN equals NaN and is the greatest."""
    less, same = truths(pc.less(values, bound)), truths(pc.equal(values, bound))
    if pa.types.is_floating(values.type) and np.isnan(bound.as_py()):
        same = np.isnan(numbers(values))
        less = ~same
    return less, same
