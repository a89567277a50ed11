"""Ad hoc queries by progress: the marks of the arc come with it, from the past into the present."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from australis import Network, NetworkBuilder, Node, Order, Progress
from australis.algebra.builder import Stream
from australis.errors import EngineError, NetworkError

SCHEMA = "k string, at long"
BY_PROGRESS = Order("at", group_by=("k",), by="progress", late=True)
MADE = Progress("at", slack=5)


def counted(stream: Stream) -> None:
    """Counts of each key in windows, and what came too late for them."""
    counts = stream.aggregate({"n": "count(*)"}, BY_PROGRESS, 10, align=True, as_="counts")
    counts.output("counts")
    counts.port(1).output("late")


def counts(point: str = "points", progress: Progress | None = None) -> Network:
    net = NetworkBuilder("ask")
    counted(net.input(point, SCHEMA, progress=progress))
    return net.build(query=True)


def running(progress: Progress | None = MADE) -> Network:
    """A network that counts, too, and keeps what it counts: all tuples, some of them, and those moved."""
    net = NetworkBuilder("net")
    source = net.input("s", SCHEMA, progress=progress)
    if progress is not None:
        counted(source)
    source.point("points", history="forever")
    source.filter("k <> 'x'", as_="some").point("inner", history="forever")
    source.map({"k": "k", "at": "-at"}, as_="back").point("back", history="forever")
    return net.build()


def rows(*tuples: tuple[str, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in tuples], "at": pa.array([at for _, at in tuples], pa.int64())})


def found(node: Node, output: str) -> list[dict[str, Any]]:
    node.drain()
    read: list[dict[str, Any]] = node.read(output).to_pylist()
    return [{name: value for name, value in row.items() if not name.startswith("#")} for row in read]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    with Node(tmp_path / "root", runner="light") as made:
        yield made


PAST = rows(("a", 1), ("b", 3), ("a", 17), ("a", 9), ("b", 22))
PRESENT = rows(("b", 12), ("a", 30), ("x", 45))


def test_a_query_of_the_past_closes_the_windows_that_the_network_closed(node: Node, tmp_path: Path) -> None:
    """It finds the same windows and the same late tuples, though it comes after the marks that decided."""
    node.deploy(running())
    node.push("s", PAST)
    node.drain()
    node.attach(counts(), name="q")
    assert found(node, "q_counts") == found(node, "counts") != []
    assert found(node, "q_late") == found(node, "late") == [{"k": "a", "at": 9}]
    node.push("s", PRESENT)
    assert found(node, "q_counts") == found(node, "counts")
    assert found(node, "q_late") == found(node, "late") == [{"k": "a", "at": 9}, {"k": "b", "at": 12}]
    node.stop()
    with Node(tmp_path / "root", runner="light") as again:
        again.deploy(running())
        assert list(again.attached()) == ["q"]
        again.push("s", rows(("x", 70)))
        assert found(again, "q_counts") == found(again, "counts")
        assert {"at": 40, "k": "x", "n": 1} in found(again, "q_counts")


def test_marks_come_with_an_inner_arc_even_from_tuples_that_are_not_on_it(node: Node) -> None:
    node.deploy(running())
    node.push("s", PAST)
    node.attach(counts("inner"), name="q")
    node.push("s", PRESENT)
    assert found(node, "q_counts") == found(node, "counts")
    assert {"at": 30, "k": "a", "n": 1} in found(node, "q_counts")


def test_the_same_progress_may_be_declared(node: Node) -> None:
    node.deploy(running())
    node.push("s", PAST)
    node.attach(counts(progress=MADE), name="q")
    assert found(node, "q_counts") == found(node, "counts") != []


@pytest.mark.parametrize(
    ("point", "declared", "says"),
    [
        (
            "points",
            Progress("at", slack=1),
            "net.q.inputs.points.progress: is on at, slack 1, but the marks of s are made on at, slack 5; "
            "expected the same, or none: they come with the point",
        ),
        (
            "inner",
            MADE,
            "net.q.inputs.inner.progress: is on at, slack 5, but some has marks of at, which follow from "
            "those of the inputs of net; expected none: they come with the point",
        ),
        (
            "back",
            MADE,
            "net.q.inputs.back.progress: is on at, slack 5, but back has no marks; expected none, and "
            "orders by slack; or `progress` at the inputs of net",
        ),
        ("back", None, "net.q.counts.order.by: 'at' has no marks on back; attributes with marks: none"),
    ],
)
def test_what_contradicts_the_marks_of_the_arc(
    node: Node, point: str, declared: Progress | None, says: str
) -> None:
    node.deploy(running())
    with pytest.raises(NetworkError, match=re.escape(says)):
        node.attach(counts(point, declared), name="q")
    assert node.attached() == {}


def test_a_network_that_makes_no_marks_has_none_for_a_query(node: Node) -> None:
    node.deploy(running(None))
    with pytest.raises(NetworkError, match=r"net\.q\.counts\.order\.by: 'at' has no marks on s"):
        node.attach(counts(), name="q")


def test_marks_that_a_query_needs_cannot_be_taken_away(node: Node) -> None:
    node.deploy(running())
    node.attach(counts(), name="q")
    with pytest.raises(NetworkError, match=r"net\.q\.counts\.order\.by: 'at' has no marks on s"):
        node.change(running(None))
    node.push("s", PAST)
    assert found(node, "q_counts") == found(node, "counts") != []


def test_a_query_is_no_network(node: Node) -> None:
    with pytest.raises(EngineError, match=r"ask: is an ad hoc query: .*; expected `attach`, or a network"):
        node.deploy(counts())
