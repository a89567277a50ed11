"""Marks on a node: they come from the log, close what is silent, and survive whatever happens to the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engine.in_process import InProcess
from tests.engine.ledger.held import FSYNC, UnsureHome
from tests.waiting import until

from australis import Network, NetworkBuilder, Node, Order
from australis.algebra.progress import Progress
from australis.engine.ledger import maker_of
from australis.errors import EngineError
from australis.plan.superboxes import Discipline

BY_KEY = Order("at", group_by=("k",), by="progress")


def counts(progress: Progress | None = None, *, late: bool = False, size: Any = 10) -> Network:
    """Counts of each key in windows, and the greatest of them over all keys."""
    net = NetworkBuilder("counts")
    kind = "timestamp" if isinstance(size, str) else "long"
    came = net.input("s", f"k string, at {kind}", progress=progress or Progress("at", slack=5))
    some = came.filter("k <> 'x'", as_="some")
    order = Order("at", group_by=("k",), by="progress", late=late)
    each = some.aggregate({"n": "count(*)"}, order, size, align=True, as_="each")
    each.output("each")
    each.aggregate({"most": "max(n)"}, Order("at", by="progress"), size, align=True, as_="all").output("all")
    if late:
        each.port(1).output("late")
    return net.build()


def rows(*tuples: tuple[str, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in tuples], "at": pa.array([at for _, at in tuples], pa.int64())})


def found(node: Node, output: str = "each") -> list[dict[str, Any]]:
    node.drain()
    read: list[dict[str, Any]] = node.read(output).to_pylist()
    return [{name: value for name, value in row.items() if not name.startswith("#")} for row in read]


def opened(root: Path, **settings: Any) -> Node:
    return Node(root, runner=InProcess(), **settings)


@pytest.mark.parametrize("discipline", list(Discipline))
def test_a_silent_key_is_closed_by_others_and_even_by_tuples_that_a_filter_drops(
    tmp_path: Path, discipline: Discipline
) -> None:
    with opened(tmp_path, discipline=discipline) as node:
        node.deploy(counts())
        node.push("s", rows(("a", 1), ("b", 3), ("a", 4)))
        assert found(node) == []
        node.push("s", rows(("x", 15)))
        assert found(node) == [{"at": 0, "k": "a", "n": 2}, {"at": 0, "k": "b", "n": 1}]
        assert found(node, "all") == [{"at": 0, "most": 2}]


def test_the_marks_of_a_root_are_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.deploy(counts(late=True))
        node.push("s", rows(("a", 1), ("x", 14)))
        node.drain()
    with opened(tmp_path) as node:
        node.deploy(counts(late=True))
        node.push("s", rows(("a", 8), ("a", 9), ("x", 15)))
        assert found(node) == [{"at": 0, "k": "a", "n": 2}]
        assert found(node, "late") == [{"k": "a", "at": 8}]
        assert node.statistics().boxes["each"].late == 1


def test_tuples_that_wait_for_their_train_have_the_marks_of_their_place_in_the_log(tmp_path: Path) -> None:
    """Trains of one tuple, long after all of them were pushed, decide what was late as it was then."""
    with opened(tmp_path, train=1, in_flight=1) as node:
        node.deploy(counts(late=True))
        node.pause()
        node.push("s", rows(("a", 12), ("a", 8), ("b", 6), ("a", 20)))
        node.push("s", rows(("b", 16), ("b", 14)))
        node.resume()
        assert found(node, "late") == [{"k": "b", "at": 6}, {"k": "b", "at": 14}]
        assert found(node) == [{"at": 0, "k": "a", "n": 1}]


def test_after_an_end_of_the_streams_nothing_is_late_for_what_came_before(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.deploy(counts(late=True))
        node.push("s", rows(("a", 100)))
        node.flush()
        node.push("s", rows(("a", 1), ("x", 15)))
        assert found(node) == [{"at": 100, "k": "a", "n": 1}, {"at": 0, "k": "a", "n": 1}]
        assert found(node, "late") == []


def test_a_source_can_promise_without_a_tuple(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.deploy(counts())
        node.push("s", rows(("a", 1)))
        assert node.promise("s", 9, position=("clock", 1)) is not None
        assert found(node) == []
        assert node.promise("s", 10, position=("clock", 2)) is not None
        assert node.promise("s", 30, position=("clock", 2)) is None
        assert found(node) == [{"at": 0, "k": "a", "n": 1}]


def test_a_promise_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.deploy(counts())
        with pytest.raises(EngineError, match=r"counts\.s: 'soon' is no promise.*a value of 'at', a long"):
            node.promise("s", "soon")
        with pytest.raises(EngineError, match=r"1\.5 is no promise"):
            node.promise("s", 1.5)
        with pytest.raises(EngineError, match="it is NULL"):
            node.promise("s", None)
        with pytest.raises(EngineError, match=r"is no promise: .*too large"):
            node.promise("s", 2**70)
    with opened(tmp_path / "other") as node:
        net = NetworkBuilder("plain")
        net.input("s", "at long").output("o")
        node.deploy(net.build())
        with pytest.raises(EngineError, match=r"plain\.s: makes no marks; expected `progress` at the input"):
            node.promise("s", 3)


def test_an_idle_input_is_followed_by_the_clock(tmp_path: Path) -> None:
    """Nothing is pushed after the only tuple; its window closes by itself."""
    network = counts(Progress("at", slack="10 ms", idle="20 ms"), size="50 ms")
    with opened(tmp_path) as node:
        node.deploy(network)
        node.push("s", pa.table({"k": ["a"], "at": pa.array([0], pa.timestamp("us", "UTC"))}))
        until(lambda: node.read("each").num_rows == 1)
        assert [row["k"] for row in node.read("each").to_pylist()] == ["a"]


def test_an_input_that_gets_nothing_it_can_take_stays_idle(tmp_path: Path) -> None:
    net = NetworkBuilder("taken")
    came = net.input("s", "k string not null, at timestamp", progress=Progress("at", idle="20 ms"))
    came.output("all")
    at = pa.array([0], pa.timestamp("us", "UTC"))
    with opened(tmp_path, clock=lambda: -(10**12)) as node:
        node.deploy(net.build())
        node.push("s", pa.table({"k": ["a"], "at": at}), now=1_000_000)
        node.push("s", pa.table({"k": pa.array([None], pa.string()), "at": at}), now=1_015_000)
        assert node.statistics().marks["s"].quiet_since == 1_000_000
        node.push("s", pa.table({"k": ["b"], "at": at}), now=1_016_000)
        assert node.statistics().marks["s"].quiet_since == 1_016_000


def test_a_table_that_was_loaded_long_before_the_first_tuple_makes_no_input_idle(tmp_path: Path) -> None:
    net = NetworkBuilder("counts")
    came = net.input("s", "k string, at timestamp", progress=Progress("at", slack="1 s", idle="20 ms"))
    named = came.join(net.table("names", "k string"), "left.k = right.k", table="right", as_="named")
    named.aggregate({"n": "count(*)"}, Order("at", by="progress"), "1 s", align=True).output("counts")
    at = pa.array([0], pa.timestamp("us", "UTC"))
    with opened(tmp_path, clock=lambda: -(10**12)) as node:
        node.deploy(net.build(), tables={"names": pa.table({"k": ["a"]})})
        node.push("s", pa.table({"k": ["a"], "at": at}), now=10_000_000)
        node.push("s", pa.table({"k": ["a"], "at": at}), now=10_000_001)
        node.flush(10_000_002)
        assert [row["n"] for row in found(node, "counts")] == [2]


def test_a_parquet_file_raises_marks_without_being_copied(tmp_path: Path) -> None:
    pq.write_table(rows(("a", 1), ("b", 2), ("a", 0), ("x", 30)), tmp_path / "s.parquet", row_group_size=1)
    with opened(tmp_path / "root") as node:
        node.deploy(counts())
        node.adopt("s", tmp_path / "s.parquet")
        assert found(node) == [{"at": 0, "k": "a", "n": 2}, {"at": 0, "k": "b", "n": 1}]


def test_a_box_that_comes_while_the_network_runs_goes_by_the_marks_that_are_there(tmp_path: Path) -> None:
    net = NetworkBuilder("counts")
    came = net.input("s", "k string, at long", progress=Progress("at", slack=5))
    came.filter("true", as_="some").output("o")
    with opened(tmp_path) as node:
        node.deploy(net.build())
        node.push("s", rows(("a", 100)))
        node.drain()
        node.change(counts(late=True))
        node.push("s", rows(("a", 94), ("a", 96), ("x", 120)))
        assert found(node) == [{"at": 90, "k": "a", "n": 1}]
        assert found(node, "late") == [{"k": "a", "at": 94}]


def test_an_input_that_goes_and_comes_back_has_promised_nothing(tmp_path: Path) -> None:
    net = NetworkBuilder("counts")
    net.input("other", "x long").output("o")
    with opened(tmp_path) as node:
        node.deploy(counts(late=True))
        node.push("s", rows(("a", 1000)))
        node.drain()
        node.change(net.build())
        node.change(counts(late=True))
        node.push("s", rows(("a", 1), ("x", 15)))
        assert found(node) == [{"at": 0, "k": "a", "n": 1}]
        assert found(node, "late") == []


def test_a_push_that_failed_has_raised_no_mark(tmp_path: Path) -> None:
    """So the mark rises when the push is repeated."""
    home = UnsureHome(tmp_path)
    with opened(tmp_path, catalog=home) as node:
        node.deploy(counts())
        node.push("s", rows(("a", 1)))
        node.drain()
        home.db.takes_effect = False
        with pytest.raises(EngineError, match=FSYNC):
            node.push("s", rows(("x", 15)))
        assert found(node) == []
        node.push("s", rows(("x", 15)))
        assert found(node) == [{"at": 0, "k": "a", "n": 1}]


def test_the_log_keeps_only_the_marks_that_are_needed(tmp_path: Path) -> None:
    with opened(tmp_path) as node:
        node.deploy(counts())
        for at in range(50):
            node.push("s", rows(("a", at)))
            node.drain()
        plan = node._ledger.plan
        maker = maker_of("s", plan.makers["s"])
        kept = node._ledger.catalog.rows("select count(*) from mark where maker = ?", maker)
        assert kept[0][0] <= 2
