"""A whole network on kernels: how batches travel, what is counted, what is refused, and snapshots."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from australis.algebra.builder import NetworkBuilder
from australis.algebra.counters import Counters
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.schema import TS
from australis.errors import AlgebraError
from australis.kernels.pipeline import Pipeline
from australis.kernels.run import PipelineRun


def soldiers() -> Network:
    """Aurora 5.3, query 1: when are m soldiers across the border at once? With m = 2 and k = 30."""
    net = NetworkBuilder("soldiers")
    pos = net.input("pos", "sid int not null, time long, pos int")
    across = pos.filter("pos >= 30", as_="across")
    count = across.aggregate({"soldiers": "count(*)"}, Order("time"), size=1, as_="count")
    count.filter("soldiers >= 2", as_="enough").output("alarm")
    across.output("across")
    return net.build()


def reports(*rows: tuple[Any, ...]) -> pa.Table:
    names = ("sid", "time", "pos")
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def test_a_batch_travels_through_all_boxes() -> None:
    run = PipelineRun(soldiers())
    outputs = run.push("pos", reports((1, 1, 30), (2, 1, 31), (3, 1, 29), (1, 2, 32)), now=7)
    assert outputs["across"].select(["sid", "time"]).to_pylist() == [
        {"sid": 1, "time": 1},
        {"sid": 2, "time": 1},
        {"sid": 1, "time": 2},
    ]
    assert outputs["alarm"].select(["time", "soldiers"]).to_pylist() == [{"time": 1, "soldiers": 2}]
    assert outputs["alarm"][TS].cast(pa.int64()).to_pylist() == [7], "tuples without a ts have that of now"
    assert outputs["quarantine"].num_rows == 0


def test_every_output_has_its_schema_at_every_event() -> None:
    network = soldiers()
    run = PipelineRun(network)
    for outputs in (run.tick(1), run.push("pos", reports((1, 1, 30)), 2), run.flush(3)):
        assert list(outputs) == ["alarm", "across", "quarantine"]
        for name, table in outputs.items():
            assert table.schema == network.output_schema(name).arrow_with_ts


def test_the_end_flushes_each_box_after_what_the_boxes_before_it_have_flushed() -> None:
    run = PipelineRun(soldiers())
    run.push("pos", reports((1, 1, 30), (2, 1, 31)), 0)
    assert run.flush(0)["alarm"]["soldiers"].to_pylist() == [2]


def test_what_goes_through_a_box_is_counted() -> None:
    run = PipelineRun(soldiers())
    run.push("pos", reports((1, 5, 30), (2, 4, 31), (3, None, 40), (4, 1, 0)), 0)
    run.push("pos", reports((1, 6, 30)), 1)
    assert run.counters() == {
        "across": Counters(received=5, emitted=5),
        "count": Counters(received=4, emitted=1, late=1, rejected=1),
        "enough": Counters(received=1, emitted=1),
    }


def test_tuples_that_cannot_be_processed_go_to_the_quarantine() -> None:
    run = PipelineRun(soldiers())
    found = run.push("pos", reports((None, 1, 30), (2, None, 31)), 4)["quarantine"]
    assert found["path"].to_pylist() == ["soldiers.pos", "soldiers.count"]
    assert found["tuple"].to_pylist() == [
        '{"sid": null, "time": 1, "pos": 30}',
        '{"sid": 2, "time": null, "pos": 31}',
    ]
    assert found[TS].cast(pa.int64()).to_pylist() == [4, 4]


def test_what_one_tuple_causes_comes_before_what_the_next_one_does() -> None:
    net = NetworkBuilder("ports")
    numbers = net.input("numbers", "n long")
    small = numbers.filter("n < 10", as_="small")
    numbers.union(small, as_="both").output("all")
    run = PipelineRun(net.build())
    assert run.push("numbers", pa.table({"n": [1, 20, 2]}), 0)["all"]["n"].to_pylist() == [1, 1, 20, 2, 2]


def test_timeouts_fire_in_boxes_that_receive_nothing() -> None:
    net = NetworkBuilder("late")
    events = net.input("events", "at long")
    counted = events.aggregate({"n": "count(*)"}, Order("at"), size=10, timeout="5 us", as_="count")
    counted.output("counts")
    run = PipelineRun(net.build())
    run.push("events", pa.table({"at": [1, 2]}), 100)
    due = run.deadline()
    assert due is not None
    assert run.tick(due - 1)["counts"].num_rows == 0
    assert run.tick(due)["counts"]["n"].to_pylist() == [2]


def test_a_run_continues_from_a_snapshot() -> None:
    first, second = PipelineRun(soldiers()), PipelineRun(soldiers())
    first.push("pos", reports((1, 1, 30)), 0)
    second.restore(first.snapshot())
    for run in (first, second):
        assert run.push("pos", reports((2, 1, 31), (3, 2, 0), (4, 2, 30)), 1)["alarm"][
            "soldiers"
        ].to_pylist() == [2]
    assert first.counters() == second.counters()


def test_a_pipeline_has_no_state_of_its_own() -> None:
    pipeline = Pipeline(soldiers())
    start = pipeline.start()
    once = pipeline.push(start, "pos", reports((1, 1, 30), (2, 1, 31)), 0)
    again = pipeline.push(start, "pos", reports((1, 1, 30), (2, 1, 31)), 0)
    assert once.outputs == again.outputs
    assert pipeline.flush(once.state, 0).outputs["alarm"].num_rows == 1
    assert pipeline.flush(start, 0).outputs["alarm"].num_rows == 0


def test_what_a_box_emits_is_counted_port_by_port() -> None:
    net = NetworkBuilder("routes")
    far, near, _ = net.input("pos", "pos int").route("pos > 50", "pos > 20", as_="route")
    far.output("far")
    near.union(far, as_="all").output("all")
    pipeline = Pipeline(net.build())
    passage = pipeline.push(pipeline.start(), "pos", pa.table({"pos": [60, 30, 70, 25, 55, 10]}), 0)
    assert passage.ports == {Ref("route"): 3, Ref("route", 1): 2, Ref("route", 2): 0, Ref("all"): 5}
    assert passage.unread["route"] == 1


def test_stored_tables_are_loaded_before_the_stream() -> None:
    net = NetworkBuilder("names")
    pos, names = net.input("pos", "sid int, time long"), net.table("names", "sid int not null, name string")
    pos.join(names, "left.sid = right.sid", left=Order("time")).output("named")
    run = PipelineRun(net.build())
    refused = run.load("names", pa.table({"sid": [1, None], "name": ["Ann", "Bob"]}))["quarantine"]
    assert refused["path"].to_pylist() == ["names.names"]
    assert run.push("pos", pa.table({"sid": [1, 2], "time": [1, 2]}), 0)["named"]["name"].to_pylist() == [
        "Ann"
    ]


def test_batches_that_do_not_fit_are_refused_by_name() -> None:
    run = PipelineRun(soldiers())
    with pytest.raises(AlgebraError, match="no input 'poz'"):
        run.push("poz", reports((1, 1, 1)), 0)
    with pytest.raises(AlgebraError, match=r"soldiers\.pos: the batch has no column 'time'"):
        run.push("pos", pa.table({"sid": [1], "pos": [1]}), 0)
