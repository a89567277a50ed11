"""BSort, WSort and Drop, by hand."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from tests.kernels.streams import Running, batch, rows

from australis import NetworkBuilder, Progress
from australis.algebra.boxes import BSort, Drop, WSort
from australis.algebra.order import Order
from australis.algebra.schema import TS, parse_schema
from australis.kernels.kernel import CAUSE, REASON
from australis.kernels.run import PipelineRun

SCHEMA = parse_schema("a int, g string")


def test_bsort_of_the_paper() -> None:
    """Figure 8 of Aurora: slack 2 over 1, 3, 1, 2, 4, 4, 8, 3, 4, 4."""
    running = Running(BSort(Order("a", slack=2)), SCHEMA)
    given = batch(SCHEMA, *((value, "x") for value in (1, 3, 1, 2, 4, 4, 8, 3, 4, 4)))
    step = running.step(given)
    assert rows(step.outputs[0], "a") == [1, 1, 2, 3, 4, 3, 4, 4]
    assert rows(step.outputs[0], CAUSE) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert rows(step.outputs[0], TS) == [0, 2, 3, 1, 4, 7, 5, 8]
    assert step.late == 1
    assert rows(running.flush().outputs[0], "a") == [4, 8]


def test_bsort_keeps_groups_apart_and_rejects() -> None:
    running = Running(BSort(Order("a", slack=1, group_by=("g",))), SCHEMA)
    step = running.step(batch(SCHEMA, (5, "x"), (None, "x"), (1, "y"), (4, "x"), (9, None), (0, "y")))
    assert rows(step.outputs[0]) == [(4, "x"), (0, "y")]
    assert rows(step.outputs[0], CAUSE) == [3, 5]
    assert step.rejected is not None
    assert rows(step.rejected, REASON) == ["'a' is NULL, which has no place in an order"]
    assert rows(running.flush().outputs[0]) == [(1, "y"), (5, "x"), (9, None)]


def test_wsort_lets_go_what_waited_too_long_and_all_before_it() -> None:
    running = Running(WSort(("a",), "10 us"), SCHEMA)
    running.step(batch(SCHEMA, (5, "x"), (9, "x")), now=0)
    running.step(batch(SCHEMA, (7, "y"), (5, "y")), now=4)
    assert running.deadline == 11
    assert running.tick(10).outputs[0].num_rows == 0
    assert rows(running.tick(11).outputs[0]) == [(5, "x"), (5, "y"), (7, "y"), (9, "x")]
    late = running.step(batch(SCHEMA, (8, "z"), (9, "z"), (None, "z")), now=12)
    assert late.late == 1
    assert late.rejected is not None
    assert rows(running.flush(12).outputs[0]) == [(9, "z")]


def test_wsort_ties_after_the_tuple_that_is_due_stay() -> None:
    running = Running(WSort(("a",), "10 us"), SCHEMA)
    running.step(batch(SCHEMA, (5, "x")), now=0)
    running.step(batch(SCHEMA, (5, "y"), (4, "y")), now=1)
    assert rows(running.tick(11).outputs[0]) == [(4, "y"), (5, "x")]
    assert running.step(batch(SCHEMA, (5, "z")), now=11).late == 0
    assert rows(running.flush(11).outputs[0]) == [(5, "y"), (5, "z")]


def test_wsort_order_of_doubles_and_texts() -> None:
    schema = parse_schema("x double, s string")
    running = Running(WSort(("x", "s"), "1 s"), schema)
    given = [(math.nan, "a"), (math.inf, "é"), (math.inf, "z"), (-0.0, "b"), (0.0, "a")]
    running.step(batch(schema, *given))
    assert rows(running.flush().outputs[0], "s") == ["a", "b", "z", "é", "a"]


@pytest.mark.parametrize(("rate", "kept"), [(0.0, [0, 1, 2, 3]), (1.0, []), (0.5, [0, 3])])
def test_drop_numbers_continue_over_batches(rate: float, kept: list[int]) -> None:
    """SplitMix64 of seed 0 makes 0.88, 0.43, 0.03, 0.97 of the numbers 0 to 3."""
    whole = Running(Drop(rate), SCHEMA).step(batch(SCHEMA, (0, ""), (1, ""), (2, ""), (3, "")))
    assert rows(whole.outputs[0], CAUSE) == kept
    running = Running(Drop(rate), SCHEMA)
    pieces = [running.step(batch(SCHEMA, (number, ""))).outputs[0] for number in range(4)]
    assert [value for piece in pieces for value in rows(piece, "a")] == kept


@pytest.mark.parametrize("then", [(), ("u DESC",)])
def test_tuples_of_one_cause_that_a_mark_has_passed_leave_as_they_came(then: tuple[str, ...]) -> None:
    """They come out of one tuple; a sort would change their sequence."""
    net = NetworkBuilder("passed")
    stream = net.input("s", "at long not null, tags string", progress=Progress("at", slack=0))
    stream.unnest("split(tags, ',')", "u").bsort(Order("at", by="progress"), then=then).output("sorted")
    run = PipelineRun(net.build())
    late = pa.table({"at": [9, 3, 9], "tags": ["x", "b,c,a", "y"]})
    assert run.push("s", late, 0)["sorted"]["u"].to_pylist() == ["x", "b", "c", "a", "y"]
