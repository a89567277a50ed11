"""Calibration: samples in proportion to rates, selectivities by port, and what is said of poor samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.calibrate.calibration import calibrate
from australis.engine.calibrate.root_costs import known_costs
from australis.engine.calibrate.samples import ROUNDS, sample
from australis.engine.observe.statistics import (
    BoxStatistics,
    OutputStatistics,
    Statistics,
    SuperboxStatistics,
)
from australis.errors import EngineError
from australis.kernels.kernel import CAUSE


def network() -> Network:
    net = NetworkBuilder("zones")
    names = net.table("names", "sid int, name string")
    far, near, _ = net.input("pos", "sid int, time long, x int").route("x >= 900", "x >= 500", as_="route")
    known = far.join(names, "left.sid = right.sid", left=Order("time", slack=100), as_="known")
    known.output("named")
    near.map({"time": "time", "x": "x"}, as_="slim").union(
        net.input("more", "time long, x int"), as_="all"
    ).aggregate({"n": "count(*)"}, Order("time", slack=10), size=1, as_="count").output("counts")
    return net.build()


RATES = {"pos": 3_000.0, "more": 1_000.0}


def ticking(step: int = 1_000) -> Callable[[], int]:
    """A clock on which some time passes between any two looks."""
    ticks = count(0, step)
    return lambda: next(ticks)


def test_tuples_come_in_proportion_to_the_rates() -> None:
    found = sample(network(), {}, RATES, 200_000)
    assert {name: table.num_rows for name, table in found.streams.items()} == {"pos": 150_000, "more": 50_000}
    assert found.seconds == pytest.approx(50)
    assert found.tables["names"].num_rows > 0
    assert found.cuts[1] == ROUNDS[0]
    assert max(b - a for a, b in zip(found.cuts, found.cuts[1:], strict=False)) == ROUNDS[1]
    rounds = [found.round(number) for number in range(found.rounds)]
    assert sum(table.num_rows for each in rounds for table in each.values()) == 200_000
    numbers = [each for table in rounds[-1].values() for each in table[CAUSE].to_pylist()]
    assert sorted(numbers) == list(range(len(numbers))), "they are interleaved"
    assert rounds[-1]["more"][CAUSE][0].as_py() < 4


def test_times_go_on_as_they_would_at_the_rate() -> None:
    found = sample(network(), {}, {"pos": 1_000.0, "more": 1_000.0}, 20_000)
    times = found.streams["pos"]["time"]
    assert times[-1].as_py() - times[0].as_py() in (9, 10)


def test_selectivities_by_port_and_costs() -> None:
    found = calibrate(network(), sample(network(), {}, RATES, 40_000), clock=ticking())
    boxes = found.costs.boxes
    assert list(boxes) == list(network().order)
    assert boxes["route"].selectivity == pytest.approx((0.1, 0.4, 0), abs=0.02)
    assert boxes["slim"].selectivity == (1.0,)
    assert boxes["all"].selectivity == (1.0,)
    assert boxes["known"].selectivity == pytest.approx((1.0,), abs=0.2)
    assert 0 < boxes["count"].selectivity[0] < 0.01
    assert all(cost.tuple_us > 0 for cost in boxes.values())
    assert set(found.costs.inputs_us) == {"pos", "more"}
    assert set(found.costs.outputs_us) == {"named", "counts"}
    assert 0 < found.tuples < 40_000, "the first tuples fill windows, and are not measured"
    assert found.notes == ()


def test_files_and_generators(tmp_path: Path) -> None:
    path = tmp_path / "pos.parquet"
    rows = pa.table({"sid": [1] * 30, "time": range(30), "x": [950] * 30})
    pq.write_table(rows.cast(network().inputs["pos"].schema.arrow), path)
    sources = {"pos": str(path), "more": "generator:seed=3,rate=5/s,x=key(2)"}
    drawn = sample(network(), sources, RATES, 4_000)
    assert drawn.streams["pos"].num_rows == 30
    assert set(drawn.streams["more"]["x"].to_pylist()) == {0, 1}
    assert drawn.notes == ("pos: 30 tuples, where its rate asks for 3,000",)
    found = calibrate(network(), drawn, clock=ticking())
    assert found.costs.boxes["route"].selectivity == (1.0, 0.0, 0.0)
    assert any(note.startswith("no tuple came to slim") for note in found.notes)
    assert any("tuples were measured: in short batches each costs more" in note for note in found.notes)


def test_windows_that_never_close_are_told() -> None:
    net = NetworkBuilder("long")
    stream = net.input("a", "time timestamp, x int")
    stream.aggregate({"n": "count(*)"}, Order("time"), size="1 day", as_="daily").output("n")
    found = calibrate(net.build(), sample(net.build(), {}, {"a": 1_000.0}, 20_000))
    assert found.notes == ("nothing came out of daily: a longer sample closes longer windows",)


# --- what a node knows


def statistics(**boxes: BoxStatistics) -> Statistics:
    outputs = {name: OutputStatistics(tuples, None, None, None, {}) for name, tuples in COUNTED.items()}
    superbox = SuperboxStatistics(tuple(boxes), 0, 0, 10, 100.0, 90.0)
    return Statistics("zones", 0, boxes, outputs, {"route+4": superbox}, {}, ports=PORTS)


COUNTED = {"named": 90, "counts": 5}
PORTS = {"route": 100, "route.1": 400, "known": 90, "slim": 400, "all": 500}
KNOWN = {
    "route": BoxStatistics(received=1_000, emitted=1_000, unread=500, nanoseconds=2_000_000),
    "known": BoxStatistics(received=100, emitted=90, nanoseconds=5_000_000),
    "slim": BoxStatistics(received=400, emitted=400, nanoseconds=400_000),
    "all": BoxStatistics(received=500, emitted=500, nanoseconds=100_000),
    "count": BoxStatistics(),
}


def test_a_node_knows_costs_and_selectivities() -> None:
    found = known_costs(network(), statistics(**KNOWN))
    assert found.costs.boxes["route"].tuple_us == pytest.approx(2)
    assert found.costs.boxes["route"].selectivity == (0.1, 0.4, 0.0)
    assert found.costs.boxes["known"].selectivity == (0.9,)
    assert found.costs.boxes["all"].selectivity == (1.0,)
    assert found.costs.train_us == pytest.approx(90_000 - 7_500 / 10)
    (note,) = found.notes
    assert note == "the node had no tuple for count: nothing is known of their costs, and 0 is assumed"


def test_the_root_of_another_network_is_refused() -> None:
    with pytest.raises(EngineError, match="expected the root of this very network"):
        known_costs(network(), statistics(other=BoxStatistics()))
