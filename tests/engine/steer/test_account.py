"""The account of a train: what its tasks report is added up, and written down for the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine.watched import NOW, SECOND, forked, opened

from australis.algebra.quality import Quality
from australis.engine.ledger import (
    Entry,
    GateCount,
    Ledger,
    all_so_far,
    box_costs,
    bucket,
    drop_log,
    last_trains,
    note_insertion,
    port_counts,
)
from australis.engine.ledger.counts.totals import TrainCount
from australis.engine.steer import Account
from australis.engine.store import Segment
from australis.engine.worker import GateDropBox, Manifest, Waybill
from australis.engine.worker.waybill import Share, TimeSlice
from australis.plan.superboxes import Discipline, plan

PLAN = plan(forked(), Discipline.BRANCH)
NUMBERS = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
WAYBILL = Waybill(
    root="",
    plan="",
    superbox="some",
    train=1,
    partitions=1,
    time_slices=(TimeSlice(4, 9, 0, 0), TimeSlice(9, 14, 0, 0)),
    shares=(Share(),),
    streams={},
)


def counters(received: int, nanoseconds: int) -> dict[str, int]:
    return {**dict.fromkeys(NUMBERS, 0), "received": received, "nanoseconds": nanoseconds}


def manifest(tuples: int, shed: int = 0, **given: object) -> Manifest:
    """A task of `some` to which tuples came; what was not shed it put into the queue."""
    kept = tuples - shed
    made = Manifest(
        segments=(Segment("some", "x", 4, 14, kept, 1, 1),),
        states=(),
        boxes={"some": counters(kept, 100 * kept)},
        arrivals={"some": [(NOW, kept)]},
        deadline=None,
        gates={"s": (tuples, shed)},
        ports={"some": kept},
        task_us=10 * tuples,
    )
    return replace(made, **given)  # type: ignore[arg-type]


def account(*manifests: Manifest, members: tuple[str, ...] = ("some",), **gates: GateDropBox) -> Account:
    waybill = replace(WAYBILL, drop_boxes=gates, members=members)
    return Account(PLAN, PLAN.joined(members), waybill, manifests, run_us=700, now=NOW)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as ledger:
        yield ledger


def test_the_tasks_of_a_train_are_added_up() -> None:
    found = account(manifest(10, shed=4), manifest(20))
    assert (found.lo, found.hi) == (4, 14)
    assert (found.received, found.emitted, found.tasks_us) == (26, 26, 300)
    assert [segment.rows for segment in found.segments] == [6, 20]
    assert found.came_to("some") == GateCount(30, 4)
    assert found.given("some") == {"some": 26}


def test_delays_are_those_of_outputs_from_arrival_to_commit() -> None:
    late = {"levels": [(NOW - SECOND, 2)], "some": [(NOW - SECOND, 9)]}
    found = account(manifest(1, arrivals=late), manifest(1, arrivals={"levels": [(NOW - SECOND, 3)]}))
    assert found.seen.delays == {"tolerant": {bucket(SECOND): 5}}, "nobody reads `some` outside"


def test_values_are_added_up_by_bin() -> None:
    first, second = (manifest(1, values={"tolerant": counts}) for counts in ([0, 2, 1], [4, 0, 1]))
    assert account(first, second).seen.values == {"tolerant": {0: 4, 1: 2, 2: 2}}


def test_what_comes_to_a_joined_member_is_what_the_one_before_it_emits() -> None:
    both = manifest(10, shed=4, boxes={"some": counters(6, 599), "levels": counters(6, 399)})
    found = account(both, members=("some", "levels"))
    assert (found.came_to("some"), found.came_to("levels")) == (GateCount(10, 4), GateCount(6))
    assert found.parts() == {"some": pytest.approx(0.6), "levels": pytest.approx(0.4)}


def test_what_is_queued_counts_where_no_port_was_counted() -> None:
    assert account(manifest(5, ports={})).given("some") == {"some": 5}


def test_an_account_is_written_down_whole(ledger: Ledger) -> None:
    with ledger.change() as change:
        note_insertion(change, Entry(7, "some", "s", "", 0.5, NOW, None, 0, 0))
    seen = {"arrivals": {"levels": [(NOW, 6)]}, "values": {"tolerant": [6]}}
    found = account(manifest(10, shed=4, **seen), manifest(20), s=GateDropBox(7, 0.5))
    for _ in "ab":
        with ledger.change() as change:
            found.write(change)
    catalog = ledger.catalog
    assert box_costs(catalog) == {"some": (52, 5200)}
    assert port_counts(catalog) == {"some": 52}
    assert last_trains(catalog, "some") == [TrainCount(26, 700)] * 2
    total = all_so_far(catalog)
    assert (total.delays, total.values) == ({"tolerant": {bucket(0): 12}}, {"tolerant": {0: 12}})
    assert total.gates == {("some", "s"): GateCount(60, 8)}
    assert [(entry.arrived, entry.shed) for entry in drop_log(catalog)] == [(60, 8)]


def test_delays_count_from_the_cause_where_the_output_says_so() -> None:
    network = forked()
    strict = replace(network.outputs["strict"], quality=Quality(since="trigger"))
    since = plan(replace(network, outputs={**network.outputs, "strict": strict}), Discipline.BRANCH)
    both = {arc: [(NOW - 60 * SECOND, 2)] for arc in ("levels", "keys")}
    done = manifest(1, arrivals=both, triggers={arc: [(NOW - SECOND, 2)] for arc in both})
    streams = {"s": (Segment("s", "x", 1, 9, 8, 1, 1), Segment("s", "y", 9, 30, 20, 1, 1))}
    moments = ((4, NOW - 9 * SECOND), (12, NOW - 3 * SECOND), (14, NOW - SECOND))
    waybill = replace(WAYBILL, streams=streams, moments=moments)
    found = Account(since, since.joined(("some",)), waybill, [done], run_us=700, now=NOW)
    assert found.seen.delays == {"tolerant": {bucket(60 * SECOND): 2}, "strict": {bucket(SECOND): 2}}
    assert found.newest_cause == NOW - 3 * SECOND, "the train ends at 14"
