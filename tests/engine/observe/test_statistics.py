"""Statistics of a root with graphs: lately and altogether, what was shed, and whether there is room."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.watched import NOW, SECOND, arrived, delays, forked, note, opened

from australis.engine.ledger.catalog import DISK
from australis.engine.ledger.counts.drops import drop_log
from australis.engine.ledger.counts.recent_counts import GateCount, Recent
from australis.engine.ledger.ledger import Ledger
from australis.engine.observe.statistics import WITHDRAWN_SHOWN, Statistics, statistics_of
from australis.engine.steer.drop_boxes import DropBoxes
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Insert

GATE = ("levels", "arc_0")
GOOD = Recent(delays(tolerant={0.5: 90}), {"tolerant": {9: 90}}, {GATE: GateCount(90, 0)})
BAD = Recent(delays(tolerant={0.5: 5}), {"tolerant": {9: 5}}, {GATE: GateCount(10, 5)})


def known(folder: Path, *trains: tuple[int, Recent], now: int | None = None) -> Statistics:
    with opened(folder) as ledger:
        for at, seen in trains:
            note(ledger, at, seen)
        return told(ledger, now)


def told(ledger: Ledger, now: int | None = None) -> Statistics:
    return statistics_of(ledger.plan, ledger.queues, ledger.catalog, now)


def test_lately_and_altogether(tmp_path: Path) -> None:
    """All was well, then half was shed: the last ten seconds tell of the one, the sums of both."""
    found = known(tmp_path, (NOW, GOOD), (NOW + 10 * SECOND, BAD))
    assert found.quality is not None
    assert found.quality.outputs["tolerant"].fraction == 0.5
    assert found.quality.outputs["tolerant"].tuples == 5
    assert found.outputs["tolerant"].fraction == 0.95
    assert found.outputs["tolerant"].tuples == 95
    assert found.outputs["strict"].fraction == found.outputs["quarantine"].fraction == 1.0
    assert found.shed == {"tolerant": 5}
    assert found.superboxes["levels"].gates == {"arc_0": GateCount(100, 5)}
    assert found.superboxes["levels"].outputs == ("tolerant",)
    assert found.superboxes["some"].outputs == ("tolerant", "kinds", "strict")


@pytest.mark.parametrize(("later_s", "tuples"), [(0, 95), (1, 95), (9, 5), (10, 0)])
def test_the_window_ends_now(tmp_path: Path, later_s: int, tuples: int) -> None:
    trains = ((NOW - 8 * SECOND, GOOD), (NOW, BAD))
    found = known(tmp_path, *trains, now=NOW + later_s * SECOND)
    assert found.quality is not None
    assert found.quality.outputs["tolerant"].tuples == tuples


def test_without_a_clock_it_ends_with_the_last_that_happened(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        note(ledger, NOW, GOOD)
        arrived(ledger, NOW + 10 * SECOND)
        found = told(ledger)
        assert found.quality is not None
        assert found.quality.outputs["tolerant"].waiting_s == 0.0
        assert found.quality.outputs["tolerant"].tuples == 0, "that was ten seconds before"


def test_drop_boxes_that_stand_and_the_last_that_do_not(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        boxes = DropBoxes(ledger, NOW)
        for number in range(WITHDRAWN_SHOWN + 10):
            boxes.obey([Insert("levels", DropBox.random((number + 1) / 100))], NOW + number)
        found = told(ledger)
        assert [each.number for each in found.dropboxes] == list(range(10, WITHDRAWN_SHOWN + 11))
        assert [each.share for each in found.standing] == [(WITHDRAWN_SHOWN + 10) / 100]
        assert len(drop_log(ledger.catalog)) == WITHDRAWN_SHOWN + 10
        boxes.clear(NOW + SECOND)
        assert boxes.standing == {}
        assert told(ledger).standing == []
        assert drop_log(ledger.catalog)[-1].until == NOW + SECOND


@pytest.mark.parametrize(("budget", "held"), [("", False), ("1001", False), ("1000", True), ("1", True)])
def test_inputs_are_held_back_when_the_budget_is_used_up(tmp_path: Path, budget: str, held: bool) -> None:
    with opened(tmp_path) as ledger:
        with ledger.change() as change:
            change.set_meta(DISK, budget)
        arrived(ledger, NOW, size=1_000)
        found = told(ledger)
    assert (found.bytes, found.disk) == (1_000, int(budget) if budget else None)
    assert found.held_back is held
    assert found.as_dict()["held_back"] is held


def test_it_can_be_written_as_json(tmp_path: Path) -> None:
    found = json.loads(json.dumps(known(tmp_path, (NOW, BAD)).as_dict()))
    assert found["superboxes"]["levels"]["gates"]["arc_0"] == {"arrived": 10, "shed": 5}
    assert found["quality"]["outputs"]["tolerant"]["by_loss"] == 0.5
    assert found["quality"]["utility"] == pytest.approx(0.5)


def test_a_network_without_graphs_has_no_quality(tmp_path: Path) -> None:
    network = forked()
    plain = {name: replace(output, quality=None) for name, output in network.outputs.items()}
    with opened(tmp_path, replace(network, outputs=plain)) as ledger:
        assert told(ledger).quality is None
