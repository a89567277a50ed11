"""What takes too long on a node: trains that are ended, calls that are interrupted, with real processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from australis import NetworkBuilder, Node, register_aggregate, register_function
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.user_functions import CallOverran, RowFunction
from australis.engine.light.runner import LightRunner
from australis.engine.spark import train_jobs
from australis.engine.worker.call_limits import interrupt_after
from australis.errors import AlgebraError, EngineError

BAD = 7
FOREVER_S = 600.0


@pytest.fixture(scope="module")
def light() -> Iterator[LightRunner]:
    with LightRunner(2) as runner:
        yield runner


def sleepy(x: pa.Array) -> pa.Array:
    """Sleeps over a value, whatever disturbs it but the end of its time."""
    if BAD in x.to_pylist():
        try:
            time.sleep(FOREVER_S)
        except Exception:
            time.sleep(FOREVER_S)
    return x


def network(expression: str = "`limits:f`(x)") -> Network:
    net = NetworkBuilder("net")
    stream = net.input("s", "x long").point("past", history="forever")
    stream.map({"y": expression}, as_="compute").output("out")
    return net.build()


def registered(call: Callable[..., object], limit: str | None = None) -> None:
    register_function("limits:f", call, takes=("long",), returns="long", limit=limit)  # type: ignore[arg-type]


def numbers(count: int = 20) -> pa.Table:
    return pa.table({"x": list(range(count))})


RIGHT = [x for x in range(20) if x != BAD]


def outcome(node: Node) -> tuple[list[int], list[tuple[str, str, str]]]:
    """What came out, and what is in the quarantine."""
    node.drain()
    found = node.read("quarantine").to_pylist()
    return node.read("out")["y"].to_pylist(), [(row["path"], row["reason"], row["tuple"]) for row in found]


def test_a_call_that_takes_too_long_fails_alone(light: LightRunner, tmp_path: Path) -> None:
    registered(sleepy, "100 ms")
    with Node(tmp_path, runner=light) as node:
        node.deploy(network())
        node.push("s", numbers())
        aside = ("net.compute", "`limits:f` took longer than 0.1 s", '{"x": 7}')
        assert outcome(node) == (RIGHT, [aside])


def test_a_train_that_takes_too_long_is_cut_down_to_the_tuple(light: LightRunner, tmp_path: Path) -> None:
    registered(sleepy)
    with Node(tmp_path, runner=light, train_limit="1 s") as node:
        node.deploy(network())
        node.push("s", numbers())
        aside = ("net.compute", "its train took longer than 1 s", '{"x": 7}')
        assert outcome(node) == (RIGHT, [aside])


def test_an_aggregate_that_takes_too_long(light: LightRunner, tmp_path: Path) -> None:
    def add(state: int, x: int) -> int:
        time.sleep(FOREVER_S if x == BAD else 0)
        return state + x

    register_aggregate(
        "limits:total", init=int, incr=add, final=int, takes=("long",), returns="long", combine=None
    )
    net = NetworkBuilder("net")
    total = net.input("s", "x long").aggregate({"y": "`limits:total`(x)"}, Order("x"), size=10)
    total.output("out")
    with Node(tmp_path, runner=light, train_limit="1 s") as node:
        node.deploy(net.build())
        node.push("s", numbers())
        node.flush()
        sums, aside = outcome(node)
        assert (sums, [tuple_ for _, _, tuple_ in aside]) == ([45 - BAD, 145], ['{"x": 7}'])


def test_a_query_that_takes_too_long_fails_alone(light: LightRunner, tmp_path: Path) -> None:
    registered(sleepy)
    query = NetworkBuilder("q")
    query.input("past", "x long").map({"y": "`limits:f`(x)"}, as_="slow").output("found")
    with Node(tmp_path, runner=light, train_limit="1 s") as node:
        node.deploy(network("x"))
        attached = node.attach(query.build(), name="asked")
        node.push("s", numbers())
        assert outcome(node) == (list(range(20)), [])
        with pytest.raises(EngineError, match=r"its train took longer than 1 s"):
            list(attached.subscribe("found", follow=False))


def test_what_a_query_fails_on_goes_to_the_quarantine(light: LightRunner, tmp_path: Path) -> None:
    def picky(x: pa.Array) -> pa.Array:
        if BAD in x.to_pylist():
            raise ValueError("no luck today")
        return x

    registered(picky)
    query = NetworkBuilder("q")
    query.input("past", "x long").map({"y": "`limits:f`(x)"}, as_="picky").output("found")
    with Node(tmp_path, runner=light) as node:
        node.deploy(network("x"))
        node.attach(query.build(), name="asked")
        node.push("s", numbers())
        out, aside = outcome(node)
        assert out == list(range(20))
        assert [tuple_ for _, _, tuple_ in aside] == ['{"x": 7}']
        assert node.read("asked")["y"].to_pylist() == RIGHT


def test_a_worker_that_is_killed_for_its_tuple_stops_the_node(light: LightRunner, tmp_path: Path) -> None:
    def deadly(x: pa.Array) -> pa.Array:
        if BAD in x.to_pylist():
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    registered(deadly)
    with Node(tmp_path, runner=light) as node:
        node.deploy(network())
        node.push("s", numbers())
        with pytest.raises(
            EngineError, match=r"^compute: its train failed: a worker ended in the midst of its task$"
        ):
            node.drain()
        assert node.read("out")["y"].to_pylist() == list(range(BAD)), "all before it went through"
        assert node.read("quarantine").num_rows == 0


def test_trains_that_need_too_much_memory_become_smaller(light: LightRunner, tmp_path: Path) -> None:
    def greedy(x: pa.Array) -> pa.Array:
        if len(x) > 3:
            raise MemoryError("all is used")
        return x

    registered(greedy)
    with Node(tmp_path, runner=light) as node:
        node.deploy(network())
        node.push("s", numbers())
        assert outcome(node) == (list(range(20)), [])


def test_a_job_that_takes_too_long_is_cancelled(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_jobs, "START_S", 20.0)
    registered(sleepy)
    with Node(tmp_path, train_limit="8 s") as node:
        node.deploy(network())
        node.push("s", pa.table({"x": [1]}))
        node.drain()
        node.push("s", pa.table({"x": [BAD, 2]}))
        aside = ("net.compute", "its train took longer than 8 s", '{"x": 7}')
        assert outcome(node) == ([1, 2], [aside])


# --- interrupting


def test_what_is_done_in_time_is_not_interrupted() -> None:
    with interrupt_after(60_000_000):
        left, _ = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= 60
    assert signal.getsignal(signal.SIGALRM) is not None


def test_a_function_cannot_swallow_the_end_of_its_time() -> None:
    with pytest.raises(CallOverran), interrupt_after(10_000):
        sleepy(pa.array([BAD]))


def test_a_limit_is_a_length_of_time() -> None:
    with pytest.raises(AlgebraError, match="limit: 'soon' is not a length of time"):
        registered(sleepy, "soon")
    with pytest.raises(AlgebraError, match="train_limit: '0 s' is not a whole, positive number"):
        Node(train_limit="0 s")
    function: RowFunction = register_function(
        "limits:g", sleepy, takes=("long",), returns="long", limit="1.5 s"
    )
    assert function.limit_us == 1_500_000
