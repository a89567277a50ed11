"""Upkeep: arcs that were asked for are tended in another thread, whatever fails, until it is to end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine.history.bench import SECOND, Bench, network, opened, tuples
from tests.engine.maintain.test_compaction import RUN, emit

from australis.engine.history import Gathering
from australis.engine.maintain import Upkeep, compaction
from australis.engine.threads import SYSTEM
from australis.errors import EngineError, Problem

SECONDS_MOST = 60


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Five full batches of history, which everybody has read."""
    with opened(tmp_path, network(history=160)) as bench:
        for second in range(5):
            bench.now = second * SECOND
            bench.push(tuples(10 * second, 10))
        bench.passed()
        yield bench


@pytest.fixture
def upkeep(bench: Bench) -> Upkeep:
    return Upkeep(bench.ledger, lambda: bench.now, SYSTEM)


def test_what_was_asked_for_is_done_before_it_stops(bench: Bench, upkeep: Upkeep) -> None:
    before = bench.history()
    upkeep.start()
    upkeep.ask(["s"])
    upkeep.stop()
    assert sum(run.rows for run in bench.runs()) == 50
    assert bench.history() == before


def test_what_was_asked_before_the_start_is_done_as_well(bench: Bench, upkeep: Upkeep) -> None:
    upkeep.ask(["s"])
    upkeep.start()
    upkeep.stop()
    assert bench.runs()


def test_nothing_is_begun_any_more_once_it_is_to_end(bench: Bench, upkeep: Upkeep) -> None:
    upkeep.ask(["s"])
    upkeep.end()
    upkeep.start()
    upkeep.stop()
    assert not bench.runs()


def test_an_arc_that_cannot_be_tended_leaves_the_others_alone(
    bench: Bench, upkeep: Upkeep, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_for(monkeypatch, "some", EngineError(Problem("disk", "is full")))
    upkeep.ask(["some", "s"])
    upkeep.start()
    upkeep.stop()
    assert bench.runs()
    assert "maintenance of some failed: disk: is full" in caplog.text


def test_an_error_that_nobody_foresaw_is_handed_on(
    bench: Bench, upkeep: Upkeep, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Exception] = []

    @contextmanager
    def keep() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            kept.append(error)

    upkeep.kept = keep
    fail_for(monkeypatch, "some", ZeroDivisionError())
    upkeep.ask(["some", "s"])
    upkeep.start()
    upkeep.stop()
    assert [type(error) for error in kept] == [ZeroDivisionError]
    assert bench.runs(), "the next one is tended"


def test_no_more_batches_are_gathered_once_it_is_to_end(
    bench: Bench, upkeep: Upkeep, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather, began, may_end = Gathering.gather, threading.Event(), threading.Event()

    def gather_slowly(self: Gathering, arc: str) -> int:
        began.set()
        assert may_end.wait(SECONDS_MOST)
        return gather(self, arc)

    monkeypatch.setattr(Gathering, "gather", gather_slowly)
    upkeep.start()
    upkeep.ask(["s"])
    assert began.wait(SECONDS_MOST)
    upkeep.end()
    may_end.set()
    upkeep.stop()
    assert sum(run.rows for run in bench.runs()) == 10, "one batch of five"


@pytest.mark.parametrize(("ends", "left"), [(False, 1), (True, RUN)])
def test_small_segments_are_compacted_unless_it_is_to_end(
    bench: Bench, upkeep: Upkeep, monkeypatch: pytest.MonkeyPatch, ends: bool, left: int
) -> None:
    monkeypatch.setattr(compaction, "RUN_LEAST", RUN)
    emit(bench)
    upkeep.ask(["some"])
    if ends:
        upkeep.end()
    upkeep.start()
    upkeep.stop()
    assert len(bench.ledger.queues.segments["some"]) == left


def fail_for(monkeypatch: pytest.MonkeyPatch, failing: str, error: Exception) -> None:
    """Let the gathering of one arc fail."""
    gather = Gathering.gather

    def gather_or_fail(self: Gathering, arc: str) -> int:
        if arc == failing:
            raise error
        return gather(self, arc)

    monkeypatch.setattr(Gathering, "gather", gather_or_fail)
