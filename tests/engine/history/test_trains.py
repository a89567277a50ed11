"""Trains over history: those of superboxes that begin with a lookup, and those that scan, give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.engine.history.bench import Bench, opened, tuples

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.history import organisation as keeping
from australis.engine.history.allowed_values import EVERYTHING
from australis.engine.history.passing_values import let_through
from australis.engine.ingest.log import Arrival
from australis.engine.ledger.log import LOAD, Head
from australis.engine.spark.sql_runner import SqlRunner
from australis.engine.store import runs
from australis.engine.store.segments import Segment, read_segment
from australis.engine.train.dispatch import Dispatch
from australis.engine.train.sizing import shares
from australis.engine.worker.plan_files import write_plan
from australis.engine.worker.task import Task
from australis.engine.worker.waybill import Share, Waybill

ROWS = 400
HOSTS = pa.table({"id": pa.array([3, 5, None], pa.int32()), "name": ["three", "five", "none"]})


@pytest.fixture(autouse=True, scope="module")
def small() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "RUN_ROWS_MOST", 50)
        patch.setattr(runs, "GROUP_ROWS", 8)
        yield


def asked(
    query: Callable[[Stream, Stream], Stream], schema: str = "k int, at long not null, v double"
) -> Network:
    """A network with a connection point, and a query on it, named `query`."""
    net = NetworkBuilder("n")
    stream = net.input("s", schema).point("past", history="forever", key="k")
    stream.filter("v > 0", as_="live").output("out")
    query(stream, net.table("hosts", "id int, name string")).output("answer")
    return net.build()


@contextmanager
def filled(folder: Path, given: Network) -> Iterator[Bench]:
    """A root with runs, and some segments behind them."""
    with opened(folder, given) as bench:
        bench.ingest.append(Arrival("hosts", bench.ingest.store("hosts", HOSTS, 0), 0, LOAD))
        for number in range(0, ROWS, 10):
            bench.push(numbered(number))
        bench.passed()
        bench.gather()
        for number in range(ROWS, ROWS + 30, 10):
            bench.push(numbered(number))
        yield bench


def numbered(first: int) -> pa.Table:
    at = pa.array(range(first, first + 10), pa.int64())
    return tuples(first, 10).drop_columns(["note"]).add_column(1, "at", at)


def attached(bench: Bench, members: tuple[str, ...] = ("query",)) -> tuple[Dispatch, tuple[str, ...]]:
    """The trains of a superbox that is at the beginning of history."""
    bench.stand(dict.fromkeys(members, Head()))
    return bench.dispatch(), members


def answers(bench: Bench, waybill: Waybill) -> list[dict[str, object]]:
    """What a train writes, without the segments' names."""
    plan = write_plan(bench.ledger.root, bench.ledger.plan.superboxes)
    told = Waybill.from_json(replace(waybill, plan=plan).to_json())
    manifest = Task(told, told.shares[0], 0).run()
    rows = []
    for segment in manifest.segments:
        columns = bench.ledger.plan.arcs[segment.arc].schema.names
        rows += read_segment(bench.ledger.root, segment, columns, 0, 1 << 62).to_pylist()
    return rows


def scanned(bench: Bench, waybill: Waybill) -> list[dict[str, object]]:
    """What the train writes if it reads everything."""
    queues = bench.ledger.queues
    streams = {
        name: tuple(sorted(queues.segments[bench.ledger.plan.superboxes["query"].streams[name]], key=_base))
        for name in waybill.streams
    }
    return answers(bench, replace(waybill, streams=streams, lookups={}))


def _base(segment: object) -> int:
    return segment.base  # type: ignore[attr-defined,no-any-return]


