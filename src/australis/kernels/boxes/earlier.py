"""Changes and Lag: boxes that see a tuple beside an earlier one of its group, vectorised.

Rows are laid out by group and arrival, so that the row before one in its group lies before it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Changes, Earlier, Lag
from australis.algebra.expr import Expr
from australis.algebra.schema import TS, Schema
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Mask,
    Numbered,
    PortKeys,
    by_group,
    by_slot,
    column,
    encode,
    grown,
    joined,
    normalised,
    numbers,
    rows_of,
    stacked,
)
from australis.kernels.boxes.quiet_groups import QuietGroups
from australis.kernels.expressions import arrow, evaluate
from australis.kernels.kernel import Due, Kernel, State, Step
from australis.kernels.windows import GROUP

NOTHING = -1
"""The place of an earlier tuple that there is none of, and the code of the values before a group's first."""


class EarlierKernel(Kernel):
    """What Changes and Lag have in common."""

    _followers: Mapping[str, str] = {}
    """The tables whose rows belong to groups, with the column that has the number of the group."""

    def __init__(self, box: Earlier, schemas: tuple[Schema, ...], timezone: str) -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._keys = list(box.group_by)
        self._key_fields = [pa.field(name, schema[name].type.arrow) for name in self._keys]
        self._names = list(schema.names)
        self._exprs: tuple[Expr, ...] = tuple(box.bind(schema).values())
        self._timezone = timezone
        self._quiet = QuietGroups(box.forget_us, box.group_by, self._followers)
        self._fields = [pa.field(f"#{index}", expr.type.arrow) for index, expr in enumerate(self._exprs)]

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        return self.step_at(state, port, batch, np.full(batch.num_rows, now))

    def due(self, state: State) -> Due | None:
        return self._quiet.due(state)

    @property
    def separated_by(self) -> PortKeys:
        return (tuple(self._keys),)

    def _values(self, batch: pa.Table) -> list[pa.Array]:
        """What the tuples of a batch will be asked for later."""
        return [evaluate(expr, batch, self._timezone) for expr in self._exprs]

    def _output(self, batch: pa.Table, rows: Indexes, earlier: list[pa.Array], places: Indexes) -> pa.Table:
        """Some rows of a batch, each with the earlier values at a place, or NULLs where there is none."""
        found = rows_of(batch.select([*self._names, TS]), rows)
        taken = arrow(places, pa.int64(), places == NOTHING)
        columns = [column(found, name) for name in self._names]
        columns += [values.take(taken) for values in earlier]
        schema = self.nothing()[0].schema
        return pa.Table.from_arrays([*columns, column(found, TS), pa.array(rows)], schema=schema)


class ChangesKernel(EarlierKernel):
    """Compares each tuple with the one before it in its group.

    The state: `groups` in the order of their first arrivals, with the last values of each, and what will be
    asked of the tuple with which these began.
    """

    def __init__(self, box: Changes, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        super().__init__(box, schemas, timezone)
        self._of = list(box.of)
        self._first = box.first
        last = [pa.field(f"#last{at}", schemas[0][name].type.arrow) for at, name in enumerate(box.of)]
        self._last = [field.name for field in last]
        self._groups = pa.schema([*self._key_fields, *last, *self._fields, *self._quiet.fields])

    def start(self) -> State:
        return {"groups": self._groups.empty_table()}

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        groups = self._quiet.without(state, batch, times)["groups"]
        found = encode(groups.select(self._keys), groups.num_rows, batch)
        given = [normalised(column(batch, name)) for name in self._of]
        last = [joined(column(groups, name), new) for name, new in zip(self._last, given, strict=True)]
        codes = _value_codes(last)
        before = grown(codes[: groups.num_rows], found.count, NOTHING)
        rows = _changed(found.codes, codes[groups.num_rows :], before)
        places = _previous(found.codes[rows], rows + groups.num_rows, groups.num_rows)
        values = [column(groups, field.name) for field in self._fields]
        earlier = [joined(old, new) for old, new in zip(values, self._values(batch), strict=True)]
        arrived = self._quiet.columns(groups, found, times)
        after = self._after(found, last, earlier, rows, groups.num_rows, arrived)
        order = np.argsort(rows, kind="stable")
        if not self._first:
            order = order[places[order] != NOTHING]
        return Step({"groups": after}, (self._output(batch, rows[order], earlier, places[order]),))

    def _after(
        self,
        found: GroupCodes,
        last: list[pa.Array],
        earlier: list[pa.Array],
        changed: Indexes,
        known: int,
        arrived: list[pa.Array],
    ) -> pa.Table:
        """The groups with their latest values; of equal indexes in an assignment the last one counts."""
        latest, began = np.arange(found.count), np.arange(found.count)
        latest[found.codes] = known + np.arange(len(found.codes))
        began[found.codes[changed]] = known + changed
        columns = [column(found.keys, name) for name in self._keys]
        columns += [values.take(pa.array(latest)) for values in last]
        columns += [values.take(pa.array(began)) for values in earlier]
        return pa.Table.from_arrays([*columns, *arrived], schema=self._groups)

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], {}),)


