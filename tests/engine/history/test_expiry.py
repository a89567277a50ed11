"""Expiry: history is kept as long as it was asked for, and not much longer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engine.history.bench import SECOND, Bench, network, opened, tuples

from australis.algebra.builder import NetworkBuilder
from australis.engine.history import organisation as keeping
from australis.engine.ledger.retention import log_needed_from, unneeded


def live(bench: Bench, seconds: int, rows: int = 10) -> None:
    """Tuples come every second, all go through, and history is tended."""
    for _ in range(seconds):
        bench.now += SECOND
        bench.push(tuples(bench.now // SECOND * rows, rows))
        bench.passed()
        bench.expire()
        bench.gather()


def seconds(bench: Bench) -> list[int]:
    """The seconds in which the tuples arrived that are kept."""
    times = bench.history()["#ts"].to_pylist()
    return sorted({round(time.timestamp()) for time in times})


def test_a_duration_is_kept_and_not_much_more(tmp_path: Path) -> None:
    with opened(tmp_path, network(history="32 s")) as bench:
        live(bench, 100)
        kept = seconds(bench)
        assert kept == list(range(kept[0], 101))
        assert 100 - 32 - 2 - 1 <= kept[0] <= 100 - 32
        on_disk = sum(file.stat().st_size for file in tmp_path.rglob("*.parquet"))
        needed = sum(segment.bytes for segment in bench.segments())
        assert on_disk <= needed * (1 + 2 / keeping.PARTS)


def test_a_number_of_tuples_is_kept_and_not_many_more(tmp_path: Path) -> None:
    with opened(tmp_path, network(history=320)) as bench:
        live(bench, 80)
        kept = bench.history()
        assert 320 <= kept.num_rows <= 320 * (1 + 2 / keeping.PARTS)
        assert kept["v"].to_pylist()[-1] == tuples(809, 1)["v"][0].as_py()


def test_for_ever_is_for_ever(tmp_path: Path) -> None:
    with opened(tmp_path) as bench:
        live(bench, 50)
        bench.now = 10**15
        assert bench.expire() == 0
        assert bench.history().num_rows == 500


def test_without_history_nothing_outlives_its_readers(tmp_path: Path) -> None:
    with opened(tmp_path, network(history=None)) as bench:
        live(bench, 3)
        assert len(unneeded(bench.ledger.queues, ["s"], bench.now)) == 3


def test_what_no_box_has_read_is_not_history_so_far(tmp_path: Path) -> None:
    with opened(tmp_path, network(history="5 s")) as bench:
        live(bench, 3)
        bench.push(tuples(0, 10))
        bench.now += 100 * SECOND
        bench.expire()
        assert bench.history().num_rows == 10


def test_history_expires_though_only_others_have_tuples(tmp_path: Path) -> None:
    net = NetworkBuilder("n")
    net.input("s", "k int, v double, note string").point("past", history="16 s").filter("k > 2").output("out")
    net.input("other", "k int, v double, note string").filter("k > 2").output("more")
    with opened(tmp_path, net.build()) as bench:
        live(bench, 5)
        bench.now += 60 * SECOND
        bench.push(tuples(0, 3), "other")
        bench.passed()
        assert bench.expire() == 50
        assert bench.segments() == []


def test_an_expired_run_is_deleted_one_batch_later_and_at_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path, network(history="32 s")) as bench:
        live(bench, 40)
        listed = set(_known(bench))
        while not (gone := listed - set(_known(bench))):
            live(bench, 1)
        assert all(file.exists() for file in gone), "somebody may have just listed the folder"
        live(bench, 5)
        assert not any(file.exists() for file in gone)
        assert set(bench.files()) > set(_known(bench))
    with opened(tmp_path, network(history="32 s"), now=bench.now) as bench:
        assert set(bench.files()) == set(_known(bench))


def _known(bench: Bench) -> list[Path]:
    root = bench.ledger.root.local
    assert root is not None
    return [root / run.name for run in bench.runs()]


@pytest.mark.parametrize("history", ["32 s", 320, "forever"])
def test_history_outlives_a_restart(tmp_path: Path, history: str | int) -> None:
    given = network(history=history)
    with opened(tmp_path, given) as bench:
        live(bench, 50)
        before, now = bench.history(), bench.now
    with opened(tmp_path, given, now=now) as bench:
        assert bench.history() == before
        live(bench, 1)
        assert bench.history()["v"].to_pylist()[-10:] == tuples(510, 10)["v"].to_pylist()


def test_the_log_reaches_as_far_back_as_history(tmp_path: Path) -> None:
    with opened(tmp_path, network(history="32 s")) as bench:
        live(bench, 60)
        first = bench.history()["#seq"][0].as_py()
        needed = log_needed_from(bench.ledger.queues)
        assert needed <= first
        events = bench.ledger.catalog.events(0, bench.ledger.queues.log_end)
        assert events[0].base < first <= events[0].end + 10
        assert events[-1].end == bench.ledger.queues.log_end