QUERIES: dict[str, Callable[[Stream, Stream], Stream]] = {
    "filter": lambda s, _: s.filter("k = 3", as_="query"),
    "range": lambda s, _: s.filter("k between 4 and 5 and v > 20", as_="query"),
    "set": lambda s, _: s.filter("k in (1, 8)", as_="query"),
    "nobody": lambda s, _: s.filter("k = 77", as_="query"),
    "join": lambda s, hosts: s.join(
        hosts, "left.k = right.id", left=Order("at", slack=3, group_by=("k",)), as_="query"
    ),
}
SCANS: dict[str, Callable[[Stream, Stream], Stream]] = {
    "another attribute": lambda s, _: s.filter("v > 100", as_="query"),
    "a map": lambda s, _: s.map({"k": "k"}, as_="query"),
    "the rest": lambda s, _: s.route("k = 3", as_="query")[1],
    "an order over all keys": lambda s, hosts: s.join(
        hosts, "left.k = right.id", left=Order("at", slack=3), as_="query"
    ),
    "another pair": lambda s, hosts: s.join(
        hosts, "left.k + 1 = right.id", left=Order("at", slack=3, group_by=("k",)), as_="query"
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_lookup_answers_as_a_scan_does_and_reads_less(tmp_path: Path, name: str) -> None:
    with filled(tmp_path, asked(QUERIES[name])) as bench:
        dispatch, members = attached(bench)
        waybill = bench.make_waybill(dispatch, members, 1_000_000)
        assert list(waybill.lookups) == ["s"]
        assert waybill.time_slices[-1].hi == bench.ledger.queues.log_end, "one train for all"
        runs_read = [segment for segment in waybill.streams["s"] if segment.is_run]
        assert len(runs_read) == (0 if name == "nobody" else ROWS // 50)
        assert answers(bench, waybill) == scanned(bench, waybill)
        assert bench.waiting(dispatch, "query") < (ROWS + 30) * 0.6


@pytest.mark.parametrize("name", SCANS)
def test_what_is_no_lookup_is_a_scan(tmp_path: Path, name: str) -> None:
    with filled(tmp_path, asked(SCANS[name])) as bench:
        dispatch, members = attached(bench)
        assert bench.make_waybill(dispatch, members, 1_000_000).lookups == {}
        assert bench.waiting(dispatch, "query") == ROWS + 30


def test_all_boxes_that_read_the_point_are_looked_up_for_together(tmp_path: Path) -> None:
    def both(stream: Stream, hosts: Stream) -> Stream:
        return stream.filter("k = 1", as_="query").union(stream.filter("k = 8", as_="other"), as_="all")

    with opened(tmp_path, asked(both)) as bench:
        made = bench.ledger.plan.joined(("query", "other", "all"))
        found = let_through(bench.ledger.root, made, "s", made.network.inputs["s"].schema["k"], {})
        assert [(low[1], high[1]) for low, high in found.ranges] == [(1, 1), (8, 8)]


def test_tuples_that_may_have_to_be_quarantined_are_all_read(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    stream = net.input("s", "k int not null, at long, v double")
    stream.point("past", history="forever", key="k").filter("k = 3", as_="query").output("answer")
    with opened(tmp_path, net.build()) as bench:
        (made,) = bench.ledger.plan.superboxes.values()
        field = made.network.inputs["s"].schema["k"]
        assert let_through(bench.ledger.root, made, "s", field, {}) == EVERYTHING


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_trains_of_any_length_come_to_the_same(shared: Bench, lengths: list[int]) -> None:
    dispatch, members = attached(shared)
    rows: list[dict[str, object]] = []
    whole = answers(shared, shared.make_waybill(dispatch, members, 1_000_000))
    for most in [*lengths, 1_000_000]:
        if not shared.ledger.queues.is_caught_up("query"):
            waybill = shared.make_waybill(dispatch, members, most)
            rows += answers(shared, waybill)
            shared.stand({"query": Head(waybill.time_slices[-1].hi, 1)})
    assert rows == whole
    assert len(whole) == 43


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, small: object) -> Iterator[Bench]:
    with filled(tmp_path_factory.mktemp("shared"), asked(QUERIES["filter"])) as bench:
        yield bench


# --- by way of Spark


def test_spark_reads_runs_in_the_order_of_numbers(spark: SparkSession, tmp_path: Path) -> None:
    """Tuples of one number come by another order than keys do, and a window over all keys can tell."""

    def windows(stream: Stream, hosts: Stream) -> Stream:
        order = Order("at", slack=2)
        return stream.aggregate({"first": "first(k)", "last": "last(v)"}, order, size=7, as_="query")

    with filled(tmp_path, asked(windows)) as bench:
        dispatch, members = attached(bench)
        waybill = bench.make_waybill(dispatch, members, 1_000_000)
        runner = SqlRunner(spark, bench.ledger.root, bench.ledger.plan)
        segments = [segment for manifest in runner.run(waybill) for segment in manifest.segments]
        columns = bench.ledger.plan.arcs["query"].schema.names
        rows = [
            row
            for segment in segments
            for row in read_segment(bench.ledger.root, segment, columns, 0, 1 << 62).to_pylist()
        ]
        assert rows == answers(bench, waybill)
        assert len(rows) > 50


@given(st.integers(1, 400), st.integers(2, 9))
def test_tasks_share_a_train_where_no_run_is_cut(shared: Bench, lo: int, tasks: int) -> None:
    runs_read = [each for each in shared.segments() if each.is_run and each.end > lo]
    found = tasks_of(shared, tasks, (lo, 430), {each: each.rows for each in runs_read})
    assert [(found[0].lo, found[-1].hi)] == [(lo, 430)]
    assert all(before.hi == after.lo for before, after in pairwise(found))
    assert not any(run.base < share.hi < run.end for run in runs_read for share in found[:-1])


def tasks_of(
    bench: Bench, tasks: int, numbers: tuple[int, int], weights: Mapping[Segment, int]
) -> tuple[Share, ...]:
    """How a train of the query with many tuples is divided."""
    superbox = bench.ledger.plan.superboxes["query"]
    return shares(superbox, 10**9, tasks_most=tasks, partitions=1, numbers=numbers, weights=weights)


def test_tasks_have_as_much_to_read_each(shared: Bench) -> None:
    """Though a lookup reads little of a run, and all of what is in none."""
    found = sorted(shared.segments(), key=lambda s: s.base)
    weights = {each: 1 if each.is_run else each.rows for each in found}
    first, second = tasks_of(shared, 2, (0, found[-1].end), weights)
    assert first.hi == second.lo
    assert sum(1 for each in found if each.end <= first.hi) > len([each for each in found if each.is_run])
