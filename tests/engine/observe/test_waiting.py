"""How many tuples wait: each is counted once, however many superboxes it waits for."""

from __future__ import annotations

from pathlib import Path

from tests.engine.watched import NOW, arrived, opened

from australis.engine.ledger.log import Head
from australis.engine.observe.statistics import Statistics, statistics_of
from australis.engine.observe.waiting import waiting_once
from australis.engine.store.segments import Segment


def test_a_tuple_that_several_superboxes_read_counts_once(tmp_path: Path) -> None:
    """A hundred tuples are before the filter, and fifty that passed it wait for three outputs."""
    with opened(tmp_path) as ledger:
        arrived(ledger, NOW)
        with ledger.change() as change:
            change.set_head("some", Head(101, 1))
            change.add_segments([Segment("some", "segments/x", 1, 101, 50, 500, 0, ts=NOW)])
        queues = arrived(ledger, NOW)
        found: Statistics = statistics_of(ledger.plan, queues, ledger.catalog, NOW)
    assert sum(each.queue for each in found.superboxes.values()) == 100 + 3 * 50
    assert found.waiting == 150
    assert {name: found.outputs[name].waiting for name in ("tolerant", "kinds", "strict")} == {
        "tolerant": 150,
        "kinds": 150,
        "strict": 150,
    }


def test_the_one_that_is_furthest_back_counts(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        queues = arrived(ledger, NOW)
        with ledger.change() as change:
            change.set_head("some", Head(101, 1))
            change.add_segments([Segment("some", "segments/x", 1, 101, 50, 500, 0, ts=NOW)])
            change.set_head("keys", Head(101, 1))
        queues = ledger.queues
        assert waiting_once(queues, ["some", "keys"]) == 0
        assert waiting_once(queues, ["some", "keys", "levels"]) == 50
        assert waiting_once(queues, queues.plan.superboxes) == 50


def test_there_are_never_more_than_came(tmp_path: Path) -> None:
    """A join may make many tuples of one: all of them have its number."""
    with opened(tmp_path) as ledger:
        arrived(ledger, NOW, tuples=10)
        with ledger.change() as change:
            change.set_head("some", Head(11, 1))
            change.add_segments([Segment("some", "segments/x", 1, 11, 5_000, 500, 0, ts=NOW)])
        assert waiting_once(ledger.queues, ledger.queues.plan.superboxes) <= 11
