"""The monitor: what outputs got over a window, what that is worth, and what drop boxes have cost them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.engine.watched import DELAY, LOSS, NOW, SECOND, arrived, branches, delays, forked, opened

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.engine.ledger.counts.recent_counts import GateCount, Recent
from australis.engine.ledger.log import Head
from australis.engine.observe.inspect import look
from australis.engine.observe.quality import QualityReport, fractions_kept, monitor
from australis.engine.store.segments import Segment


def report(folder: Path, seen: Recent, now: int = NOW, since: int | None = None) -> QualityReport:
    """What the monitor says of the forked network; `since` a push waits, if it is said."""
    with opened(folder) as ledger:
        queues = ledger.queues if since is None else arrived(ledger, since)
        return monitor(queues.plan, queues, seen, now)


def test_utility_of_outputs_and_of_all(tmp_path: Path) -> None:
    seen = Recent(
        delays(tolerant={0.5: 30, 9.0: 10}, kinds={60.0: 4}, strict={0.2: 99, 5.0: 1}),
        {"tolerant": {0: 20, 9: 20}, "kinds": {0: 1, 1: 2, 2: 1}},
        {("levels", "arc_0"): GateCount(50, 10)},
    )
    found = report(tmp_path, seen)
    tolerant, kinds, strict = (found.outputs[name] for name in ("tolerant", "kinds", "strict"))
    assert (tolerant.by_delay, tolerant.by_loss, tolerant.by_value) == (0.75, 0.8, 0.5)
    assert tolerant.utility == pytest.approx(0.3)
    assert (kinds.by_delay, kinds.by_loss, kinds.by_value) == (1.0, 1.0, 0.375)
    assert kinds.utility == 0.75, "twice the weight"
    assert strict.utility == pytest.approx(0.99 * 5)
    assert found.utility == pytest.approx(0.3 + 0.75 + 4.95)
    assert found.most == 1 + 2 + 5
    assert (tolerant.tuples, kinds.tuples, strict.tuples) == (40, 4, 100)
    assert tolerant.values is not None
    assert [n for n in tolerant.values if n] == [20, 20]
    assert kinds.values == (1, 2, 1)
    assert strict.values is None


def test_delays_are_told_as_quantiles(tmp_path: Path) -> None:
    seen = Recent(delays(strict={0.1: 50, 1.0: 45, 3.0: 4, 20.0: 1}))
    strict = report(tmp_path, seen).outputs["strict"]
    told = (strict.delay_ms_p50, strict.delay_ms_p95, strict.delay_ms_p99)
    assert told == pytest.approx((100, 1_000, 3_000), rel=0.05)


def test_fractions_behind_one_another_multiply(tmp_path: Path) -> None:
    gates = {("some", "s"): GateCount(1_000, 500), ("levels", "arc_0"): GateCount(500, 100)}
    found = report(tmp_path, Recent(gates=gates)).outputs
    assert found["tolerant"].fraction == pytest.approx(0.4)
    assert found["strict"].fraction == found["kinds"].fraction == 0.5
    everything = report(tmp_path, Recent(gates={("levels", "arc_0"): GateCount(500, 500)})).outputs
    assert (everything["tolerant"].fraction, everything["tolerant"].utility) == (0.0, 0.0)
    assert everything["strict"].fraction == 1.0


def test_of_a_join_the_pairs_count_and_of_a_union_the_tuples() -> None:
    net = NetworkBuilder("two")
    left, right = (net.input(name, "k long, t long") for name in ("l", "r"))
    joined = left.join(right, "left.k = right.k", size=5, left=Order("t"), right=Order("t"), as_="pairs")
    joined.output("joined", Quality(delay=DELAY, loss=LOSS))
    net.input("a", "k long").union(net.input("b", "k long"), as_="all").output("both", Quality(loss=LOSS))
    gates = {
        ("pairs", "l"): GateCount(100, 50),
        ("pairs", "r"): GateCount(1_000, 600),
        ("all", "a"): GateCount(100, 50),
        ("all", "b"): GateCount(900, 0),
    }
    found = fractions_kept(branches(net.build()), gates)
    assert found["joined"] == pytest.approx(0.5 * 0.4)
    assert found["both"] == pytest.approx(0.95)
    assert found["quarantine"] == 1.0


@pytest.mark.parametrize(("waits_s", "utility"), [(1, None), (4, None), (5, 0.0)])
def test_what_waits_too_long_was_due(tmp_path: Path, waits_s: int, utility: float | None) -> None:
    found = report(tmp_path, Recent(), since=NOW - waits_s * SECOND)
    strict, kinds = found.outputs["strict"], found.outputs["kinds"]
    assert strict.waiting_s == waits_s
    assert strict.utility == utility
    assert kinds.utility is None, "it has no delay graph"
    assert found.utility == 0.0
    assert found.most == (0 if utility is None else 1 + 5)


def test_where_nothing_is_there_is_nothing_to_tell(tmp_path: Path) -> None:
    found = report(tmp_path, Recent())
    assert {each.utility for each in found.outputs.values()} == {None}
    assert {each.waiting_s for each in found.outputs.values()} == {None}
    assert (found.utility, found.most) == (0.0, 0.0)


def test_the_oldest_tuple_on_the_whole_way_counts(tmp_path: Path) -> None:
    """What waits behind the first superbox is older than what waits before it."""
    with opened(tmp_path) as ledger:
        arrived(ledger, NOW - 9 * SECOND)
        with ledger.change() as change:
            change.set_head("some", Head(101, 1))
            change.set_head("keys", Head(101, 1))
            change.add_segments([Segment("some", "segments/x", 1, 101, 50, 500, 0, ts=NOW - 9 * SECOND)])
        found = monitor(ledger.plan, arrived(ledger, NOW - 2 * SECOND), Recent(), NOW).outputs
    assert found["tolerant"].waiting_s == 9.0
    assert found["strict"].waiting_s == 2.0, "it has taken all that was passed on"


def test_a_node_that_is_opened_again_tells_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Exact numbers of a node whose clock stands still: from it, from beside it, and behind a restart."""
    table = pa.table({"k": range(100), "v": [float(n) for n in range(100)], "kind": ["alarm", "x"] * 50})
    with Node(tmp_path / "root", clock=lambda: NOW, disk=1) as node:
        node.deploy(forked())
        node.push("s", table, now=NOW - SECOND // 2)
        node.drain()
        before, known = node.quality(), node.statistics()
        assert known.quality == before
        assert known.held_back
        assert look(tmp_path / "root").as_dict() == known.as_dict()
    with Node(tmp_path / "root", clock=lambda: NOW) as node:
        node.deploy(forked())
        assert node.quality() == before
        assert not node.statistics().held_back, "this one has no budget"
        assert node.quality_since(node.seen(), 1.0).utility == 0.0, "nothing has happened since"
    tolerant, kinds, strict = (before.outputs[name] for name in ("tolerant", "kinds", "strict"))
    assert tolerant.delay_ms_p50 == tolerant.delay_ms_p99 == pytest.approx(500, rel=0.05)
    assert tolerant.values == (0, *[10] * 8, 20, 0)
    assert tolerant.by_value == pytest.approx((10 * 8 * 0.5 + 20) / 100)
    assert (kinds.values, kinds.utility, strict.utility) == ((50, 0, 50), 1.0, 5.0)
    assert before.utility == pytest.approx(0.6 + 1.0 + 5.0)


def test_the_window_of_a_node_goes_with_its_clock(spark: SparkSession, tmp_path: Path) -> None:
    now = NOW
    with Node(tmp_path / "root", clock=lambda: now) as node:
        node.deploy(forked())
        node.push("s", pa.table({"k": [1], "v": [1.0], "kind": ["x"]}))
        node.drain()
        now += 3 * SECOND
        assert node.quality(4).outputs["strict"].tuples == 1
        assert node.quality(3).outputs["strict"].tuples == 0
        assert node.quality(3).outputs["strict"].utility is None
