"""What is discarded upstream of an output counts against it: late tuples, and those that are quarantined."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.watched import DELAY, LOSS, NOW, SECOND, branches, delays, forked, note, opened

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.counters import Counters
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.quality import Quality
from australis.engine.files import Rejected
from australis.engine.ledger.counts.recent_counts import DiscardCount, GateCount, Recent, recent
from australis.engine.observe.discards import Discards, InputStatistics, discards_upstream, upstream
from australis.engine.observe.inspect import look
from australis.engine.observe.quality import fractions_delivered, monitor

BOTH = Quality(delay=DELAY, loss=LOSS)


def windows() -> Network:
    """One output of windows, one of a filter before them, one that has its tuples from another input."""
    net = NetworkBuilder("vans")
    moving = net.input("reports", "van int not null, t long, v double").filter("v >= 0", as_="moving")
    counts = moving.aggregate({"n": "count(*)"}, Order("t", slack=1), size=10, as_="windows")
    counts.filter("n > 0", as_="some").output("counts", BOTH)
    moving.output("moving", Quality(delay=DELAY))
    net.input("others", "van int").filter("van > 0", as_="rest").output("others", BOTH)
    return net.build()


def test_who_leads_to_an_output() -> None:
    assert upstream(windows()) == {
        "counts": {"reports", "moving", "windows", "some"},
        "moving": {"reports", "moving"},
        "others": {"others", "rest"},
    }


def test_what_is_discarded_counts_for_everything_downstream() -> None:
    boxes = {
        "moving": Counters(received=90, emitted=90),
        "windows": Counters(received=80, late=10, ignored=6, rejected=4),
        "some": Counters(),
    }
    inputs = {"reports": InputStatistics(100, 10), "others": InputStatistics(5, 0)}
    found = discards_upstream(windows(), boxes, inputs)
    assert found["counts"] == Discards(late=16, quarantined=14, fraction=pytest.approx(0.9 * 0.75))
    assert found["moving"] == Discards(quarantined=10, fraction=pytest.approx(0.9))
    assert found["others"] == Discards()


def test_a_sort_counts_late_tuples_and_loses_none(tmp_path: Path) -> None:
    net = NetworkBuilder("sorted")
    net.input("reports", "t long").bsort(Order("t"), as_="sorted").output("sorted", BOTH)
    found = discards_upstream(net.build(), {"sorted": Counters(received=10, late=4, rejected=1)}, {})
    assert found["sorted"] == Discards(quarantined=1, fraction=pytest.approx(0.9))
    with Node(tmp_path / "root", runner="light[1]", clock=lambda: NOW) as node:
        node.deploy(net.build())
        node.push("reports", pa.table({"t": [9, 1, 2]}))
        node.drain()
        known = node.statistics()
    assert known.boxes["sorted"].late == 2
    assert (known.outputs["sorted"].late, known.outputs["sorted"].fraction) == (0, 1.0)
    assert known.quality is not None
    assert known.quality.outputs["sorted"].fraction == 1.0


def test_rows_of_a_stored_table_are_no_tuples_of_a_stream() -> None:
    net = NetworkBuilder("named")
    names = net.table("names", "van int, name string")
    reports = net.input("reports", "van int, t long")
    reports.join(names, "left.van = right.van", left=Order("t"), as_="named").output("named", BOTH)
    found = discards_upstream(
        net.build(), {}, {"names": InputStatistics(10, 5), "reports": InputStatistics(9)}
    )
    assert found["named"] == Discards(quarantined=5, fraction=1.0)


def test_shed_and_discarded_multiply_and_lower_utility(tmp_path: Path) -> None:
    seen = Recent(
        delays(tolerant={0.5: 40}, strict={0.5: 40}),
        gates={("levels", "arc_0"): GateCount(100, 50)},
        discards={"some": DiscardCount(100, 20), "keys": DiscardCount(80, 8)},
    )
    assert fractions_delivered(branches(forked()), seen) == pytest.approx(
        {"tolerant": 0.4, "kinds": 0.8, "strict": 0.72, "quarantine": 1.0}
    )
    with opened(tmp_path) as ledger:
        found = monitor(ledger.plan, ledger.queues, seen, NOW).outputs
    assert found["tolerant"].by_loss == pytest.approx(0.4)
    assert found["strict"].by_loss == pytest.approx(0.72), "without a loss graph, each tuple counts in full"


def test_the_last_seconds_know_what_was_discarded(tmp_path: Path) -> None:
    seen = Recent(discards={"some": DiscardCount(10, 3), "s": DiscardCount(5, 1)})
    with opened(tmp_path) as ledger:
        note(ledger, NOW, seen)
        note(ledger, NOW + SECOND, seen)
        second = NOW // SECOND
        assert recent(ledger.catalog, second, second + 1) == seen
        both = recent(ledger.catalog, second, second + 2)
        assert both.discards == {"some": DiscardCount(20, 6), "s": DiscardCount(10, 2)}
        assert both.gates == {}, "they are no gates"


@pytest.mark.parametrize(("count", "kept"), [((0, 0), 1.0), ((0, 3), 1.0), ((2, 3), 0.0), ((4, 1), 0.75)])
def test_the_fraction_that_is_kept(count: tuple[int, int], kept: float) -> None:
    assert DiscardCount(*count).kept == kept


def test_a_node_counts_what_inputs_and_boxes_discard(tmp_path: Path) -> None:
    """A row that is none, a tuple that may not be NULL, one without a place in the order, and late ones."""
    van = pa.array([1, 1, 1, None, 1, 1, 1, 1, 1, 1], pa.int32())
    times = pa.array([1, 30, 50, 60, None, 2, 3, 70, 90, 110], pa.int64())
    table = pa.table({"van": van, "t": times, "v": pa.array([1.0] * 10)})
    with Node(tmp_path / "root", runner="light[1]", clock=lambda: NOW) as node:
        node.deploy(windows())
        node.push("reports", table, rejected=[Rejected("line 3: no", "{}")])
        node.drain()
        known, before = node.statistics(), node.seen()
        counts = known.outputs["counts"]
        assert (counts.late, counts.shed, counts.quarantined) == (2, 0, 3)
        assert known.inputs["reports"] == InputStatistics(11, 2)
        assert known.boxes["windows"].received == 9
        assert counts.fraction == pytest.approx(9 / 11 * 6 / 9)
        assert counts.utility == pytest.approx(6 / 11)
        assert known.outputs["moving"].fraction == pytest.approx(9 / 11)
        assert known.outputs["others"].fraction == 1.0
        assert known.quality is not None
        assert known.quality.outputs["counts"].fraction == pytest.approx(6 / 11)
        node.push("reports", table.slice(9, 1))
        node.drain()
        assert node.quality_since(before, 1.0).outputs["counts"].fraction == 1.0
        told = node.statistics().as_dict()
    assert look(tmp_path / "root").as_dict() == told
