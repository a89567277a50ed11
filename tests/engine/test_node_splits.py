"""Nodes that split segments: outputs, counts and what is shed are those of nodes that do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conformance.engine_runs import several_tasks
from tests.engine.in_process import InProcess

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.store import Split
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert

SCHEMA = "at long, g string, k int, x double"
NEVER = 1 << 40


class FourTasks(InProcess):
    """Runs up to four tasks."""

    tasks = 4


@pytest.fixture(autouse=True)
def many_tasks() -> Iterator[None]:
    with several_tasks(1):
        yield


def readers() -> Network:
    """An input that is read by one key twice, by another one and without one, and windows after windows."""
    net = NetworkBuilder("readers")
    stream = net.input("s", SCHEMA).point("all", history="1 day")
    counts = stream.aggregate({"n": "count(*)"}, Order("at", 9, ("g",)), 10, as_="counts")
    counts.output("counted")
    counts.aggregate({"most": "max(n)"}, Order("at", 90, ("g",)), 20, as_="most").output("most")
    stream.aggregate({"mean": "avg(x)"}, Order("at", 9, ("g",)), 7, as_="means").output("means")
    stream.aggregate({"mean": "avg(x)"}, Order("at", 9, ("k",)), 5, as_="others").output("others")
    stream.bsort(Order("at", 9), as_="sorted").output("sorted")
    return net.build()


def rows(count: int, first: int = 0) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "at": pa.array(numbers, pa.int64()),
            "g": [None if n % 11 == 7 else f"g{n * n % 7}" for n in numbers],
            "k": pa.array([n % 5 for n in numbers], pa.int32()),
            "x": [n / 4 for n in numbers],
        }
    )


def node(root: Path, network: Network, split_from: int, partitions: int = 4) -> Node:
    found = Node(
        root,
        runner=FourTasks(),
        partitions=partitions,
        discipline="train",
        split_from=split_from,
        clock=lambda: 0,
    )
    found.deploy(network)
    return found


def outputs(node: Node) -> dict[str, list[dict[str, object]]]:
    """All outputs; what several groups emit with one number has no order."""
    node.drain()
    found = {name: node.read(name).to_pylist() for name in node.network().outputs}
    return {name: sorted(each, key=lambda row: (row["#seq"], repr(row))) for name, each in found.items()}


def splits(node: Node) -> dict[str, set[tuple[tuple[str, ...], int]]]:
    """How the segments of each arc are split."""
    known = node._ledger.queues.segments.items()
    parsed = {arc: [Split.parse(each.split) for each in found if each.split] for arc, found in known}
    return {arc: {(each.keys, each.partitions) for each in found} for arc, found in parsed.items() if found}


def lives(root: Path, file: Path, split_from: int) -> dict[str, list[dict[str, object]]]:
    """Three lives of a root with other numbers of partitions, an adopted file, and trains that are cut."""
    for life, partitions in enumerate((4, 3, 4)):
        with node(root, readers(), split_from, partitions) as running:
            running.pause()
            running.push("s", rows(50, life * 200), now=life)
            running.adopt("s", str(file), now=life)
            running.push("s", rows(60, life * 200 + 100), now=life)
            if split_from != NEVER:
                assert (("g",), partitions) in splits(running)["s"]
            running.step()
            if life < 2:
                continue
            running.resume()
            running.flush(9)
            running.drain()
            found = outputs(running)
            found["history"] = pa.concat_tables(running.history("all")).to_pylist()
    return found


def test_readers_by_several_keys_adopted_files_and_other_partitions(tmp_path: Path) -> None:
    file = tmp_path / "more.parquet"
    pq.write_table(rows(40, 1_000), file)
    expected = lives(tmp_path / "whole", file, NEVER)
    assert all(expected.values())
    assert lives(tmp_path / "split", file, 1) == expected


def test_most_readers_decide_on_the_key(tmp_path: Path) -> None:
    with node(tmp_path, readers(), 1) as running:
        running.pause()
        running.push("s", rows(50))
        assert splits(running) == {"s": {(("g",), 4)}}


def test_an_arc_that_is_read_by_rows_is_not_split(tmp_path: Path) -> None:
    net = NetworkBuilder("rows")
    stream = net.input("s", SCHEMA)
    stream.filter("x > 1", as_="some").output("some")
    stream.aggregate({"n": "count(*)"}, Order("at", 9, ("g",)), 10, as_="counts").output("counted")
    with node(tmp_path, net.build(), 1) as running:
        running.pause()
        running.push("s", rows(50))
        assert splits(running) == {}


@pytest.mark.parametrize("stream", ["s", "counts"])
def test_the_same_tuples_are_shed(tmp_path: Path, stream: str) -> None:
    """At an input, where every tuple has its own number, and after windows that a flush closes together."""
    net = NetworkBuilder("shedding")
    counts = net.input("s", SCHEMA).aggregate({"n": "count(*)"}, Order("at", 9, ("g",)), 10, as_="counts")
    counts.aggregate({"most": "max(n)"}, Order("at", 90, ("g",)), 20, as_="most").output("most")
    superbox = {"s": "counts", "counts": "most"}[stream]
    seen = []
    for split_from in (NEVER, 1):
        with node(tmp_path / str(split_from), net.build(), split_from) as running:
            running.pause()
            running.push("s", rows(300), now=0)
            running.flush(1)
            drop_box = DropBox.random(0.4)
            running._deployed.steering.dropboxes.obey([Insert(superbox, drop_box)], 0)
            running.resume()
            seen.append((outputs(running), [(each.arrived, each.shed) for each in running.shed()]))
    assert seen[0] == seen[1]
    assert seen[0][1][0][1] > 0
