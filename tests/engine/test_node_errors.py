"""What a node refuses, in words that name the thing; functions of users that fail, or end their process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.user_functions import (
    register_arrow_aggregate,
    register_function,
    register_scalar,
)
from australis.algebra.user_functions import (
    registry as functions,
)
from australis.errors import EngineError


def network(expression: str = "x + 1", name: str = "net") -> Network:
    net = NetworkBuilder(name)
    net.input("s", "x long").map({"y": expression}, as_="compute").output("out")
    return net.build()


def with_tables() -> Network:
    net = NetworkBuilder("tables")
    stream = net.input("s", "k long, t long")
    for name in ("one", "two"):
        table = net.table(name, f"k long, {name} string")
        stream.join(table, "left.k = right.k", left=Order("t")).output(f"with_{name}")
    return net.build()


@pytest.fixture
def node(spark: SparkSession, tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root") as node:
        yield node


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Functions that a test registers are gone behind it."""
    known = dict(functions._row_functions)
    yield
    functions._row_functions.clear()
    functions._row_functions.update(known)


def numbers(count: int) -> pa.Table:
    return pa.table({"x": list(range(count))})


# --- what does not fit


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("nope", numbers(1), "net: there is no input 'nope'; expected one of s"),
        ("s", pa.table({"y": [1]}), r"net\.s: has no column 'x', but y; expected \(x long\)"),
        ("s", pa.table({"x": ["a"]}), r"net\.s: its column 'x' is string.*expected values of int64"),
        ("s", pa.table({"x": [[1]]}), r"net\.s: its column 'x' is list"),
    ],
)
def test_tuples_that_do_not_fit_are_refused(node: Node, name: str, table: pa.Table, message: str) -> None:
    node.deploy(network())
    with pytest.raises(EngineError, match=message):
        node.push(name, table)
    node.push("s", numbers(2))
    node.drain()
    assert node.read("out").num_rows == 2


def test_a_node_without_a_network_says_so(node: Node) -> None:
    for call in (lambda: node.push("s", numbers(1)), node.drain, node.flush, lambda: node.read("out")):
        with pytest.raises(EngineError, match=r"runs no network; expected deploy\(\) first"):
            call()


def test_a_second_network_is_refused(node: Node) -> None:
    node.deploy(network())
    with pytest.raises(EngineError, match="runs a network already"):
        node.deploy(network(name="other"))


def test_another_network_on_the_same_root_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
    with (
        Node(tmp_path) as node,
        pytest.raises(EngineError, match=r"differs from the network 'net' that the root holds"),
    ):
        node.deploy(network("x + 2"))
    with Node(tmp_path) as node:
        node.deploy(network())


@pytest.mark.parametrize("setting", ["partitions", "train", "in_flight"])
def test_settings_without_a_meaning_are_refused(spark: SparkSession, tmp_path: Path, setting: str) -> None:
    kept: dict[str, Any] = {setting: 0}
    with pytest.raises(EngineError, match=f"{setting}: is 0; expected 1 or more"):
        Node(tmp_path, **kept)


def test_a_root_that_is_nowhere_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="nowhere://at/all"):
        Node("nowhere://at/all", catalog=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match=r"file.*cannot be written"):
        Node(tmp_path / "file" / "below")


# --- stored tables


def test_tables_come_whole_or_not_at_all(node: Node) -> None:
    one, two = pa.table({"k": [1], "one": ["a"]}), pa.table({"k": [1], "two": ["b"]})
    with pytest.raises(EngineError, match=r"tables\.two.*stored table without rows"):
        node.deploy(with_tables(), tables={"one": one})
    with pytest.raises(EngineError, match=r"tables\.two.*no column 'two'"):
        node.deploy(with_tables(), tables={"one": one, "two": one})
    node.deploy(with_tables(), tables={"one": one, "two": two})
    node.push("s", pa.table({"k": [1, 2], "t": [1, 2]}))
    node.drain()
    assert node.read("with_one")["one"].to_pylist() == ["a"]
    assert node.read("with_two")["two"].to_pylist() == ["b"]


# --- one node on a root


def test_another_process_on_the_same_root_is_refused(node: Node) -> None:
    code = "import sys; from australis import Node; Node(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, node.root.uri], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"is open in another node, process {os.getpid()}" in done.stderr


