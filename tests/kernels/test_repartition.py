"""Rewriting states for another number of partitions changes nothing that a box emits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.partitioned import Partitions
from tests.kernels.running import table

from australis.algebra.boxes import (
    Aggregate,
    AsOf,
    Box,
    BSort,
    Changes,
    Distinct,
    Drop,
    Filter,
    Join,
    Lag,
    Resample,
    Tumble,
    WSort,
)
from australis.algebra.order import Order
from australis.algebra.schema import TUP, Schema, parse_schema
from australis.algebra.user_functions import register_aggregate, register_arrow_aggregate
from australis.errors import KernelError
from australis.kernels.arrays.numbered_rows import PortKeys
from australis.kernels.make import kernel_for
from australis.kernels.repartition import repartition

SCHEMA = parse_schema("at long, g string, h double, n int, b boolean")
RIGHT = parse_schema("at long, k string, h double, n int, b boolean")
FUNCTIONS = (
    *("count(*)", "sum(n)", "avg(h)", "max(g)", "first(n)", "last(g)", "median(n)"),
    *("first(n order by h desc, n)", "array_join(collect_list(g, 2), ',')", "size(collect_set(g, 2))"),
    *("count(distinct g)", "`repartition:listed`(n)", "`repartition:batched`(n)"),
)
COUNTS = st.sampled_from([1, 2, 3, 8])
GROUPS = st.sampled_from([("g",), ("h",), ("g", "h"), ("h", "n", "g")])
SLACK = st.integers(0, 3)

register_aggregate(
    "repartition:listed",
    init=lambda: [],
    incr=lambda state, number: [*state, number],
    final=str,
    takes=("int",),
    returns="string",
)


def _batched(states: pa.RecordBatch, windows: pa.Array, numbers: pa.Array) -> dict[str, pa.Array]:
    seen = states["seen"].to_pylist()
    for window, number in zip(windows.to_pylist(), numbers.to_pylist(), strict=True):
        seen[window] = [*seen[window], number]
    return {"seen": pa.array(seen, pa.list_(pa.int32()))}


register_arrow_aggregate(
    "repartition:batched",
    state={"seen": pa.list_(pa.int32())},
    init={"seen": []},
    update=_batched,
    finish=lambda states: pa.array([str(seen) for seen in states["seen"].to_pylist()], pa.string()),
    takes=("int",),
    returns="string",
)

ROWS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 2]),
        st.sampled_from([0, 0, 0, 1, 2, 5]),
        st.sampled_from(["a", "b", "c", "é", None]),
        st.sampled_from([0.0, -0.0, 1.5, math.nan, None]),
        st.sampled_from([0, 1, None]),
        st.sampled_from([True, False, None]),
    ),
    max_size=12,
)
PASSING = st.sampled_from([0, 0, 1, 3, 10])
EVENTS = st.lists(st.tuples(st.integers(0, 1), ROWS, PASSING, COUNTS), min_size=2, max_size=6)
Event = tuple[int, list[tuple[Any, ...]], int, int]


def some_of(names: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the attributes grouped by, in any order."""
    chosen = st.lists(st.sampled_from(names), min_size=1, unique=True)
    return chosen.map(tuple)


class Both:
    """A box whole and in partitions, on the same events."""

    def __init__(self, box: Box, keys: PortKeys, count: int, schemas: tuple[Schema, ...]) -> None:
        self._schemas = schemas
        self.whole = Partitions(box, schemas, ((),) * len(keys), 1)
        self.parts = Partitions(box, schemas, keys, count)
        self._at = self._now = self._number = 0
        self.pushed: list[pa.Table] = []

    def push(self, port: int, rows: Sequence[tuple[Any, ...]], passing: int) -> None:
        """Tuples arrive nearly in order, after some time."""
        self._now += passing
        placed = []
        for step, lag, *values in rows:
            self._at += step
            placed.append((self._at - lag, *values))
        stamps = [self._number + at for at in range(len(rows))]
        self._number += len(rows)
        self.pushed.append(table(self._schemas[port], tuple(placed), stamps))
        for each in (self.whole, self.parts):
            each.push(port, self.pushed[-1], self._now)
        self.compare()

    def end(self, names: tuple[str, ...]) -> None:
        """Time passes, the streams end, and each group has emitted the same in the same sequence."""
        for each in (self.whole, self.parts):
            each.tick(self._now + 2)
            each.flush(self._now + 2)
        self.compare()
        assert self.parts.by_group(names) == self.whole.by_group(names)

    def compare(self) -> None:
        whole, parts = self.whole, self.parts
        assert sorted(map(repr, parts.emitted)) == sorted(map(repr, whole.emitted))
        assert sorted(parts.others) == sorted(whole.others)
        assert (parts.late, parts.ignored) == (whole.late, whole.ignored)
        assert parts.deadline() == whole.deadline()


