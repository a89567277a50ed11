"""Drop boxes by value, tried on samples that run through the kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.algebra.builder import NetworkBuilder
from australis.algebra.expr import parse
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.quality import Quality, ValueGraph
from australis.kernels.boxes.drop import fractions
from australis.kernels.expressions import evaluate
from australis.kernels.expressions.arrays import truths
from australis.kernels.pipeline import Pipeline
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.semantic import NOTHING, Gate, Trial, by_backward, is_better, value_curve
from australis.policy.shed.shedder import Insert, Shedder
from australis.policy.shed.trials import Samples, by_trial, by_value, for_stages
from australis.qos.histograms import count

RISING = ((0.0, 0.0), (100.0, 1.0))
KINDS = ValueGraph("kind", categories=(("alarm", 1.0), ("state", 0.3), ("note", 0.1)))


class Sample:
    """A sample of what arrives at a gate, and the boxes after it."""

    def __init__(self, network: Network, **tables: pa.Table) -> None:
        self.network, self._tables = network, tables
        self.gate = Gate(network, "out", tuple(tables))
        self._pipeline = Pipeline(network)
        self.trials: list[DropBox] = []

    def try_(self, box: DropBox) -> Trial:
        self.trials.append(box)
        kept = {name: self._kept(name, box) for name in self._tables}
        out = self._pipeline.advance(self._pipeline.start(), kept, 0, ending=True).outputs["out"]
        bins = self.gate.bins
        assert bins is not None
        values = out[bins.graph.attribute].to_numpy(zero_copy_only=False)
        whole = sum(map(len, self._tables.values()))
        return Trial(1 - sum(map(len, kept.values())) / whole, count(bins, values))

    def _kept(self, name: str, box: DropBox) -> pa.Table:
        """The tuples that a drop box admits."""
        rows = self._tables[name]
        hit = fractions(0, np.arange(len(rows))) < box.share
        if box.where:
            text = box.where.get(name, "FALSE")
            hit &= truths(evaluate(parse(text).bind(self.network.schemas[Ref(name)]), rows, "UTC"))
        return rows.filter(pa.array(~hit))

    @property
    def samples(self) -> Samples:
        return {
            name: {each: rows[each].to_numpy(zero_copy_only=False) for each in rows.column_names}
            for name, rows in self._tables.items()
        }

    def utility(self, box: DropBox) -> float:
        """The utility left, as a fraction of the whole."""
        worths = np.array(self.gate.bins.utilities if self.gate.bins else ())
        return float(self.try_(box).counts @ worths / (self.try_(NOTHING).counts @ worths))


def numbers(size: int = 4000) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Numbers from 0 to 100 in no order, the same ones every time."""
    return np.arange(size) * 7919 % size * 100 / size


