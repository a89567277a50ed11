"""Tuples that make a box fail, one by one: how many attempts that takes, and when nobody is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from australis import register_aggregate, register_function
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import QUARANTINE
from australis.algebra.order import Order
from australis.engine.worker import sifting
from australis.engine.worker.sifting import IN_A_ROW_MOST, Piece, Sieve
from australis.engine.worker.waybill import TimeSlice
from australis.errors import KernelError
from australis.kernels.kernel import CAUSE
from australis.kernels.pipeline import Passage, Pipeline

BAD = -1


def picky(values: pa.Array) -> pa.Array:
    if pc.any(pc.equal(values, BAD)).as_py():
        raise ValueError("is bad")
    return values


def pipeline() -> Pipeline:
    register_function("test_sifting:picky", picky, takes=("long",), returns="long")
    net = NetworkBuilder("n")
    stream = net.input("s", "x long").map({"y": "`test_sifting:picky`(x)"}, as_="picky")
    stream.output("out")
    return Pipeline(net.build())


def failing_total(part: str) -> Pipeline:
    """A sum of windows of two, one of whose parts raises for a bad value."""

    def fail_on_bad(state: int, *value: int) -> int:
        if BAD in (state, *value):
            raise ValueError("is bad")
        return sum(value, state)

    parts: dict[str, Callable[..., int]] = {"incr": lambda state, x: state + x, "final": lambda state: state}
    parts[part] = fail_on_bad
    register_aggregate("test_sifting:total", init=int, takes=("long",), returns="long", **parts)  # type: ignore[arg-type]
    net = NetworkBuilder("n")
    stream = net.input("s", "at long, x long")
    stream.aggregate({"y": "`test_sifting:total`(x)"}, Order("at"), size=2, as_="total").output("out")
    return Pipeline(net.build())


def rows(numbers: list[int] | range, **columns: list[int]) -> dict[str, pa.Table]:
    ts = pa.array(numbers, pa.timestamp("us", "UTC"))
    return {"s": pa.table({**columns, "#ts": ts, CAUSE: pa.array(numbers, pa.int64())})}


def sifted(
    made: Pipeline, arrivals: dict[str, pa.Table], *, ending: bool = False
) -> tuple[list[int], list[tuple[int, str, str]]]:
    """What came out, and what was set aside: number, reason and tuple."""
    time_slice = TimeSlice(0, 1 << 40, 0, 0, ending)
    passages = list(Sieve(made).advance(made.start(), Piece(arrivals, {}), time_slice))
    out = [y for each in passages for y in each.outputs.get("out", {"y": pa.array([])})["y"].to_pylist()]
    found = [row for each in passages for row in each.outputs[QUARANTINE].to_pylist()]
    assert {row["path"] for row in found} <= {"n.picky", "n.total"}
    return out, [(row[CAUSE], row["reason"], row["tuple"]) for row in found]


@pytest.fixture
def attempts() -> Iterator[list[int]]:
    """The numbers of tuples that pipelines were given, one for each attempt."""
    advance, seen = Pipeline.advance, []

    def counted(self: Pipeline, *given: object, **more: bool) -> Passage:
        seen.append(sum(table.num_rows for table in given[1].values()))  # type: ignore[attr-defined]
        return advance(self, *given, **more)  # type: ignore[arg-type]

    with patch.object(Pipeline, "advance", counted):
        yield seen


def test_what_is_sound_passes_at_once(attempts: list[int]) -> None:
    assert sifted(pipeline(), rows(range(5), x=[1, 2, 3, 4, 5])) == ([1, 2, 3, 4, 5], [])
    assert attempts == [5]


def test_those_that_fail_are_set_aside_with_the_reason() -> None:
    out, aside = sifted(pipeline(), rows([3, 4, 7, 9], x=[1, BAD, 3, BAD]))
    reason = "`test_sifting:picky` failed: ValueError: is bad, given (-1)"
    assert (out, aside) == ([1, 3], [(4, reason, '{"x": -1}'), (9, reason, '{"x": -1}')])


def test_tuples_of_one_number_are_told_apart() -> None:
    out, aside = sifted(pipeline(), rows([3, 3, 3, 3, 3], x=[1, BAD, 3, BAD, 5]))
    assert (out, [number for number, _, _ in aside]) == ([1, 3, 5], [3, 3])


def test_a_hundred_of_a_hundred_thousand_take_a_few_thousand_attempts(attempts: list[int]) -> None:
    values = [BAD if row % 1000 == 500 else row for row in range(100_000)]
    out, aside = sifted(pipeline(), rows(range(100_000), x=values))
    assert (len(out), len(aside)) == (99_900, 100)
    assert len(attempts) < 100 * 2 * 17
    assert sum(attempts) < 12 * len(values), "the whole is gone through about ten times"


def test_an_aggregate_does_without_the_tuple_that_it_fails_on() -> None:
    out, aside = sifted(failing_total("incr"), rows(range(5), at=[0, 1, 1, 2, 4], x=[5, BAD, 7, 1, 1]))
    assert (out, [number for number, _, _ in aside]) == ([12, 1], [1])


def test_nobody_is_set_aside_where_the_end_of_the_streams_fails() -> None:
    with pytest.raises(
        KernelError,
        match=r"^n\.total: `test_sifting:total` failed: ValueError: is bad, given \(the state .*\)$",
    ):
        sifted(failing_total("final"), rows([0, 1], at=[0, 1], x=[0, BAD]), ending=True)


def test_many_failures_in_a_row_are_not_the_fault_of_the_tuples() -> None:
    every = IN_A_ROW_MOST + 1
    with pytest.raises(
        KernelError, match=r"^n\.picky: 1,000 tuples in a row failed.*ValueError: is bad, given \(-1\)$"
    ):
        sifted(pipeline(), rows(range(every), x=[BAD] * every))
    with patch.object(sifting, "IN_A_ROW_MOST", 2):
        out, aside = sifted(pipeline(), rows(range(6), x=[BAD, BAD, 1, BAD, BAD, 2]))
    assert (out, len(aside)) == ([1, 2], 4)


def test_an_error_that_nobody_foresaw_names_the_box() -> None:
    made = pipeline()
    with (
        patch.object(made.kernels["picky"], "step", side_effect=ZeroDivisionError("by zero")),
        patch.object(sifting, "IN_A_ROW_MOST", 0),
        pytest.raises(KernelError, match=r"^n\.picky: .*failed: ZeroDivisionError: by zero$"),
    ):
        sifted(made, rows([1], x=[1]))


def test_memory_is_no_fault_of_a_tuple() -> None:
    made = pipeline()
    with (
        patch.object(made.kernels["picky"], "step", side_effect=MemoryError("all is used")),
        pytest.raises(MemoryError, match="all is used"),
    ):
        sifted(made, rows([1, 2], x=[1, 2]))