def run(
    box: Box,
    keys: PortKeys,
    count: int,
    events: Sequence[Event],
    names: tuple[str, ...],
    schemas: tuple[Schema, ...] = (SCHEMA,),
) -> Both:
    """Repartition before each event, and compare after it."""
    both = Both(box, keys, count, schemas)
    for port, rows, passing, partitions in events:
        both.parts.repartition(partitions)
        both.push(port if len(keys) > 1 else 0, rows, passing)
    both.end(names)
    return both


@given(st.data(), COUNTS, EVENTS)
def test_sessions(data: st.DataObject, count: int, events: list[Event]) -> None:
    group_by = data.draw(GROUPS)
    functions = {f"f{at}": text for at, text in enumerate(data.draw(st.permutations(FUNCTIONS))[:3])}
    timeout = data.draw(st.sampled_from([None, "2 us"]))
    box = Aggregate(functions, Order("at", data.draw(SLACK), group_by), session=3, timeout=timeout)
    run(box, (data.draw(some_of(group_by)),), count, events, group_by)


@given(st.data(), COUNTS, EVENTS)
def test_boxes_that_look_back(data: st.DataObject, count: int, events: list[Event]) -> None:
    """What the state tells of earlier tuples is what these were: all tuples at once, without state, agree."""
    group_by = data.draw(st.sampled_from([("g",), ("h",), ("g", "h")]))
    boxes: list[Box] = [
        Changes(("n", "b"), group_by, {"was": "n", "since": "at"}),
        Lag({"before": "at"}, group_by, data.draw(st.integers(1, 3))),
        Distinct((*group_by, "n"), Order("at", data.draw(SLACK), group_by), 2),
    ]
    box = data.draw(st.sampled_from(boxes))
    both = run(box, (data.draw(some_of(group_by)),), count, events, group_by)
    at_once = Partitions(box, (SCHEMA,), ((),), 1)
    at_once.push(0, pa.concat_tables(both.pushed), 0)
    assert list(map(repr, both.whole.emitted)) == list(map(repr, at_once.emitted))


@given(st.data(), COUNTS, EVENTS)
def test_bsort(data: st.DataObject, count: int, events: list[Event]) -> None:
    groups = data.draw(GROUPS)
    box = BSort(Order("at", data.draw(SLACK), groups))
    run(box, (data.draw(some_of(groups)),), count, events, groups)


@given(st.data(), COUNTS, EVENTS)
def test_aggregate(data: st.DataObject, count: int, events: list[Event]) -> None:
    groups = data.draw(GROUPS)
    chosen = data.draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=4, unique=True))
    functions = {f"f{at}": text for at, text in enumerate(chosen)}
    timeout = data.draw(st.sampled_from([None, "1 us", "4 us"]))
    on = data.draw(st.sampled_from(["at", "at", TUP]))
    order = Order(on, 0 if on == TUP else data.draw(SLACK), groups)
    if data.draw(st.booleans()):
        size, advance = data.draw(st.sampled_from([(4, None), (6, 2), (5, 3), (2, 5)]))
        box = Aggregate(functions, order, size, advance, timeout=timeout, align=data.draw(st.booleans()))
    else:
        box = Aggregate(functions, order, 4, advance_when="b", timeout=timeout)
    run(box, (data.draw(some_of(groups)),), count, events, groups)


@given(st.data(), COUNTS, EVENTS)
def test_join(data: st.DataObject, count: int, events: list[Event]) -> None:
    equated = [("g", "k"), ("h", "h")]
    others = data.draw(st.sampled_from(["", " and left.b", " and left.n = right.n"]))
    predicate = "left.g = right.k and right.h = left.h" + others
    sides = [Order("at", data.draw(SLACK), names) for names in (("g", "h"), ("h", "n", "k"))]
    size, how = data.draw(st.sampled_from([0, 1, 3])), "inner"
    if "right.n" in others:
        how = data.draw(st.sampled_from(["inner", "left", "semi", "anti", "full"]))
    box = Join(predicate, size, *sides, how)
    pairs = data.draw(st.lists(st.sampled_from(equated), min_size=1, unique=True))
    keys = tuple(left for left, _ in pairs), tuple(right for _, right in pairs)
    # What a full join emits of a right tuple alone has only the right keys.
    shown = ("g", "h") if how in ("semi", "anti") else ("g", "left_h", "k", "right_h")
    run(box, keys, count, events, shown, (SCHEMA, RIGHT))


@given(st.data(), COUNTS, EVENTS)
def test_asof_join(data: st.DataObject, count: int, events: list[Event]) -> None:
    sides = [Order("at", data.draw(SLACK), names) for names in (("g", "h"), ("h", "k"))]
    how, within = data.draw(st.sampled_from(["left", "inner"])), data.draw(st.sampled_from([None, 2]))
    box = AsOf(sides[0], sides[1], "left.g = right.k and right.h = left.h", within, how)
    keys = data.draw(st.sampled_from([(("g",), ("k",)), (("g", "h"), ("k", "h"))]))
    run(box, keys, count, events, ("g", "left_h"), (SCHEMA, RIGHT))


