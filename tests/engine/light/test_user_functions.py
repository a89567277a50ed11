"""Functions of users in worker processes: how their code gets there, and what is said where it cannot."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from australis import Node, Order
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.light.runner import LightRunner
from australis.engine.worker import plan_files
from australis.errors import AustralisError

MODULE = """
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis import register_aggregate, register_arrow_aggregate, register_function, register_scalar

LIMIT = 3


def capped(number):
    if number < 0:
        raise ValueError("is negative")
    return min(number, LIMIT)


def doubled(numbers):
    return pc.multiply(numbers, 2)


def update(states, windows, numbers):
    totals = states["total"].to_numpy().copy()
    np.add.at(totals, windows.to_numpy(), numbers.to_numpy())
    return {"total": totals}


register_scalar("mine:capped", capped, takes=("long",), returns="long")
register_function("mine:doubled", doubled, takes=("long",), returns="long")
register_arrow_aggregate(
    "mine:total", state={"total": pa.int64()}, init={"total": 0}, update=update,
    finish=lambda states: states["total"], takes=("long",), returns="long",
)
register_aggregate(
    "mine:listed", init=list, incr=lambda seen, number: [*seen, number], final=str, takes=("long",),
    returns="string", state=pa.list_(pa.int64()),
)
"""


@pytest.fixture(scope="module")
def light() -> Iterator[LightRunner]:
    with LightRunner(2) as runner:
        yield runner


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of this program alone: workers do not have its folder on their path."""
    name = tmp_path.name
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module(name)
    yield name
    del sys.modules[name]


def network() -> Network:
    net = NetworkBuilder("n")
    numbers = net.input("s", "t long, x long").map(
        {"t": "t", "x": "`mine:doubled`(`mine:capped`(x))"}, as_="computed"
    )
    functions = {"total": "`mine:total`(x)", "listed": "`mine:listed`(x)"}
    numbers.aggregate(functions, Order("t"), size=4, as_="windows").output("out")
    return net.build()


def rows(first: int, *numbers: int) -> pa.Table:
    return pa.table({"t": list(range(first, first + len(numbers))), "x": list(numbers)})


def test_code_of_a_local_module_travels_with_the_plan(
    light: LightRunner, tmp_path: Path, module: str
) -> None:
    """Trains end within windows, so states are written and read; failures name the arguments."""
    with Node(tmp_path / "root", runner=light) as node:
        node.deploy(network())
        for batch in (rows(0, 1, 2, 9), rows(3, -1), rows(4, 1, 1), rows(9, 0)):
            node.push("s", batch)
            node.drain()
        node.flush()
        node.drain()
        found = node.read("out").select(["t", "total", "listed"]).to_pylist()
        failed = node.read("quarantine").select(["path", "reason", "tuple"]).to_pylist()
    assert found == [
        {"t": 0, "total": 12, "listed": "[2, 4, 6]"},
        {"t": 4, "total": 4, "listed": "[2, 2]"},
        {"t": 8, "total": 0, "listed": "[0]"},
    ]
    reason = "`mine:capped` failed: ValueError: is negative, given (-1)"
    assert failed == [{"path": "n.computed", "reason": reason, "tuple": '{"t": 3, "x": -1}'}]


def test_a_module_that_workers_lack_is_named(
    light: LightRunner, tmp_path: Path, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the module were installed here, but not where workers run."""
    monkeypatch.setattr(plan_files, "_importable", lambda _: True)
    with Node(tmp_path / "root", runner=light) as node:
        node.deploy(network())
        node.push("s", rows(0, 1))
        message = (
            "functions of the network cannot be loaded here: ModuleNotFoundError: "
            f"No module named '{module}'; expected modules that workers can import: install them"
        )
        with pytest.raises(AustralisError, match=message):
            node.drain()
        assert node.read("quarantine").num_rows == 0
