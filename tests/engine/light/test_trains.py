"""Trains on a light runner: what comes of user functions, errors and faults in its processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from australis import Node, Order, register_aggregate, register_function
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.light.runner import LightRunner
from australis.engine.worker.waybill import (
    Manifest,
    OutOfMemory,
    TaskFault,
    TrainFailed,
    answer_or_fault,
    manifest_of,
)
from australis.errors import AustralisError

Numbers = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def light() -> Iterator[LightRunner]:
    with LightRunner(2) as runner:
        yield runner


def mapped(function: str) -> Network:
    net = NetworkBuilder("n")
    net.input("s", "x double").map({"y": f"`{function}`(x)"}).output("out")
    return net.build()


def answer(runner: LightRunner, folder: Path, function: str) -> list[float | None]:
    with Node(folder / "root", runner=runner) as node:
        node.deploy(mapped(function))
        node.push("s", pa.table({"x": [1.0, 2.0, 4.0]}))
        node.drain()
        found: list[float | None] = node.read("out")["y"].to_pylist()
        return found


def rolling(values: pa.Array) -> pa.Array:
    """The NaN of pandas is NULL to pyarrow, if it knows that there is pandas."""
    import pandas as pd

    return pa.array(pd.Series(values.to_numpy()).rolling(2).mean())


def spread(values: pa.Array) -> pa.Array:
    """Numba, and scipy by way of it."""
    import numba

    @numba.njit
    def covariance(x: Numbers) -> Numbers:
        return np.cov(x)

    return pa.array(np.full(len(values), float(covariance(values.to_numpy()))))


def unlucky(values: pa.Array) -> pa.Array:
    raise ValueError("no luck today")


@pytest.mark.parametrize(("function", "right"), [(rolling, [None, 1.5, 3.0]), (spread, [7 / 3] * 3)])
def test_functions_find_what_workers_leave_out(
    light: LightRunner, tmp_path: Path, function: object, right: list[float | None]
) -> None:
    register_function("mine:f", function, takes=("double",), returns="double")  # type: ignore[arg-type]
    assert answer(light, tmp_path, "mine:f") == pytest.approx(right)


def test_an_error_that_is_no_fault_of_a_tuple_comes_as_it_was_raised(
    light: LightRunner, tmp_path: Path
) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "x double")
    stream.aggregate({"y": "`mine:unlucky`(x)"}, Order("x"), size=10, as_="total").output("out")
    register_aggregate(
        "mine:unlucky", init=list, incr=lambda s, x: s, final=unlucky, takes=("double",), returns="double"
    )
    with Node(tmp_path / "root", runner=light) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"x": [1.0]}))
        node.flush()
        with pytest.raises(AustralisError, match=r"^n\.total: `mine:unlucky` failed: ValueError: no luck"):
            node.drain()
        assert node.read("quarantine").num_rows == 0


@pytest.mark.parametrize(
    ("error", "kind"),
    [(MemoryError("all"), OutOfMemory), (OSError("all"), TrainFailed), (ValueError("all"), TaskFault)],
)
def test_a_fault_may_be_gone_the_next_time(error: Exception, kind: type[TrainFailed]) -> None:
    def fail() -> Manifest:
        raise error

    with pytest.raises(TrainFailed, match=f"^box: its train failed: {type(error).__name__}: all$") as caught:
        manifest_of(answer_or_fault(fail), "box")
    assert type(caught.value) is kind


def test_what_was_closed_runs_nothing(tmp_path: Path) -> None:
    runner = LightRunner(1)
    register_function("mine:same", lambda values: values, takes=("double",), returns="double")
    with Node(tmp_path / "root", runner=runner) as node:
        node.deploy(mapped("mine:same"))
        runner.close()
        node.push("s", pa.table({"x": [1.0]}))
        with pytest.raises(TrainFailed, match="the runner is closed"):
            node.drain()