@given(st.data(), COUNTS, EVENTS)
def test_resample_by_key(data: st.DataObject, count: int, events: list[Event]) -> None:
    sides = [Order("at", data.draw(SLACK), names) for names in (("g", "h"), ("h", "k"))]
    predicate, functions = "left.g = right.k and right.h = left.h", {"f": "count(*)", "v": "linear(n)"}
    box = Resample(functions, 2, sides[0], sides[1], predicate, ("g", "n"))
    keys = data.draw(st.sampled_from([(("g",), ("k",)), (("g", "h"), ("k", "h"))]))
    run(box, keys, count, events, ("g", "h"), (SCHEMA, RIGHT))


@given(st.data(), COUNTS, EVENTS, ROWS)
def test_join_with_a_table(data: st.DataObject, count: int, events: list[Event], rows: list[Any]) -> None:
    streams = [(0, *event[1:]) for event in events]
    loading = [(1, rows, 0, count)]
    how = data.draw(st.sampled_from(["inner", "left", "anti"]))
    predicate, order = "left.g = right.k and left.at <> right.at", Order("at", data.draw(SLACK), ("h", "g"))
    box = Join(predicate, left=order, how=how)
    if data.draw(st.booleans()):
        box = Join(predicate, how=how, table="right")
    run(box, (("g",), ()), count, [*loading, *streams], ("g",), (SCHEMA, RIGHT))


def test_a_table_on_the_left() -> None:
    box = Join("left.g = right.k", right=Order("at", 0, ("k",)))
    rows = [(1, 0, letter, 0.0, 0, True) for letter in "abcabc"]
    run(box, ((), ("k",)), 2, [(0, rows, 0, 3), (1, rows, 0, 4), (1, rows, 0, 1)], ("k",), (SCHEMA, RIGHT))


def test_a_box_without_state_has_any_partitions() -> None:
    kernel = kernel_for(Filter(("at > 0",)), (SCHEMA,))
    assert repartition(kernel, [{}, {}], (("g",),), 3) == ({}, {}, {})


WHOLE: list[Box] = [
    Drop(0.5, 1),
    WSort(("at",), "1 s"),
    Tumble({"c": "count(*)"}, ("g",)),
    Resample({"c": "count(*)"}, 1, Order("at"), Order("at", 0, ("g",))),
    BSort(Order("at", 1)),
    Aggregate({"c": "count(*)"}, Order("at"), 4),
    Join("left.g = right.g", 1, Order("at"), Order("at", 0, ("g",))),
]


@pytest.mark.parametrize("box", WHOLE, ids=lambda box: box.kind)
def test_what_is_kept_whole_stays_in_one_partition(box: Box) -> None:
    ports = box.arity[0]
    kernel = kernel_for(box, (SCHEMA,) * ports)
    state, keys = kernel.start(), (("g",),) * ports
    assert repartition(kernel, [state], keys, 1) == (state,)
    for states, count in (([state], 2), ([state, state], 1)):
        with pytest.raises(KernelError, match=r"one state for all its tuples|has no groups"):
            repartition(kernel, states, keys, count)


def test_keys_must_be_grouped_by() -> None:
    kernel = kernel_for(BSort(Order("at", 1, ("g", "h"))), (SCHEMA,))
    for keys in (("n",), ("g", "n"), ()):
        with pytest.raises(KernelError, match="groups by g, h, so it cannot be partitioned"):
            repartition(kernel, [kernel.start()], (keys,), 2)


def test_keys_of_a_join_must_be_equated() -> None:
    by_both = Order("at", 0, ("g", "h"))
    kernel = kernel_for(Join("left.g = right.g and left.h < right.h", 1, by_both, by_both), (SCHEMA,) * 2)
    with pytest.raises(KernelError, match=r"left\.h and right\.h need not be equal"):
        repartition(kernel, [kernel.start()], (("g", "h"), ("g", "h")), 2)


def test_a_group_in_two_states_is_refused() -> None:
    box = BSort(Order("at", 1, ("g",)))
    both = Both(box, (("g",),), 1, (SCHEMA,))
    both.push(0, [(1, 0, "a", 0.0, 0, True)], 0)
    with pytest.raises(KernelError, match="a key is in several states"):
        repartition(both.parts.kernel, both.parts.states * 2, (("g",),), 2)


def test_groups_of_one_partition_come_after_those_of_another() -> None:
    both = Both(BSort(Order("at", 1, ("g",))), (("g",),), 1, (SCHEMA,))
    both.push(0, [(0, 0, letter, 0.0, 0, True) for letter in "abcdef"], 0)
    both.parts.repartition(3)
    split = [state["groups"]["g"].to_pylist() for state in both.parts.states]
    assert sorted(chain(*split)) == list("abcdef")
    assert all(letters == sorted(letters) for letters in split)
    both.parts.repartition(1)
    assert both.parts.states[0]["groups"]["g"].to_pylist() == list(chain(*split))