def test_a_root_is_free_again_when_its_node_has_stopped(spark: SparkSession, tmp_path: Path) -> None:
    first = Node(tmp_path)
    with pytest.raises(EngineError, match="one node on a root; stop the other"):
        Node(tmp_path)
    first.stop()
    Node(tmp_path).stop()


# --- functions of users


def registered(call: Callable[..., pa.Array]) -> str:
    register_function("mine:f", call, takes=("long",), returns="long")
    return "`mine:f`(x)"


def test_functions_of_this_program_run_in_the_workers(node: Node) -> None:
    offset = 40
    node.deploy(network(registered(lambda x: pc.add(x, offset))))
    node.push("s", numbers(3))
    node.drain()
    assert node.read("out")["y"].to_pylist() == [40, 41, 42]


def test_scalar_functions_and_aggregates_over_arrow_run_in_the_workers(node: Node) -> None:
    def update(states: pa.RecordBatch, windows: pa.Array, texts: pa.Array) -> dict[str, pa.Array]:
        seen = states["seen"].to_pylist()
        for window, text in zip(windows.to_pylist(), texts.to_pylist(), strict=True):
            seen[window] = [*seen[window], text]
        return {"seen": pa.array(seen, pa.list_(pa.string()))}

    register_scalar("mine:told", lambda x: f"<{x}>", takes=("long",), returns="string")
    register_arrow_aggregate(
        "mine:seen",
        state={"seen": pa.list_(pa.string())},
        init={"seen": []},
        update=update,
        finish=lambda states: pc.binary_join(states["seen"], ""),
        takes=("string",),
        returns="string",
    )
    net = NetworkBuilder("net")
    told = net.input("s", "x long").map({"x": "x", "told": "`mine:told`(x)"})
    told.aggregate({"seen": "`mine:seen`(told)"}, Order("x"), size=4).output("out")
    node.deploy(net.build())
    for first in (0, 3):
        node.push("s", pa.table({"x": [first, first + 1, first + 2]}))
        node.drain()
    assert node.read("out")["seen"].to_pylist() == ["<0><1><2><3>"], "a window across two trains"


def test_what_a_function_fails_on_goes_to_the_quarantine_and_the_node_continues(node: Node) -> None:
    def troubled(x: pa.Array) -> pa.Array:
        if 1 in x.to_pylist():
            raise ValueError("no luck today")
        return x

    node.deploy(network(registered(troubled)))
    for _ in range(2):
        node.push("s", numbers(3))
    node.drain()
    assert node.read("out")["y"].to_pylist() == [0, 2, 0, 2]
    found = node.read("quarantine").select(["path", "reason", "tuple"]).to_pylist()
    reason = "`mine:f` failed: ValueError: no luck today, given (1)"
    assert found == [{"path": "net.compute", "reason": reason, "tuple": '{"x": 1}'}] * 2


def test_a_worker_that_is_killed_in_mid_train_is_no_loss(node: Node, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.touch()

    def deadly(x: pa.Array) -> pa.Array:
        with suppress(FileNotFoundError):
            alive.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    node.deploy(network(registered(deadly)))
    node.push("s", numbers(3))
    node.drain()
    assert not alive.exists()
    assert node.read("out")["y"].to_pylist() == [0, 1, 2]


def test_a_worker_that_always_dies_stops_the_node(node: Node) -> None:
    node.deploy(network(registered(lambda x: os.kill(os.getpid(), signal.SIGKILL))))
    node.push("s", numbers(3))
    with pytest.raises(EngineError, match="its train failed"):
        node.drain()
    assert node.read("out").num_rows == 0


def test_a_function_that_cannot_travel_is_named(node: Node) -> None:
    lock = threading.Lock()
    expression = registered(lambda x: (x, lock)[0])
    with pytest.raises(EngineError, match=r"mine:f.*cannot be sent to workers"):
        node.deploy(network(expression))


@pytest.mark.parametrize("size", [0, 100, -1])
def test_a_plan_that_was_written_in_part_is_written_again(
    spark: SparkSession, tmp_path: Path, size: int
) -> None:
    with Node(tmp_path) as node:
        node.deploy(network())
    (plan,) = (tmp_path / "plans").iterdir()
    plan.write_bytes(plan.read_bytes()[:size])
    with Node(tmp_path) as node:
        node.deploy(network())
        node.push("s", numbers(3))
        node.drain()
        assert node.read("out").num_rows == 3
