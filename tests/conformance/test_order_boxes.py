"""The kernels of the ordered boxes with one input do what the reference does, however batches are cut."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from tests.conformance.events import Batch, batch_of, kernels, reference, rows_of

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Distinct,
    Drop,
    Slide,
    Top,
    Tumble,
    WSort,
    XSection,
)
from australis.algebra.order import Order
from australis.algebra.schema import TS, TUP, Schema, parse_schema
from australis.algebra.user_functions import register_aggregate, register_arrow_aggregate
from australis.errors import AlgebraError
from australis.kernels.kernel import CAUSE
from australis.kernels.make import kernel_for
from australis.kernels.windows import open_windows

FUNCTIONS = (
    "count(*)",
    "count(x)",
    "sum(x)",
    "sum(n)",
    "sum(d)",
    "avg(x)",
    "avg(d)",
    "min(x)",
    "max(s)",
    "min(d)",
    "max(b)",
    "first(s)",
    "last(x)",
    "stddev(x)",
    "median(x)",
    "var_pop(x)",
    "stddev_pop(n)",
    "corr(x, n)",
    "max_by(s, x)",
    "min_by(x, s)",
    "first(s order by x desc)",
    "first(x order by s, n desc, d)",
    "last(n order by b, x)",
    "last(x order by s desc) filter (where b)",
    "array_join(collect_list(s, 2), '|')",
    "array_join(collect_set(s, 2), '|')",
    "element_at(collect_set(cast(n as string), 3) filter (where b), -1)",
    "size(collect_list(cast(d as string), 40))",
    "approx_count_distinct(s)",
    "percentile_sketch(x, 0.4)",
    "sum(x) / count(*)",
    "first(s) filter (where b)",
    "coalesce(median(x) filter (where n > 0), max(x) - min(x))",
    "percentile(x, 0.3)",
    "count(distinct s)",
    "count(distinct x)",
    "`order_boxes:joined`(s, x)",
    "`order_boxes:typed`(s, d)",
    "`order_boxes:listed`(s, x)",
    "`order_boxes:weighed`(x, n)",
    "sum(n * 2 + 1)",
)
SIZES: dict[str, list[tuple[Any, Any]]] = {
    "int": [(4, None), (6, 2), (2, 5), (5, 3), (1, 1)],
    "long": [(4, None), (6, 2), (2, 5), (7, 1)],
    "decimal(9,2)": [(0.04, None), (0.06, 0.02), (0.05, 0.03)],
    "timestamp": [("4 us", None), ("6 us", "2 us"), ("2 us", "5 us")],
    "double": [(0.4, None), (0.6, 0.2), (0.2, 0.5), (0.7, 0.1), (0.3, 0.1), (1e-300, 0.1)],
}
OFFSETS: dict[str, list[Any]] = {
    "int": [0, 1, 2],
    "long": [1, 3],
    "decimal(9,2)": [0.01, 0.02],
    "timestamp": ["1 us", "3 us"],
    "double": [0.1, 0.3],
}
ORDER_TYPES = tuple(SIZES)

register_aggregate(
    "order_boxes:joined",
    init=lambda: [0, ""],
    incr=lambda state, text, number: [state[0] + 1, f"{state[1]}{text}{number}"],
    final=lambda state: f"{state[0]}:{state[1]}",
    combine=lambda one, other: [one[0] + other[0], one[1] + other[1]],
    takes=("string", "double"),
    returns="string",
)
register_aggregate(
    "order_boxes:typed",
    init=lambda: {"total": Decimal("0.00"), "seen": [], "raw": b""},
    incr=lambda state, text, number: {
        "total": state["total"] + (number or 0),
        "seen": [*state["seen"], {"text": text, "number": number}],
        "raw": state["raw"] + bytes([len(state["seen"]) % 256]),
    },
    final=lambda state: f"{state['total']}{state['seen']}{state['raw'].hex()}",
    takes=("string", "decimal(6,2)"),
    returns="string",
    state=pa.struct(
        {
            "total": pa.decimal128(38, 2),
            "seen": pa.list_(pa.struct({"text": pa.string(), "number": pa.decimal128(6, 2)})),
            "raw": pa.binary(),
        }
    ),
)


def _listed(
    states: pa.RecordBatch, windows: pa.Array, texts: pa.Array, numbers: pa.Array
) -> dict[str, pa.Array]:
    """Lists of structs in the state, row by row: nothing here is about speed."""
    seen, counts = states["seen"].to_pylist(), states["n"].to_pylist()
    for window, text, number in zip(*(each.to_pylist() for each in (windows, texts, numbers)), strict=True):
        seen[window] = [*seen[window], {"text": text, "number": number}]
        counts[window] += 1
    return {"seen": pa.array(seen, states["seen"].type), "n": pa.array(counts, pa.int32())}


def _lists_joined(states: pa.RecordBatch, following: pa.RecordBatch) -> dict[str, pa.Array]:
    both = zip(states["seen"].to_pylist(), following["seen"].to_pylist(), strict=True)
    counts = pc.add(states["n"], following["n"])
    return {"seen": pa.array([one + other for one, other in both], states["seen"].type), "n": counts}


register_arrow_aggregate(
    "order_boxes:listed",
    state={
        "n": pa.int32(),
        "seen": pa.list_(pa.struct({"text": pa.string(), "number": pa.float64()})),
    },
    init={"n": 0, "seen": []},
    update=_listed,
    combine=_lists_joined,
    finish=lambda states: pa.array([str(state) for state in states.to_pylist()], pa.string()),
    takes=("string", "double"),
    returns="string",
)


def _weighed(
    states: pa.RecordBatch, windows: pa.Array, values: pa.Array, weights: pa.Array
) -> dict[str, npt.NDArray[np.float64]]:
    """Sums that are added in the order of the rows, so that cuts do not change them."""
    total, weight = (states[name].to_numpy().copy() for name in ("total", "weight"))
    factors = weights.fill_null(0).to_numpy().astype(np.float64)
    with np.errstate(all="ignore"):
        np.add.at(total, windows.to_numpy(), values.fill_null(0.0).to_numpy() * factors)
        np.add.at(weight, windows.to_numpy(), factors)
    return {"total": total, "weight": weight}


register_arrow_aggregate(
    "order_boxes:weighed",
    state={"total": pa.float64(), "weight": pa.float64()},
    init={"total": 0.0, "weight": 0.0},
    update=_weighed,
    finish=lambda states: pc.divide(states["total"], states["weight"]),
    takes=("double", "long"),
    returns="double",
)


def schema_with(order_type: str) -> Schema:
    return parse_schema(
        f"at {order_type}, g string, h double, x double, n long, d decimal(6,2), s string, b boolean"
    )


def order_value(order_type: str, number: int) -> Any:
    """The order value that stands for a small whole number."""
    if order_type == "double":
        return number / 10
    return Decimal(number).scaleb(-2) if order_type.startswith("decimal") else number


def odd_values(order_type: str) -> list[Any]:
    """Order values without a place, or near the end of what has one."""
    if order_type == "double":
        return [None, math.nan, math.inf, -math.inf, 2.0**62, -0.0, 1e15]
    if order_type in ("long", "timestamp"):
        return [None, 2**62, -(2**62), 2**62 - 1, 1 - 2**62, 2**63 - 1]
    return (
        [None, Decimal("9999999.99"), Decimal("-9999999.99")]
        if order_type[0] == "d"
        else [None, 2**31 - 1, -(2**31)]
    )


DOUBLES = [None, 0.1, 0.2, -0.3, 1e16, -1e16, 0.0, -0.0, 5.5, math.nan, math.inf]
ATTRIBUTES: dict[str, list[Any]] = {
    "g": ["a", "a", "a", "b", None],
    "h": [0.0, 0.0, -0.0, math.nan, None],
    "x": DOUBLES,
    "n": [None, 0, 1, -7, 2**63 - 1],
    "d": [None, Decimal("0.01"), Decimal("-0.02"), Decimal("9999.99"), Decimal("-9999.99")],
    "s": [None, "", "z", "é", "\uffff", "\U0001f600"],
    "b": [None, False, True],
}
STEPS, DISORDER = [0, 0, 1, 2], [0, 0, 0, 1, 2, 4, 7]


def row_of(order_type: str, at: int, choices: int, oddity: int) -> tuple[int, dict[str, Any]]:
    """The tuple that a whole number describes, after one with the order number `at`, and its own."""

    def choose(options: list[Any]) -> Any:
        nonlocal choices
        choices, index = divmod(choices, len(options))
        return options[index]

    at += choose(STEPS)
    number = at - choose(DISORDER)
    values = {name: choose(options) for name, options in ATTRIBUTES.items()}
    is_odd = choose([False] * oddity + [True])
    value = choose(odd_values(order_type)) if is_odd else order_value(order_type, number)
    return at, {"at": value, **values}


@st.composite
def histories(draw: st.DrawFn, order_type: str, oddity: int = 12) -> list[Batch]:
    """Batches of tuples that come nearly in order, with the passing of time between them."""
    batches, clock, at = [], 0, draw(st.integers(-6, 6))
    for passing in draw(st.lists(st.sampled_from([0, 1, 2, 3, 10]), min_size=1, max_size=5)):
        rows = []
        for choices in draw(st.lists(st.integers(0, 2**40), max_size=12)):
            at, row = row_of(order_type, at, choices, oddity)
            rows.append((row, clock - choices % 3))
        clock += passing
        batches.append(Batch(tuple(rows), clock))
    return batches


def fitting(box: Box, schema: Schema) -> Schema:
    """The schema, if the box fits it: an offset may be more than the advance."""
    try:
        box.output_schemas(schema)
    except AlgebraError:
        reject()
    return schema


ORDER_TYPE = st.sampled_from(ORDER_TYPES)
GROUPS = st.sampled_from([(), ("g",), ("g", "h"), ("h",)])
CHOSEN = st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=5, unique=True)
TIMEOUTS = st.sampled_from([None, "1 us", "2 us", "4 us"])
END = 40


def named(functions: list[str]) -> dict[str, str]:
    return {f"f{index}": text for index, text in enumerate(functions)}


def agree(
    draw: st.DataObject,
    box: Box,
    schema: Schema,
    history: list[Batch],
    timezone: str = "UTC",
    *,
    same_states: bool = True,
) -> None:
    """The kernel does what the reference does, and other cuts change neither its output nor its state."""
    end = max((batch.now for batch in history), default=0) + draw.draw(st.sampled_from([0, 5]))
    pairs_most, overlap_least = draw.draw(st.sampled_from([1 << 22, 5])), draw.draw(st.sampled_from([1, 16]))
    with mock.patch.multiple(open_windows, PAIRS_MOST=pairs_most, OVERLAP_LEAST=overlap_least):
        seen, states = kernels(box, schema, history, end, timezone)
    assert seen == reference(box, schema, history, end, timezone)
    cuts = [draw.draw(st.integers(0, len(batch.rows))) for batch in history]
    pieces = [piece for batch, at in zip(history, cuts, strict=True) for piece in batch.cut(at)]
    cut_seen, cut_states = kernels(box, schema, pieces, end, timezone)
    assert cut_seen == reference(box, schema, pieces, end, timezone)
    assert cut_states[1::2] == states or not same_states


@given(st.data())
def test_bsort(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    then = data.draw(st.sampled_from([(), (), ("x DESC",), ("s", "n DESC"), ("b DESC", "h")]))
    slack = (
        data.draw(st.integers(0, 4)) if kind != "timestamp" else data.draw(st.sampled_from([0, 2, "3 us"]))
    )
    box = BSort(Order("at", slack, data.draw(GROUPS)), then)
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


@given(st.data())
def test_aggregate_with_an_advance(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    size, advance = data.draw(st.sampled_from(SIZES[kind]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(GROUPS))
    align = data.draw(st.booleans())
    offset = data.draw(st.sampled_from([None, *OFFSETS[kind]])) if align else None
    shape = {"align": align, "offset": offset, "empty": data.draw(st.booleans())}
    box = Aggregate(named(data.draw(CHOSEN)), order, size, advance, **shape)
    agree(data, box, fitting(box, schema_with(kind)), data.draw(histories(kind)))


@given(st.data())
def test_aggregate_with_a_timeout(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    size, advance = data.draw(st.sampled_from(SIZES[kind]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(st.sampled_from([(), ("g",)])))
    timeout, align = data.draw(TIMEOUTS), data.draw(st.booleans())
    shape = {"timeout": timeout, "align": align, "empty": data.draw(st.booleans())}
    box = Aggregate(named(data.draw(CHOSEN)), order, size, advance, **shape)
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


@given(st.data())
def test_aggregate_with_advance_when(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    size, _ = data.draw(st.sampled_from(SIZES[kind]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(st.sampled_from([(), ("g",)])))
    functions, timeout = named(data.draw(CHOSEN)), data.draw(TIMEOUTS)
    box = Aggregate(functions, order, size, advance_when="b", timeout=timeout)
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


def test_a_window_that_times_out_leaves_the_values_it_shared() -> None:
    """The window at 5 begins first, since its tuple overtook that of the window at 3, which contains it."""
    blank = dict.fromkeys(schema_with("int").names)
    arrivals = [(5, True, 0), (3, True, 1), (6, False, 1), (7, False, 1), (8, False, 3), (20, False, 3)]
    rows = [({**blank, "at": at, "b": opens, "x": float(at)}, now) for at, opens, now in arrivals]
    history = [Batch((row,), row[1]) for row in rows]
    functions = named(["median(x)", "count(distinct x)", "sum(x)"])
    box = Aggregate(functions, Order("at", 2), 10, advance_when="b", timeout="2 us")
    seen, _ = kernels(box, schema_with("int"), history, 3)
    assert seen == reference(box, schema_with("int"), history, 3)
    assert len(seen.emitted) == 2


@given(st.data())
def test_aggregate_over_sessions(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    gap, _ = data.draw(st.sampled_from(SIZES[kind]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(st.sampled_from([(), ("g",)])))
    functions, timeout = named(data.draw(CHOSEN)), data.draw(TIMEOUTS)
    box = Aggregate(functions, order, session=gap, timeout=timeout)
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


@given(st.data())
def test_aggregate_over_tuple_numbers(data: st.DataObject) -> None:
    size, advance = data.draw(st.sampled_from([(3, None), (4, 2), (2, 3), (1, None)]))
    order = Order(TUP, group_by=data.draw(GROUPS))
    timeout, align = data.draw(TIMEOUTS), data.draw(st.booleans())
    when = data.draw(st.sampled_from([None, None, "b"]))
    functions = named(data.draw(CHOSEN))
    if when is None:
        box = Aggregate(functions, order, size, advance, timeout=timeout, align=align)
    else:
        box = Aggregate(functions, order, size, advance_when=when, timeout=timeout)
    agree(data, box, schema_with("int"), data.draw(histories("int")))


@given(st.data())
def test_composed_boxes(data: st.DataObject) -> None:
    functions = named(data.draw(CHOSEN))
    slack = data.draw(st.integers(0, 2))
    boxes = [
        Slide(functions, 4, 2),
        Slide(functions, 6, 2, Order("at", slack, ("g",))),
        XSection(functions, "at", 3, slack),
    ]
    agree(data, data.draw(st.sampled_from(boxes)), schema_with("long"), data.draw(histories("long")))


@given(st.data())
def test_top(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    size, advance = data.draw(st.sampled_from(SIZES[kind]))
    order = Order("at", data.draw(st.integers(0, 3)), data.draw(GROUPS))
    by = data.draw(st.sampled_from([("x DESC",), ("s", "n DESC"), ("b DESC", "d"), ("at DESC",), ("h",)]))
    when = data.draw(st.sampled_from([None, None, "b"]))
    shape = {"advance_when": when} if when else {"advance": advance, "align": data.draw(st.booleans())}
    box = Top(data.draw(st.integers(1, 4)), by, order, size, timeout=data.draw(TIMEOUTS), **shape)
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


@given(st.data())
def test_tumble(data: st.DataObject) -> None:
    keys = data.draw(st.sampled_from([("g",), ("g", "h"), ("h",)]))
    box = Tumble(named(data.draw(CHOSEN)), keys, data.draw(TIMEOUTS))
    agree(data, box, schema_with("int"), data.draw(histories("int")))


@given(st.data())
def test_distinct(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    size, _ = data.draw(st.sampled_from(SIZES[kind]))
    by, group_by = data.draw(st.sampled_from([(("g",), ()), (("g",), ("g",)), (("b", "h"), ("h",))]))
    box = Distinct(by, Order("at", data.draw(st.integers(0, 3)), group_by), size)
    # A key that is forgotten and comes again has another number, if it was forgotten in between.
    agree(data, box, schema_with(kind), data.draw(histories(kind)), same_states=False)


@given(st.data())
def test_wsort(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    choices = [("at",), ("g", "at"), ("h", "s"), ("b", "x"), ("d",), ("x DESC",), ("g", "at desc", "h DESC")]
    by = data.draw(st.sampled_from(choices))
    box = WSort(by, data.draw(st.sampled_from(["1 us", "2 us", "6 us"])))
    agree(data, box, schema_with(kind), data.draw(histories(kind)))


@given(st.data())
def test_drop(data: st.DataObject) -> None:
    rate = data.draw(st.floats(0.0, 1.0))
    box = Drop(rate, data.draw(st.integers(-(2**64), 2**64)))
    agree(data, box, schema_with("int"), data.draw(histories("int")))


@given(st.data())
def test_aggregate_with_slack_is_aggregate_after_bsort(data: st.DataObject) -> None:
    """The identity of Aurora 5.2.2.2: slack n = slack 0 after a BSort with slack n."""
    kind = data.draw(ORDER_TYPE)
    schema, history = schema_with(kind), data.draw(histories(kind, oddity=1000))
    size, advance = data.draw(st.sampled_from(SIZES[kind]))
    slack, groups, functions = data.draw(st.integers(1, 4)), data.draw(GROUPS), named(data.draw(CHOSEN))
    direct = Aggregate(functions, Order("at", slack, groups), size, advance)
    expected = all_rows(direct, schema, [batch_of(batch, schema) for batch in history])
    sort = kernel_for(BSort(Order("at", slack, groups)), (schema,))
    state, sorted_batches = sort.start(), []
    for batch in history:
        step = sort.step(state, 0, batch_of(batch, schema), batch.now)
        sorted_batches.append(step.outputs[0].drop_columns([CAUSE]))
        state = step.state
    rest = sort.flush(state, 0).outputs[0].drop_columns([CAUSE])
    after_sort = Aggregate(functions, Order("at", 0, groups), size, advance)
    assert sorted(all_rows(after_sort, schema, [*sorted_batches, rest])) == sorted(expected)


def all_rows(box: Box, schema: Schema, batches: list[Any]) -> list[str]:
    """All that a kernel emits, without causes."""
    kernel = kernel_for(box, (schema,))
    state, found = kernel.start(), []
    for batch in batches:
        step = kernel.step(state, 0, batch, 0)
        state, found = step.state, found + rows_of(step.outputs[0].drop_columns([CAUSE]))
    found += rows_of(kernel.flush(state, 0).outputs[0].drop_columns([CAUSE]))
    return [repr(row) for row in found]


@pytest.mark.parametrize("kind", ORDER_TYPES)
def test_a_state_survives_an_empty_history(kind: str) -> None:
    schema = schema_with(kind)
    box = Aggregate({"c": "count(*)"}, Order("at"), SIZES[kind][0][0], timeout="1 us")
    seen, _ = kernels(box, schema, [Batch((), 0), Batch((), 5)], END)
    assert seen.emitted == []
    assert TS in batch_of(Batch((), 0), schema).column_names