class LagKernel(EarlierKernel):
    """Looks back a number of tuples in each group.

    The state: `groups` in the order of their first arrivals; `last`, the values of the last tuples of all
    groups in order of arrival, each with the number of its group.
    """

    _followers: Mapping[str, str] = {"last": GROUP}

    def __init__(self, box: Lag, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        super().__init__(box, schemas, timezone)
        self._back = box.back
        self._last = pa.schema([pa.field(GROUP, pa.int64()), *self._fields])

    def start(self) -> State:
        groups = pa.schema([*self._key_fields, *self._quiet.fields])
        return {"groups": groups.empty_table(), "last": self._last.empty_table()}

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        if not batch.num_rows:
            return Step(state, self.nothing())
        state = self._quiet.without(state, batch, times)
        groups, last = state["groups"], state["last"]
        found = encode(groups.select(self._keys), groups.num_rows, batch)
        fresh = pa.Table.from_arrays([pa.array(found.codes), *self._values(batch)], schema=self._last)
        rows, known = stacked([last, fresh]), last.num_rows
        order, begins = by_slot(numbers(column(rows, GROUP)), found.count)
        places, kept = _back(order, begins, self._back)
        earlier = [column(rows, field.name) for field in self._fields]
        output = self._output(batch, np.arange(batch.num_rows), earlier, places[known:])
        after = found.keys
        for field, arrived in zip(self._quiet.fields, self._quiet.columns(groups, found, times), strict=True):
            after = after.append_column(field, arrived)
        return Step({"groups": after, "last": rows_of(rows, kept)}, (output,))

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._keys, keys[0], self._followers),)


def _value_codes(columns: list[pa.Array]) -> Indexes:
    """Numbers that are equal where all of some normalised values are."""
    table = pa.table(columns, names=[str(index) for index in range(len(columns))])
    return encode(table.slice(0, 0), 0, table).codes


def _changed(groups: Indexes, values: Indexes, before: Indexes) -> Indexes:
    """The rows whose value is not that of the row before in their group, by group and row."""
    order = np.argsort(groups, kind="stable")
    group, value = groups[order], values[order]
    previous = np.roll(value, 1)
    first = _firsts(group)
    previous[first] = before[group[first]]
    return order[value != previous]


def _previous(groups: Indexes, places: Indexes, known: int) -> Indexes:
    """The place before each in its group; for the first of one that is known, the number of the group."""
    found = np.roll(places, 1)
    first = _firsts(groups)
    found[first] = np.where(groups[first] < known, groups[first], NOTHING)
    return found


def _firsts(groups: Indexes) -> Mask:
    """Where a group begins, of rows by group."""
    first: Mask = np.diff(groups, prepend=-1) != 0
    return first


def _back(order: Indexes, begins: Indexes, back: int) -> tuple[Indexes, Indexes]:
    """The row that is `back` rows before each in its group, and the rows that will still be asked for."""
    at = np.arange(len(order))
    sizes = np.diff(begins)
    begin, end = (np.repeat(each, sizes) for each in (begins[:-1], begins[1:]))
    places = np.empty(len(order), np.int64)
    places[order] = np.where(at - back >= begin, order[np.maximum(at - back, 0)], NOTHING)
    return places, np.sort(order[at >= end - back])
