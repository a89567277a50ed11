"""The kernels of Join and Resample do what the reference does, however batches are cut."""

from __future__ import annotations

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

from australis.algebra.boxes import Box, BSort, Join, Resample
from australis.algebra.order import Order
from australis.algebra.schema import TS
from australis.kernels.make import kernel_for
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


def pairs(box: Join, kind: str, events: list[Event]) -> list[str]:
    """The pairs of a join, in a sequence that does not depend on when they were emitted."""
    schema = schema_with(kind)
    return sorted(map(repr, all_rows(kernel_for(box, (schema, schema)), schema, events)))


@given(st.data())
def test_join(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    predicate, size = data.draw(st.sampled_from(PREDICATES)), data.draw(st.sampled_from(SIZES[kind]))
    agree(data, Join(predicate, size, *drawn_orders(data)), kind, data.draw(histories(kind)))


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


@given(st.data())
def test_join_with_a_table(data: st.DataObject) -> None:
    kind, table_port = data.draw(ORDER_TYPE), data.draw(st.integers(0, 1))
    order = Order("at", data.draw(SLACK), data.draw(GROUPS))
    left, right = (order, None) if table_port == 1 else (None, order)
    box = Join(data.draw(st.sampled_from(PREDICATES)), None, left, right)
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


@given(st.data())
def test_resample(data: st.DataObject) -> None:
    kind = data.draw(ORDER_TYPE)
    functions = data.draw(st.lists(st.sampled_from(FUNCTIONS), min_size=1, max_size=5, unique=True))
    size = data.draw(st.sampled_from(SIZES[kind]))
    left, right = Order("at", data.draw(SLACK)), Order("at", data.draw(SLACK), data.draw(GROUPS))
    box = Resample({f"f{index}": text for index, text in enumerate(functions)}, size, left, right)
    agree(data, box, kind, data.draw(histories(kind)))