def scaled(points: tuple[tuple[float, float], ...] = RISING, keep: str = "x >= 0") -> Sample:
    net = NetworkBuilder("n")
    stream = net.input("in", "x double, kind string").filter(keep).map({"v": "100 - x / 10", "kind": "kind"})
    stream.output("out", quality=Quality(value=ValueGraph("v", points=points)))
    values = numbers() * 10
    kinds = pa.array(["a", "b"] * (len(values) // 2))
    return Sample(net.build(), **{"in": pa.table({"x": values, "kind": kinds})})


# --- backward


def test_the_lowest_values_go_and_nothing_else() -> None:
    sample = scaled()
    box = by_value(sample.gate, 0.4, sample.try_)
    assert box is not None
    assert list(box.where) == ["in"]
    assert box.where["in"].startswith("((x >= 599.7")
    assert sample.try_(box).shed == pytest.approx(0.4, abs=0.03)
    # Of 0..100 evenly the upper 60 % are worth 84 % of all.
    assert sample.utility(box) == pytest.approx(0.84, abs=0.03)


def test_both_ends_go_where_the_middle_matters() -> None:
    sample = scaled(((0.0, 0.0), (50.0, 1.0), (100.0, 0.0)))
    box = by_value(sample.gate, 0.5, sample.try_)
    assert box is not None
    assert " OR " in box.where["in"]
    assert sample.utility(box) == pytest.approx(0.75, abs=0.03)


def test_what_a_filter_takes_anyway_does_not_count_as_shed() -> None:
    sample = scaled(keep="x < 500")
    box = by_value(sample.gate, 0.25, sample.try_)
    assert box is not None
    # Half of the tuples come out: half of those are a quarter of what comes to the gate.
    assert sample.try_(box).shed == pytest.approx(0.25, abs=0.03)


def test_a_category_that_is_too_frequent_is_shed_in_part() -> None:
    net = NetworkBuilder("n")
    net.input("in", "kind string").filter("kind <> ''").output("out", quality=Quality(value=KINDS))
    kinds = ["alarm"] * 20 + ["state"] * 20 + ["note"] * 60
    sample = Sample(net.build(), **{"in": pa.table({"kind": kinds})})
    box = by_value(sample.gate, 0.3, sample.try_)
    assert box is not None
    assert box.where == {"in": "(kind = 'note')"}
    assert box.share == pytest.approx(0.5)
    more = by_value(sample.gate, 0.8, sample.try_)
    assert more is not None
    assert more.where == {"in": "(kind IN ('note', 'state'))"}


def test_on_a_flat_graph_chance_is_as_good() -> None:
    sample = scaled(((0.0, 1.0), (100.0, 1.0)))
    assert by_value(sample.gate, 0.4, sample.try_) is None


def test_without_a_value_graph_there_is_nothing_to_tell() -> None:
    net = NetworkBuilder("n")
    net.input("in", "x double").map({"v": "x"}).output("out", quality=Quality(loss=((0, 0), (1, 1))))
    gate = Gate(net.build(), "out", ("in",))
    assert by_value(gate, 0.4, lambda box: Trial(0.0, np.zeros(1, np.int64))) is None


def test_trials_are_few() -> None:
    sample = scaled(keep="x < 500")
    by_value(sample.gate, 0.25, sample.try_, sample.samples)
    assert len(sample.trials) <= 12


# --- by trial


def averages(size: int = 1) -> Sample:
    """Windows of some tuples of a sensor: no box determines which tuples a high average comes from."""
    net = NetworkBuilder("n")
    order = Order("t", group_by=("sensor",))
    graph = ValueGraph("level", points=RISING)
    stream = net.input("in", "t long, sensor int, room string, x double, noise double")
    stream.aggregate({"level": "avg(x)"}, order=order, size=size).map({"level": "level"}).output(
        "out", quality=Quality(value=graph)
    )
    tuples = 2000
    sensor = np.arange(tuples) % 20
    columns = {
        "t": pa.array(np.arange(tuples) // 20),
        "sensor": pa.array(sensor, pa.int32()),
        "room": pa.array([f"room{each // 5}" for each in sensor]),
        "x": pa.array(sensor * 5.0 + numbers(tuples) / 50),
        "noise": pa.array(numbers(tuples)[::-1].copy()),
    }
    return Sample(net.build(), **{"in": pa.table(columns)})


def test_a_range_at_the_gate_is_found_by_trial() -> None:
    sample = averages()
    assert by_backward(sample.gate, 0.5, sample.try_) is None
    box = by_value(sample.gate, 0.5, sample.try_, sample.samples)
    assert box is not None
    assert box.where["in"].startswith(("(sensor", "(x", "(room"))
    assert sample.try_(box).shed == pytest.approx(0.5, abs=0.05)
    # The upper half of the sensors has three quarters of the utility.
    assert sample.utility(box) > 0.7


def test_the_range_that_costs_least_is_the_one_found() -> None:
    sample = averages()
    only = {"in": {"sensor": sample.samples["in"]["sensor"]}}
    box = by_trial(sample.gate, 0.25, sample.try_, only)
    assert box is not None
    assert box.where == {"in": "(sensor <= 4)"}


def test_where_windows_come_out_all_the_same_chance_is_as_good() -> None:
    sample = averages(size=20)
    only = {"in": {"noise": sample.samples["in"]["noise"]}}
    assert by_value(sample.gate, 0.3, sample.try_, only) is None


def test_texts_at_the_gate_are_found_by_trial() -> None:
    sample = averages()
    only = {"in": {"room": sample.samples["in"]["room"]}}
    box = by_trial(sample.gate, 0.5, sample.try_, only)
    assert box is not None
    assert box.where == {"in": "(room IN ('room0', 'room1'))"}


def test_noise_gives_no_drop_box() -> None:
    sample = averages()
    only = {"in": {"noise": sample.samples["in"]["noise"]}}
    assert by_value(sample.gate, 0.4, sample.try_, only) is None


def test_one_stream_of_two_sheds_for_both() -> None:
    net = NetworkBuilder("n")
    left, right = net.input("a", "x double"), net.input("b", "x double")
    left.map({"v": "x"}).union(right.map({"v": "- x"})).output(
        "out", quality=Quality(value=ValueGraph("v", points=RISING))
    )
    tables = {name: pa.table({"x": numbers()}) for name in "ab"}
    sample = Sample(net.build(), **tables)
    box = by_value(sample.gate, 0.5, sample.try_)
    assert box is not None
    assert box.where.keys() == {"a", "b"}
    assert sample.utility(box) > 0.95


# --- what values are worth


@given(st.lists(st.integers(0, 100), min_size=4, max_size=4))
def test_curves_of_values_rise_ever_less_steeply(counts: list[int]) -> None:
    points = value_curve(KINDS, np.array(counts, np.int64))
    assert points[0][0] == 0.0
    assert points[-1] == (1.0, 1.0)
    steps = [((y1 - y0) / (x1 - x0)) for (x0, y0), (x1, y1) in pairwise(points)]
    assert all(x0 < x1 for (x0, _), (x1, _) in pairwise(points))
    assert all(later <= sooner + 1e-9 for sooner, later in pairwise(steps))


def test_a_better_drop_box_loses_less_than_chance() -> None:
    sample = scaled()
    bins = sample.gate.bins
    assert bins is not None
    assert is_better(bins, DropBox(0.2, {"in": "x >= 800"}), sample.try_)
    assert not is_better(bins, DropBox(0.2, {"in": "x < 200"}), sample.try_)


def test_a_shedder_asks_for_the_stages_that_have_a_gate() -> None:
    sample = scaled()
    tried: list[str] = []

    def try_(stage: str, box: DropBox) -> Trial:
        tried.append(stage)
        return sample.try_(box)

    ask = for_stages({"own": sample.gate}, try_, lambda stage: sample.samples)
    quality = Quality(delay=((0, 1), (1, 1), (2, 0)), value=sample.gate.graph)
    stages = {
        "shared": Stage("shared", {"own": 1.0}, frozenset({"out", "other"}), rate=100, tuple_us=100),
        "own": Stage("own", {}, frozenset({"out"}), tuple_us=20_000),
    }
    late = Situation(0, stages, {"out": Goal("out", quality, ("shared", "own"), delay=1.5)})
    (command,) = Shedder(by_value=ask).decide(late)
    assert isinstance(command, Insert)
    assert (command.stage, set(tried)) == ("own", {"own"})
    assert command.box.where["in"].startswith("((x >= ")
    assert command.box.rate == pytest.approx(0.505)
    assert ask("shared", 0.5) is None
