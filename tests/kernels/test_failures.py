"""A run of kernels that fails names the tuple to blame, if there is one, and is as it was before."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from australis import NetworkBuilder, Order, register_arrow_aggregate, register_function
from australis.errors import KernelError
from australis.kernels import PipelineRun


def picky(values: pa.Array) -> pa.Array:
    if pc.any(pc.less(values, 0)).as_py():
        raise ValueError("is negative")
    return values


def lonely(values: pa.Array) -> pa.Array:
    """Fails for rows only together, which no function should."""
    if len(values) > 1:
        raise ValueError("is crowded")
    return values


def refuse(states: pa.RecordBatch, windows: pa.Array, values: pa.Array) -> dict[str, pa.Array]:
    picky(values)
    return {"n": states["n"]}


def run_of(function: str) -> PipelineRun:
    net = NetworkBuilder("n")
    stream = net.input("s", "t long, x long").map({"t": "t", "x": f"`failures:{function}`(x)"}, as_="first")
    stream.aggregate({"n": "count(*)"}, Order("t"), size=100, as_="total").output("out")
    return PipelineRun(net.build())


@pytest.fixture(autouse=True)
def functions() -> None:
    register_function("failures:picky", picky, takes=("long",), returns="long")
    register_function("failures:lonely", lonely, takes=("long",), returns="long")
    register_arrow_aggregate(
        "failures:refuse",
        state={"n": pa.int64()},
        init={"n": 0},
        update=refuse,
        finish=lambda states: states["n"],
        takes=("long",),
        returns="long",
    )


@pytest.mark.parametrize("bad", [0, 1, 6, 7])
def test_the_first_tuple_that_fails_is_named(bad: int) -> None:
    run = run_of("picky")
    numbers = [-row if row >= bad + 1 else row for row in range(1, 9)]
    with pytest.raises(KernelError) as caught:
        run.push("s", pa.table({"t": list(range(8)), "x": numbers}), 0)
    expected = f"`failures:picky` failed: ValueError: is negative, given ({numbers[bad]})"
    assert str(caught.value) == f"n.first: {expected}"


def test_a_run_that_has_failed_continues_as_if_nothing_had_come() -> None:
    run = run_of("picky")
    with pytest.raises(KernelError):
        run.push("s", pa.table({"t": [1, 2, 3, 4], "x": [1, 2, -3, 4]}), 0)
    run.push("s", pa.table({"t": [5], "x": [5]}), 0)
    assert run.flush(1)["out"]["n"].to_pylist() == [1]


def test_where_no_tuple_fails_by_itself_none_is_named() -> None:
    with pytest.raises(KernelError) as caught:
        run_of("lonely").push("s", pa.table({"t": [1, 2], "x": [1, 2]}), 0)
    assert str(caught.value) == "n.first: `failures:lonely` failed: ValueError: is crowded"


def test_an_aggregate_over_arrow_names_the_tuple() -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "t long, x long")
    stream.aggregate({"n": "`failures:refuse`(x)"}, Order("t"), size=100, as_="total").output("out")
    with pytest.raises(KernelError) as caught:
        PipelineRun(net.build()).push("s", pa.table({"t": [1, 2, 3], "x": [1, -2, 3]}), 0)
    assert str(caught.value) == "n.total: `failures:refuse` failed: ValueError: is negative, given (-2)"
