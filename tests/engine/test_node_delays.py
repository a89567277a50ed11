"""What delays count from: the oldest tuple of a result, or the event that caused it; exact by a set clock."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.in_process import InProcess

from australis import NetworkBuilder, Node, Order, Quality
from australis.algebra.network import Network
from australis.algebra.progress import Progress
from australis.engine.observe.inspect import look

SECOND = 1_000_000
START = 1_000 * SECOND
GRAPH = ((1.0, 1.0), (4.0, 0.0))
SINCE = ("oldest", "trigger")


def minutes(timeout: str | None = None) -> Network:
    """The average of every minute, filtered, on an output for each way to count."""
    net = NetworkBuilder("minutes")
    window = net.input("s", "t timestamp, v double").aggregate(
        {"mean": "avg(v)"}, Order("t"), "1 min", timeout=timeout, as_="window"
    )
    kept = window.filter("mean > 0", as_="kept")
    for since in SINCE:
        kept.map({"mean": "mean"}, as_=f"map_{since}").output(since, Quality(delay=GRAPH, since=since))
    return net.build()


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def at(self, seconds: float) -> int:
        self.now = START + round(seconds * SECOND)
        return self.now


def tuples(*seconds: int) -> pa.Table:
    times = pa.array([each * SECOND for each in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"t": times, "v": [1.0] * len(seconds)})


def delays_s(node: Node) -> dict[str, float]:
    """The only delay of each output, in seconds."""
    outputs = node.statistics().outputs
    assert {name: outputs[name].tuples for name in SINCE} == dict.fromkeys(SINCE, 1)
    return {name: (outputs[name].delay_ms_p50 or 0) / 1000 for name in SINCE}


@pytest.mark.parametrize("discipline", ["superbox", "branch", "box"])
def test_a_result_of_a_window_is_as_late_as_its_output_counts(tmp_path: Path, discipline: str) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess(), discipline=discipline) as node:
        node.deploy(minutes())
        node.pause()
        node.push("s", tuples(0), now=clock.at(0))
        node.push("s", tuples(30), now=clock.at(30))
        node.push("s", tuples(61), now=clock.at(61))
        clock.at(61.5)
        node.resume()
        node.drain()
        assert delays_s(node) == pytest.approx({"oldest": 61.5, "trigger": 0.5}, rel=0.05)
        found = node.quality(10)
        assert found == look(tmp_path / "root").quality
        oldest, trigger = (found.outputs[name] for name in SINCE)
        assert (oldest.since, trigger.since) == SINCE
        assert (oldest.by_delay, trigger.by_delay) == (0.0, 1.0)
        assert (oldest.utility, trigger.utility) == (0.0, 1.0)


def test_a_window_that_time_closes_is_caused_by_the_time(tmp_path: Path) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess()) as node:
        node.deploy(minutes(timeout="20 s"))
        node.pause()
        node.push("s", tuples(0), now=clock.at(0))
        node.tick(now=clock.at(25))
        clock.at(27)
        node.resume()
        node.drain()
        assert delays_s(node) == pytest.approx({"oldest": 27.0, "trigger": 2.0}, rel=0.05)


def test_a_window_that_the_end_closes_is_caused_by_the_end(tmp_path: Path) -> None:
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess()) as node:
        node.deploy(minutes())
        node.pause()
        node.push("s", tuples(0), now=clock.at(0))
        node.flush(now=clock.at(40))
        clock.at(43)
        node.resume()
        node.drain()
        assert delays_s(node) == pytest.approx({"oldest": 43.0, "trigger": 3.0}, rel=0.05)


@pytest.mark.parametrize("by_tuple", [True, False])
def test_a_window_that_a_mark_closes_is_caused_by_what_raised_the_mark(
    tmp_path: Path, by_tuple: bool
) -> None:
    """A tuple of another group, or a promise of the source."""
    net = NetworkBuilder("minutes")
    order = Order("t", group_by=("v",), by="progress")
    stream = net.input("s", "t timestamp, v double", progress=Progress("t", slack="1 s"))
    window = stream.aggregate({"n": "count(*)"}, order, "1 min", as_="window")
    for since in SINCE:
        window.map({"n": "n"}, as_=f"map_{since}").output(since, Quality(delay=GRAPH, since=since))
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess()) as node:
        node.deploy(net.build())
        node.pause()
        node.push("s", tuples(0), now=clock.at(0))
        if by_tuple:
            other = tuples(70).set_column(1, "v", pa.array([2.0]))
            node.push("s", other, now=clock.at(70))
        else:
            node.promise("s", tuples(70)["t"][0], now=clock.at(70))
        clock.at(72)
        node.resume()
        node.drain()
        assert delays_s(node) == pytest.approx({"oldest": 72.0, "trigger": 2.0}, rel=0.05)


def test_causes_of_one_train_are_told_apart(tmp_path: Path) -> None:
    """Each tuple counts from its own event, though one train delivers them all."""
    net = NetworkBuilder("all")
    net.input("s", "t timestamp, v double").filter("v > 0", as_="some").output(
        "out", Quality(since="trigger")
    )
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess()) as node:
        node.deploy(net.build())
        node.pause()
        for second in (0, 8, 12, 14, 15):
            node.push("s", tuples(second), now=clock.at(second))
        clock.at(16)
        node.resume()
        node.drain()
        found = node.statistics().outputs["out"]
        assert node.statistics().superboxes["some"].trains == 1
    counted = sorted(2 ** ((index + 0.5) / 8) / SECOND for index in found.delay_buckets)
    assert counted == pytest.approx([1, 2, 4, 8, 16], rel=0.05)


def test_what_waits_after_a_window_waits_since_its_cause(tmp_path: Path) -> None:
    """A result that has not left yet has waited since the window closed, not since it was opened."""
    clock = Clock()
    with Node(tmp_path / "root", clock=clock, runner=InProcess(), discipline="box", schedule="fifo") as node:
        node.deploy(minutes())
        node.pause()
        node.push("s", tuples(0), now=clock.at(0))
        node.push("s", tuples(61), now=clock.at(61))
        clock.at(62)
        assert node.step() is not None
        clock.at(63)
        found = node.quality(1).outputs
        assert {name: found[name].waiting_s for name in SINCE} == {"oldest": 63.0, "trigger": 2.0}
        assert (found["oldest"].utility, found["trigger"].utility) == (0.0, None), "this one is not late"
