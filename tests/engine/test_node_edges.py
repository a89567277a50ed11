"""Shapes of networks and turns of fate at the edges: what a node must not trip over."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from australis import Network, NetworkBuilder, Node, Order
from australis.engine.files.rows import Rejected
from australis.engine.maintain import compaction
from australis.engine.store.segments import Segment
from australis.errors import EngineError

pytestmark = pytest.mark.spark


def two_outputs_of_one_stream() -> Network:
    net = NetworkBuilder("edges")
    some = net.input("x", "a long not null").filter("a >= 0", as_="some")
    some.output("one")
    some.output("two")
    return net.build()


def numbers(table: pa.Table) -> list[int]:
    found: list[int] = table["a"].to_pylist()
    return found


def test_small_segments_with_nulls_where_none_may_be_become_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "RUN_LEAST", 4)
    with Node(tmp_path / "root", train=2, in_flight=1) as node:
        node.deploy(two_outputs_of_one_stream())
        node.pause()
        for value in (1, None, 2, 3, None, 4, 5, 6):
            node.push("x", pa.table({"a": pa.array([value], pa.int64())}))
        assert node.step() is not None
        node.push("x", pa.table({"a": [7]}))
        node.resume()
        node.drain()
        assert numbers(node.read("one")) == [1, 2, 3, 4, 5, 6, 7]
        assert node.read("quarantine").num_rows == 2
        assert node.statistics().outputs["quarantine"].tuples == 2


def test_rows_that_are_no_tuples_are_counted_once(spark: SparkSession, tmp_path: Path) -> None:
    """Those that a source could not read, those of a stored table, and those that do not fit the schema."""
    net = NetworkBuilder("edges")
    names = net.table("names", "a long not null")
    net.input("x", "a long not null").join(names, "left.a = right.a", left=Order("a")).output("one")
    bad = [Rejected(f"line {line}", "{}") for line in range(3)]
    tables = {"names": pa.table({"a": pa.array([1, None], pa.int64())})}
    for _ in range(2):
        with Node(tmp_path / "root") as node:
            node.deploy(net.build(), tables=tables, rejected={"names": bad[:1]})
            if node.position("bad rows") is None:
                batch = pa.table({"a": pa.array([1, None], pa.int64())})
                node.push("x", batch, rejected=bad, position=("bad rows", "pushed"))
            node.drain()
            assert node.read("quarantine").num_rows == 6
            assert node.statistics().outputs["quarantine"].tuples == 6


@pytest.mark.parametrize("way", ["fused", "spark"])
def test_what_does_not_fit_an_input_that_nobody_reads(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """It is quarantined as on any input, and the rest goes: a stream, and a stored table."""
    net = NetworkBuilder("edges")
    net.input("x", "a long not null").filter("a > 0", as_="some").output("one")
    net.input("unread", "a long not null")
    net.table("names", "a long not null")
    table = pa.table({"a": pa.array([1, None, 2], pa.int64())})
    with Node(tmp_path / "root", way=way) as node:
        node.deploy(net.build(), tables={"names": table})
        node.push("unread", table)
        node.drain()
        found = node.read("quarantine")
        assert found["path"].to_pylist() == ["edges.names", "edges.unread"]
        assert found["#seq"].to_pylist() == [2, 6]
        assert not any(node.statistics().arcs[name] for name in ("x", "unread", "names"))


def test_no_more_is_compacted_at_a_time_than_fits_the_memory() -> None:
    segments = [Segment("x", f"{n}", n, n + 1, 19_000, 1, 1) for n in range(1_000)]
    run = compaction.small_run(segments)
    assert 0 < sum(segment.rows for segment in run) <= compaction.RUN_ROWS_MOST


def test_outputs_of_one_stream_have_consumers_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root") as node:
        node.deploy(two_outputs_of_one_stream())
        node.push("x", pa.table({"a": [1, 2]}))
        for output in ("one", "two"):
            found = pa.concat_tables(node.subscribe(output, follow=False))
            assert numbers(found) == [1, 2], output
        assert not list((tmp_path / "root" / "segments").iterdir())


def test_the_catalogue_of_another_root_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Node(tmp_path / name, catalog=tmp_path / f"catalog-{name}") as node:
            node.deploy(two_outputs_of_one_stream())
            node.push("x", pa.table({"a": [1]}))
            node.drain()
    files = sorted((tmp_path / "b" / "segments").iterdir())
    with pytest.raises(EngineError, match=r"is not the root that the catalogue .* belongs to"):
        Node(tmp_path / "b", catalog=tmp_path / "catalog-a")
    assert sorted((tmp_path / "b" / "segments").iterdir()) == files


def test_a_stored_table_takes_no_tuples_later(spark: SparkSession, tmp_path: Path) -> None:
    net = NetworkBuilder("edges")
    names = net.table("names", "a long, name string")
    stream = net.input("x", "a long, at long")
    stream.join(names, "left.a = right.a", left=Order("at")).output("named")
    with Node(tmp_path / "root") as node:
        node.deploy(net.build(), tables={"names": pa.table({"a": [1], "name": ["one"]})})
        with pytest.raises(EngineError, match="names: is a stored table"):
            node.push("names", pa.table({"a": [2], "name": ["two"]}))


@pytest.mark.parametrize(
    ("column", "told"), [(["1", "x"], "its column 'a' is string"), ([1.5, 2.5], "its column 'a' is double")]
)
def test_a_file_of_other_types_is_not_adopted(
    spark: SparkSession, tmp_path: Path, column: list[object], told: str
) -> None:
    pq.write_table(pa.table({"a": column}), tmp_path / "x.parquet")
    with Node(tmp_path / "root") as node:
        node.deploy(two_outputs_of_one_stream())
        with pytest.raises(EngineError, match=told):
            node.adopt("x", tmp_path / "x.parquet")
        node.push("x", pa.table({"a": [1]}))
        node.drain()
        assert numbers(node.read("one")) == [1]


def test_an_interrupt_behind_the_commit_of_a_push_leaves_a_node_that_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Node(tmp_path / "root") as node:
        node.deploy(two_outputs_of_one_stream())
        with monkeypatch.context() as patched:
            patched.setattr("australis.engine.ingest.log.crash_point", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                node.push("x", pa.table({"a": [1]}))
        node.push("x", pa.table({"a": [2]}))
        node.drain()
        assert numbers(node.read("one")) == [1, 2]


def test_an_empty_push_leaves_no_file(spark: SparkSession, tmp_path: Path) -> None:
    with Node(tmp_path / "root") as node:
        node.deploy(two_outputs_of_one_stream())
        node.push("x", pa.table({"a": pa.array([], pa.int64())}))
        node.drain()
        assert not list((tmp_path / "root" / "segments").iterdir())


def _interrupted(point: str) -> None:
    if point == "ingest.committed":
        raise KeyboardInterrupt
