"""The limit of a node: from what its boxes cost, what came to them, and the processors that it may use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.engine.watched import DELAY, LOSS, NOW, SECOND, delays, forked, opened

from australis import Network, NetworkBuilder, Node, Quality
from australis.engine.ledger.counts.recent_counts import DiscardCount, GateCount, Recent
from australis.engine.observe.inspect import look
from australis.engine.observe.limits import Measured, limit
from australis.engine.observe.quality import QualityReport, monitor
from australis.engine.observe.statistics import BoxStatistics

SOME = BoxStatistics(1_000, 500, nanoseconds=100_000_000)
BRANCH = BoxStatistics(500, 500, nanoseconds=100_000_000)
"""100 µs for each tuple, of which half pass; 200 µs in each branch."""
BOXES = {"some": SOME, "levels": BRANCH, "kinds": BRANCH, "keys": BRANCH}
PORTS = {"some": 500, "levels": 500, "kinds": 500, "keys": 500}


def measured(cores: float, **came: int) -> Measured:
    return Measured(BOXES, PORTS, {name: DiscardCount(tuples) for name, tuples in came.items()}, cores)


def report(folder: Path, seen: Recent) -> QualityReport:
    with opened(folder) as ledger:
        return monitor(ledger.plan, ledger.queues, seen, NOW)


def two() -> Network:
    """Two outputs that may lose tuples, after a filter that both share."""
    net = NetworkBuilder("two")
    some = net.input("s", "k long").filter("k >= 0", as_="some")
    for name, weight in (("a", 3), ("b", 1)):
        some.map({"k": "k"}, as_=f"{name}s").output(name, Quality(delay=DELAY, loss=LOSS, weight=weight))
    return net.build()


def test_the_limit_is_that_of_the_processors(tmp_path: Path) -> None:
    """10,000 a second: the filter takes 1 core, each branch 1, and nothing is due to `kinds`."""
    seen = Recent(delays(strict={0.2: 100}, tolerant={0.2: 100}))
    found = report(tmp_path, seen)
    full = {"s": 100_000, "some": 100_000, "levels": 50_000, "keys": 50_000}
    assert limit(forked(), found, measured(3, **full)).bound == 6
    # Half of the filter serves both branches, and `keys` is worth more than `levels`.
    assert limit(forked(), found, measured(2, **full)).bound == pytest.approx(5)
    assert limit(forked(), found, measured(1, **full)).bound == pytest.approx(2.5)


def test_what_was_lost_is_told_apart(tmp_path: Path) -> None:
    with opened(tmp_path, two()) as ledger:
        gates = {(name, "arc_0"): GateCount(100, 50) for name in ("as", "bs")}
        seen = Recent(delays(a={0.2: 100}, b={0.2: 100}), gates=gates)
        found = monitor(ledger.plan, ledger.queues, seen, NOW)
    assert found.utility == 2.0
    boxes = {"some": SOME, "as": BRANCH, "bs": BRANCH}
    came = {"s": 100_000, "some": 100_000, "as": 25_000, "bs": 25_000}
    ports = {"some": 500, "as": 500, "bs": 500}
    known = Measured(boxes, ports, {name: DiscardCount(tuples) for name, tuples in came.items()}, 2.5)
    lost = limit(two(), found, known)
    assert lost is not None
    assert lost.bound == pytest.approx(3.5), "all of a, half of b"
    # 2 of 2.5 cores were used, a quarter of that for what was shed later, and b got as much as a.
    causes = {"scheduling": 0.5, "shed_late": 0.75, "shares": 0.25, "lateness": 0.0}
    assert lost.causes == pytest.approx(causes)


def test_boxes_of_outputs_to_which_nothing_was_due_keep_their_time(tmp_path: Path) -> None:
    """A window that is open for longer than what is looked at: its work is not in vain."""
    found = report(tmp_path, Recent(delays(strict={0.2: 100})))
    came = {"s": 100_000, "some": 100_000, "levels": 50_000, "keys": 50_000}
    lost = limit(forked(), found, measured(3, **came))
    assert lost is not None
    assert lost.bound == 5
    assert lost.causes == pytest.approx(dict.fromkeys(lost.causes, 0.0))
    assert limit(forked(), found, measured(2, **came)).bound == pytest.approx(2.5), "one core is left for two"


def test_without_anything_due_there_is_none(tmp_path: Path) -> None:
    found = report(tmp_path, Recent())
    assert limit(forked(), found, measured(2)) is None
    assert found.fairness is None


def test_fairness_is_of_what_outputs_have_of_their_best(tmp_path: Path) -> None:
    gates = {("levels", "arc_0"): GateCount(100, 100)}
    seen = Recent(delays(strict={0.2: 100}, tolerant={0.2: 100}), gates=gates)
    found = report(tmp_path, seen)
    assert (found.outputs["strict"].utility, found.outputs["tolerant"].utility) == (5.0, 0.0)
    assert found.fairness == pytest.approx(0.5)
    assert report(tmp_path, Recent(delays(strict={2.5: 100}, tolerant={2.5: 100}))).fairness == 1.0


def test_a_box_that_never_ran_costs_nothing_as_far_as_is_known(tmp_path: Path) -> None:
    found = report(tmp_path, Recent(delays(strict={0.2: 100})))
    known = replace(measured(1, s=100_000), boxes={**BOXES, "keys": BoxStatistics()})
    assert limit(forked(), found, known).bound == 5.0


def test_a_node_tells_it_and_so_does_its_root(tmp_path: Path) -> None:
    with Node(tmp_path / "root", runner="light", clock=lambda: NOW) as node:
        node.deploy(forked())
        node.push("s", pa.table({"k": [1, 2], "v": [1.0, 2.0], "kind": ["x", "y"]}), now=NOW - SECOND // 2)
        node.drain()
        found = node.quality()
        assert found.limit is not None
        assert found.limit.bound >= found.utility
        assert node.statistics().quality == found
        assert look(tmp_path / "root").quality == found
