"""The kernels of Join and Resample do what the reference does, however batches are cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conformance.two_sides import (
    SIZES,
    Event,
    Seen,
    all_rows,
    by_kernel,
    by_reference,
    histories,
    interleavings,
    recuts,
    schema_with,
    streams,
    table_of,
)

from australis.algebra.boxes import AsOf, Box, BSort, Join, Resample
from australis.algebra.order import Order
from australis.algebra.schema import TS
from australis.kernels.make import kernel_for
from australis.kernels.pairing import keys
from australis.kernels.state import pack, unpack
from australis.reference.boxes.join import JoinMachine
from australis.reference.machines import machine_of
from australis.reference.row import Tuple

ORDER_TYPE = st.sampled_from(sorted(SIZES))
SLACK = st.sampled_from([0, 0, 1, 2, 4])
GROUPS = st.sampled_from([(), (), ("g",), ("g", "h"), ("h",), ("n",)])
PREDICATES = (
    "left.g = right.g",
    "left.h = right.h",
    "left.g = right.g and right.h = left.h",
    "left.g = right.g and left.x < right.x",
    "left.x < right.x",
    "left.n + right.n > 0 or left.g is null",
    "left.g = right.g and left.g = right.g",
    "true",
)
FUNCTIONS = (
    "count(*)",
    "sum(n)",
    "avg(x)",
    "max(g)",
    "first(g)",
    "last(x)",
    "median(x)",
    "var_pop(x)",
    "stddev_pop(n)",
    "corr(x, n)",
    "max_by(g, x)",
    "min_by(x, g)",
    "first(g order by x desc, n)",
    "last(x order by g)",
    "array_join(collect_list(cast(n as string), 2), '|')",
    "array_join(collect_set(cast(n as string) || coalesce(cast(g as string), '-'), 3), '|')",
    "approx_count_distinct(g)",
    "percentile_sketch(x, 0.4)",
    "sum(x) / count(*)",
    "first(g) filter (where n > 0)",
    "coalesce(median(x) filter (where n > 0), max(x) - min(x))",
    "count(distinct h)",
    "linear(x)",
    "linear(n)",
    "nearest(g)",
    "nearest(x)",
    "last_value(n)",
    "last_value(x + 1)",
)


def agree(data: st.DataObject, box: Box, kind: str, events: list[Event]) -> None:
    """Kernel and reference emit and keep the same; cutting batches changes neither output nor state."""
    schema = schema_with(kind)
    seen, kept, states = by_kernel(box, schema, events)
    assert (seen, kept) == by_reference(box, schema, events)
    pieces = data.draw(recuts(events))
    cut_seen, _, cut_states = by_kernel(box, schema, pieces)
    assert cut_seen == by_reference(box, schema, pieces)[0]
    assert cut_states[1::2] == states


def drawn_orders(data: st.DataObject, least_slack: int = 0) -> list[Order]:
    return [Order("at", max(least_slack, data.draw(SLACK)), data.draw(GROUPS)) for _ in range(2)]


def pairs(box: Box, kind: str, events: list[Event]) -> list[str]:
    """The pairs of a join, in a sequence that does not depend on when they were emitted."""
    schema = schema_with(kind)
    return sorted(map(repr, all_rows(kernel_for(box, (schema, schema)), schema, events)))


def texts(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def without_ts(box: Join, kind: str, events: list[Event]) -> list[dict[str, Any]]:
    schema = schema_with(kind)
    rows = all_rows(kernel_for(box, (schema, schema)), schema, events)
    return [{name: value for name, value in row.items() if name != TS} for row in rows]


HOWS = ("left", "right", "full", "semi", "anti")
EQUATED = {
    "left.g = right.g": ("g",),
    "left.h = right.h": ("h",),
    "left.g = right.g and right.h = left.h": ("g", "h"),
    "left.g = right.g and left.x < right.x": ("g",),
    "left.x < right.x": (),
    "left.n + right.n > 0 or left.g is null": (),
    "true": (),
}
"""Predicates, each with the attributes by which both sides may be grouped."""


def drawn_outer_join(data: st.DataObject, how: str | None = None) -> tuple[Join, str]:
    """A join whose predicate equates all attributes that are grouped by, and the type of its orders."""
    kind, predicate = data.draw(ORDER_TYPE), data.draw(st.sampled_from(sorted(EQUATED)))
    groups = st.lists(st.sampled_from(EQUATED[predicate]), unique=True) if EQUATED[predicate] else st.just([])
    orders = [Order("at", data.draw(SLACK), tuple(data.draw(groups))) for _ in range(2)]
    size = data.draw(st.sampled_from(SIZES[kind]))
    return Join(predicate, size, *orders, how=how or data.draw(st.sampled_from(HOWS))), kind


@given(st.data())
def test_join(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    predicate, size = data.draw(st.sampled_from(PREDICATES)), data.draw(st.sampled_from(SIZES[kind]))
    agree(data, Join(predicate, size, *drawn_orders(data)), kind, data.draw(histories(kind)))


@given(st.data())
def test_outer_join(data: st.DataObject) -> None:
    box, kind = drawn_outer_join(data)
    agree(data, box, kind, data.draw(histories(kind)))


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_the_state_of_a_join_does_not_depend_on_when_a_settled_tuple_left(how: str) -> None:
    """The second right tuple meets the left one in one cut, and finds it gone in the other."""
    box = Join("left.x < right.x", 0, Order("at"), Order("at"), how=how)
    left, *rights = [Tuple({"at": 0, "g": "a", "h": 0.0, "x": x, "n": 0}, 0) for x in (0.1, 0.2, 0.2)]
    whole: list[Event] = [(0, [left]), (1, rights)]
    cut: list[Event] = [(0, [left]), (1, rights[:1]), (1, rights[1:])]
    schema = schema_with("int")
    assert by_kernel(box, schema, whole)[2][-1] == by_kernel(box, schema, cut)[2][-1]


@given(st.data())
def test_outer_joins_have_the_pairs_of_the_inner_one_and_the_rest_alone(data: st.DataObject) -> None:
    box, kind = drawn_outer_join(data, how="full")
    schema, events = schema_with(kind), data.draw(histories(kind))
    emitted = all_rows(kernel_for(box, (schema, schema)), schema, events)
    inner = [row for row in emitted if row["left_at"] is not None and row["right_at"] is not None]
    assert texts(inner) == pairs(replace(box, how="inner"), kind, events)
    for how in ("left", "right"):
        outer = [row for row in emitted if row[f"{how}_at"] is not None]
        assert texts(outer) == pairs(replace(box, how=how), kind, events)
    alone = [
        {name: row[f"left_{name}"] for name in schema.names} for row in emitted if row["right_at"] is None
    ]
    assert texts(alone) == texts(without_ts(replace(box, how="anti"), kind, events))


@given(st.data())
def test_semi_and_anti_part_the_left_tuples(data: st.DataObject) -> None:
    """Each left tuple that is not late comes once: as one that has a partner, or as one that has none."""
    box, kind = drawn_outer_join(data, how="semi")
    events = data.draw(histories(kind))
    found = [row for how in ("semi", "anti") for row in without_ts(replace(box, how=how), kind, events)]
    nobody = Join("false", box.size, box.left, Order("at"), how="anti")
    assert texts(found) == texts(without_ts(nobody, kind, events))


@given(st.data())
def test_the_pairs_of_a_join_do_not_depend_on_the_interleaving(data: st.DataObject) -> None:
    """Aurora 5.2.2.3: "produces the correct join result, regardless of the interleaving of input streams"."""
    kind = data.draw(ORDER_TYPE)
    predicate, size = data.draw(st.sampled_from(PREDICATES)), data.draw(st.sampled_from(SIZES[kind]))
    box = Join(predicate, size, *drawn_orders(data))
    left, right = data.draw(streams(kind)), data.draw(streams(kind))
    one, other = data.draw(interleavings(left, right)), data.draw(interleavings(left, right))
    assert pairs(box, kind, one) == pairs(box, kind, other)


@given(st.data())
def test_a_join_with_slack_is_a_join_after_bsort(data: st.DataObject) -> None:
    """The identity of Aurora 5.2.2.3: slack n = slack 0 after BSorts with slack n."""
    kind, orders = data.draw(ORDER_TYPE), drawn_orders(data, least_slack=1)
    predicate, size = data.draw(st.sampled_from(PREDICATES)), data.draw(st.sampled_from(SIZES[kind]))
    left, right = data.draw(streams(kind, oddity=0)), data.draw(streams(kind, oddity=0))
    in_order = [sorted_by(order, tuples, kind) for order, tuples in zip(orders, (left, right), strict=True)]
    after_sorts = Join(predicate, size, *(Order("at", 0, order.group_by) for order in orders))
    expected = pairs(after_sorts, kind, data.draw(interleavings(*in_order)))
    assert pairs(Join(predicate, size, *orders), kind, data.draw(interleavings(left, right))) == expected


def sorted_by(order: Order, tuples: list[Tuple], kind: str) -> list[Tuple]:
    """The tuples after a BSort."""
    schema = schema_with(kind)
    rows = all_rows(kernel_for(BSort(order), (schema,)), schema, [(0, tuples)])
    return [Tuple(row, row.pop(TS)) for row in rows]


@pytest.mark.parametrize("keys_per_tuple", [0, keys.INDEX_FROM])
@given(st.data())
def test_join_with_a_table(keys_per_tuple: int, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keys, "INDEX_FROM", keys_per_tuple)
        joins_with_a_table(data)


def joins_with_a_table(data: st.DataObject) -> None:
    kind, table_port = data.draw(ORDER_TYPE), data.draw(st.integers(0, 1))
    order = Order("at", data.draw(SLACK), data.draw(GROUPS))
    left, right = (order, None) if table_port == 1 else (None, order)
    predicate = data.draw(st.sampled_from(PREDICATES))
    how = data.draw(
        st.sampled_from(("inner", "left", "semi", "anti") if table_port == 1 else ("inner", "right"))
    )
    box = Join(predicate, None, left, right, how)
    if data.draw(st.booleans()):
        box = Join(predicate, None, how=how, table=("left", "right")[table_port])
    schema = schema_with(kind)
    kernel, machine = kernel_for(box, (schema, schema)), machine_of(box, (schema, schema))
    assert isinstance(machine, JoinMachine)
    seen, expected, state = Seen(), Seen(), kernel.start()
    rows = data.draw(streams(kind, most=8))
    for part in (rows[:3], rows[3:]):
        state = kernel.step(state, table_port, table_of(part, schema).drop_columns([TS]), 0).state
    for row in rows:
        machine.load(row.values)
    batches = data.draw(interleavings(data.draw(streams(kind)), []))
    ending = data.draw(st.integers(0, len(batches)))
    for number, (_, tuples) in enumerate(batches):
        if number == ending:
            state = kernel.flush(state, 0).state
            assert machine.flush(0) == []
        step = kernel.step(unpack(pack(state)), 1 - table_port, table_of(tuples, schema), 0)
        state = step.state
        seen.kernel(step, number)
        for at, arriving in enumerate(tuples):
            expected.reference(machine.push(1 - table_port, arriving, 0), number, at)
    expected.late = machine.late
    assert seen == expected


def drawn_asof(data: st.DataObject) -> tuple[AsOf, str]:
    """An as-of join whose predicate equates what the right side is grouped by, and the type of its orders."""
    kind, names = data.draw(ORDER_TYPE), data.draw(st.sampled_from([(), ("g",), ("h",), ("g", "h")]))
    left = Order("at", data.draw(SLACK), data.draw(GROUPS))
    groups = tuple(name for name in names if data.draw(st.booleans()))
    within = data.draw(st.sampled_from([None, *SIZES[kind]]))
    predicate = " and ".join(f"left.{name} = right.{name}" for name in names) or None
    how = data.draw(st.sampled_from(("left", "inner")))
    return AsOf(left, Order("at", data.draw(SLACK), groups), predicate, within, how), kind


@given(st.data())
def test_asof_join(data: st.DataObject) -> None:
    box, kind = drawn_asof(data)
    agree(data, box, kind, data.draw(histories(kind)))


@given(st.data())
def test_an_asof_join_does_not_depend_on_the_interleaving(data: st.DataObject) -> None:
    """What is the latest depends on the streams alone, except where equals come in another order."""
    box, kind = drawn_asof(data)
    left, right = data.draw(streams(kind)), data.draw(streams(kind))
    one, other = data.draw(interleavings(left, right)), data.draw(interleavings(left, right))
    assert pairs(box, kind, one) == pairs(box, kind, other)


@given(st.data())
def test_resample(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    functions = data.draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=5, unique=True))
    size = data.draw(st.sampled_from(SIZES[kind]))
    left, right = Order("at", data.draw(SLACK)), Order("at", data.draw(SLACK), data.draw(GROUPS))
    named = {f"f{index}": text for index, text in enumerate(functions)}
    keep = tuple(name for name in ("x", "n") if name not in right.group_by and data.draw(st.booleans()))
    box = Resample(named, size, left, right, None, keep, data.draw(st.booleans()))
    agree(data, box, kind, data.draw(histories(kind)))


def drawn_keyed_resample(data: st.DataObject) -> tuple[Resample, str]:
    """A Resample whose left tuples ask the group with their key, and the type of its orders."""
    kind, names = data.draw(ORDER_TYPE), data.draw(st.sampled_from([("g",), ("h",), ("h", "g")]))
    functions = data.draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=4, unique=True))
    left = Order("at", data.draw(SLACK), tuple(name for name in names if data.draw(st.booleans())))
    right = Order("at", data.draw(SLACK), names)
    predicate = " and ".join(f"left.{name} = right.{name}" for name in sorted(names))
    named = {f"f{index}": text for index, text in enumerate(functions)}
    size = data.draw(st.sampled_from(SIZES[kind]))
    return Resample(named, size, left, right, predicate, ("x",), data.draw(st.booleans())), kind


@given(st.data())
def test_keyed_resample(data: st.DataObject) -> None:
    box, kind = drawn_keyed_resample(data)
    agree(data, box, kind, data.draw(histories(kind)))


@given(st.data())
def test_a_keyed_resample_does_not_depend_on_the_interleaving(data: st.DataObject) -> None:
    """Unlike one that asks all groups: a left tuple waits for its own group."""
    box, kind = drawn_keyed_resample(data)
    left, right = data.draw(streams(kind)), data.draw(streams(kind))
    one, other = data.draw(interleavings(left, right)), data.draw(interleavings(left, right))
    assert pairs(box, kind, one) == pairs(box, kind, other)
