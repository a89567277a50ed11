"""The ledger: a change is visible whole or not at all, in the catalogue, in the mirror and in the files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.ledger.held import (
    BOTH,
    FSYNC,
    ONE,
    MemoryHome,
    UnsureHome,
    check_mirror,
    contents,
    files,
    known_files,
    opened,
    segment,
    state_file,
)

from australis.engine.ledger.guard import is_held_here
from australis.engine.ledger.ledger import Arrivals, Ledger, UnitOfWork
from australis.engine.ledger.log import Head, LogEvent, StateFile
from australis.engine.ledger.queues import load_queues
from australis.engine.store.segments import Segment
from australis.errors import EngineError
from australis.plan.superboxes import Plan


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as ledger:
        yield ledger


def put(ledger: Ledger, *segments: Segment) -> None:
    with ledger.change() as change:
        change.add_segments(segments)


# --- whole or not at all


def do_everything(change: UnitOfWork, made: Segment, before: Segment, state: str) -> None:
    """A change of every kind that the mirror or the files know of."""
    end = change.queues.log_end
    change.log(LogEvent(end, end + 4, "push", "s", 3, 10))
    change.add_segments([made], 10)
    change.drop_segments([before])
    change.set_head("count", Head(2, 5, 99))
    change.add_states("count", [StateFile("count", 0, state, 5)])
    change.set_consumer("me", "n", 1)
    change.set_meta("key", "value")
    change.run_plan(ONE)


class Broken(Exception):
    """What goes wrong in the middle of a change."""


def test_an_exception_inside_leaves_everything_as_it_was(ledger: Ledger) -> None:
    before, made, state = segment(ledger, "s", 1), segment(ledger, "s", 4), state_file(ledger)
    put(ledger, before)
    arrived: list[Arrivals] = []
    ledger.on_arrivals = arrived.append
    rows, queues, found, version = contents(ledger), ledger.queues, files(ledger), ledger.guard.version

    def break_off() -> None:
        with ledger.change() as change:
            do_everything(change, made, before, state)
            raise Broken

    with pytest.raises(Broken):
        break_off()
    assert contents(ledger) == rows
    assert ledger.queues is queues
    assert files(ledger) == found
    assert (arrived, ledger.guard.version) == ([], version)
    with ledger.change() as change:
        do_everything(change, made, before, state)
    assert contents(ledger) != rows
    assert files(ledger) == found - {before.name}
    assert arrived == [[("s", 3, 10)]]
    assert ledger.guard.version == version + 1
    check_mirror(ledger)


def test_a_statement_that_sqlite_refuses_leaves_everything_as_it_was(ledger: Ledger) -> None:
    made = segment(ledger, "s", 1)
    put(ledger, made)
    rows, queues = contents(ledger), ledger.queues

    def add_again() -> None:
        with ledger.change() as change:
            change.set_consumer("me", "n", 1)
            change.add_segments([made])

    with pytest.raises(EngineError, match="UNIQUE"):
        add_again()
    assert contents(ledger) == rows
    assert ledger.queues is queues


def test_a_change_that_is_over_changes_nothing(ledger: Ledger) -> None:
    with ledger.change() as kept:
        kept.set_meta("key", "value")

    def break_off() -> UnitOfWork:
        nonlocal kept
        with ledger.change() as kept:
            raise Broken

    rows = contents(ledger)
    with pytest.raises(EngineError, match="the change is over"):
        kept.set_head("count", Head(7, 1))
    with pytest.raises(Broken):
        break_off()
    with pytest.raises(EngineError, match="the change is over"):
        kept.set_head("count", Head(7, 1))
    assert contents(ledger) == rows


def test_a_plan_whose_queues_cannot_be_read_is_not_committed(unsure: Ledger, home: UnsureHome) -> None:
    rows, queues = contents(unsure), unsure.queues

    def run_other() -> None:
        with unsure.change() as change:
            change.run_plan(ONE)
            home.db.is_silent = True

    with pytest.raises(EngineError, match=FSYNC):
        run_other()
    home.db.is_silent = False
    assert contents(unsure) == rows
    assert unsure.queues is queues


def test_nobody_sees_a_change_before_its_commit(ledger: Ledger) -> None:
    before = ledger.queues
    with ledger.change() as change:
        change.set_head("count", Head(7, 1))
        assert change.queues.heads["count"] == Head(7, 1), "but whoever makes it"
        assert ledger.queues is before
    assert before.heads["count"] == Head(), "who has the old queues keeps them"
    assert ledger.queues.heads["count"] == Head(7, 1)


def test_a_change_inside_another_one_is_refused(ledger: Ledger) -> None:
    rows = contents(ledger)

    def nest() -> None:
        with ledger.change() as change:
            change.set_meta("outer", "")
            with ledger.change() as inner:
                inner.set_meta("inner", "")

    with pytest.raises(AssertionError, match="a change inside another one"):
        nest()
    assert contents(ledger) == rows
    put(ledger, segment(ledger, "s", 1))


def test_changes_of_two_threads_come_one_after_the_other(ledger: Ledger) -> None:
    def count_up() -> None:
        for _ in range(50):
            with ledger.change() as change:
                head = change.queues.heads["some"]
                change.set_head("some", replace(head, seq=head.seq + 1))

    threads = [threading.Thread(target=count_up) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.queues.heads["some"].seq == ledger.catalog.head("some").seq == 150


# --- the mirror


@dataclass
class Story:
    """Random changes of a ledger, which are told as they are drawn."""

    ledger: Ledger
    draw: Callable[[st.SearchStrategy[int]], int]

    def pick(self, count: int) -> int:
        return self.draw(st.integers(0, count - 1))

    def superbox(self) -> str:
        names = list(self.ledger.plan.superboxes)
        return names[self.pick(len(names))]

    def do_something(self, change: UnitOfWork) -> None:
        doings = (
            self.log,
            self.add,
            self.add,
            self.drop,
            self.move,
            self.head,
            self.forget,
            self.states,
            self.consumer,
            self.leave,
            self.switch,
            self.note,
        )
        doings[self.pick(len(doings))](change)

    def log(self, change: UnitOfWork) -> None:
        base, now = change.queues.log_end, change.queues.log_now
        end = base + 1 + self.pick(5)
        change.log(LogEvent(base, end, "push", "s", end - base - 1, now + self.pick(3)))
        if self.pick(2):
            change.forget_events(base)

    def add(self, change: UnitOfWork) -> None:
        arcs = list(change.queues.plan.arcs)
        arc = arcs[self.pick(len(arcs))]
        # A file of the future was written before, when nobody held the lock.
        name = self.written.pop()
        name = name if self.pick(4) else f"file:///elsewhere/{name}"
        base, rows = self.pick(1000), 1 + self.pick(9)
        made = Segment(arc, name, base, base + rows, rows, rows, 1, base, 0, f"w{self.pick(2)}", self.pick(2))
        change.add_segments([made], self.pick(9) or None)

    def present(self, change: UnitOfWork) -> list[Segment]:
        return [each for found in change.queues.segments.values() for each in found]

    def drop(self, change: UnitOfWork) -> None:
        present = self.present(change)
        change.drop_segments([each for each in present if self.pick(2)])

    def move(self, change: UnitOfWork) -> None:
        """Let a segment be on another arc, whose file is then the same."""
        for each in self.present(change)[:1]:
            moved = replace(each, arc="count" if each.arc == "some" else "some")
            if moved not in self.present(change):
                change.add_segments([moved])
                change.drop_segments([each])

    def head(self, change: UnitOfWork) -> None:
        deadline = self.pick(5) or None
        change.set_head(self.superbox(), Head(self.pick(20), self.pick(3), deadline))

    def forget(self, change: UnitOfWork) -> None:
        change.forget_superboxes([self.superbox()])

    def states(self, change: UnitOfWork) -> None:
        superbox = self.superbox()
        if self.pick(3):
            replaced = [name for name in self.stated if self.pick(2)]
            self.stated.append(self.written.pop())
            change.add_states(superbox, [StateFile("box", self.pick(2), self.stated[-1], 5)], replaced)
        else:
            change.clear_states(superbox)

    def consumer(self, change: UnitOfWork) -> None:
        change.set_consumer(f"me {self.pick(2)}", "n", self.pick(20), "note" if self.pick(2) else None)

    def leave(self, change: UnitOfWork) -> None:
        change.drop_consumer(f"me {self.pick(2)}", "n")

    def switch(self, change: UnitOfWork) -> None:
        change.run_plan((BOTH, ONE)[self.pick(2)])

    def note(self, change: UnitOfWork) -> None:
        change.set_meta("key", str(self.pick(9)))
        change.set_position("file", str(self.pick(9)))
        change.note_train(("some", 0, 4, 3, 2, 1, 10, 20, 0))

    def change(self, doings: int, *, breaks: bool) -> None:
        self.written = [state_file(self.ledger) for _ in range(doings)]
        self.stated: list[str] = []
        written = set(self.written)
        with self.ledger.change() as change:
            change.bury(written)
            for _ in range(doings):
                self.do_something(change)
            if breaks:
                raise Broken


@settings(max_examples=60)
@given(st.data(), st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3)), min_size=4, max_size=12))
def test_mirror_and_files_follow_every_change_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, changes: list[tuple[int, int]]
) -> None:
    with opened(tmp_path_factory.mktemp("story"), MemoryHome()) as ledger:
        story = Story(ledger, data.draw)
        for doings, breaks in changes:
            rows, queues, found = contents(ledger), ledger.queues, files(ledger)
            if breaks == 3:
                with pytest.raises(Broken):
                    story.change(doings, breaks=True)
                assert (contents(ledger), files(ledger) >= found) == (rows, True)
                assert ledger.queues is queues
                ledger._garbage.bury(files(ledger) - found)
            else:
                story.change(doings, breaks=False)
                assert files(ledger) == known_files(ledger)
            check_mirror(ledger)


def test_an_output_that_comes_again_is_another_one(ledger: Ledger) -> None:
    def switch(made: Plan) -> int:
        with ledger.change() as change:
            change.run_plan(made)
        return ledger.queues.lives.get("some", 0)

    assert [switch(made) for made in (BOTH, ONE, ONE, BOTH, ONE)] == [0, 1, 1, 1, 2]
    assert ledger.queues.lives.get("n", 0) == 0


def test_without_a_plan_there_are_no_queues(ledger: Ledger) -> None:
    ledger._queues = None
    with pytest.raises(EngineError, match=r"runs no network; expected deploy\(\) first"):
        _ = ledger.queues
    with ledger.change() as change:
        change.set_meta("key", "value")
        with pytest.raises(EngineError, match="no plan runs so far"):
            _ = change.queues
    assert ledger.catalog.meta("key") == "value"


# --- commits that report a failure


@pytest.fixture
def home(tmp_path: Path) -> UnsureHome:
    return UnsureHome(tmp_path)


@pytest.fixture
def unsure(tmp_path: Path, home: UnsureHome) -> Iterator[Ledger]:
    with opened(tmp_path, home) as ledger:
        yield ledger


def replace_segment(ledger: Ledger) -> tuple[Segment, Segment]:
    """Put a segment in the place of another one; gives both."""
    old, new = segment(ledger, "s", 1), segment(ledger, "s", 4)
    put(ledger, old)
    return old, new


def swap(ledger: Ledger, old: Segment, new: Segment) -> None:
    with ledger.change() as change:
        change.drop_segments([old])
        change.add_segments([new], 7)


def test_a_commit_that_reports_a_failure_but_took_effect_counts(
    unsure: Ledger, home: UnsureHome, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = replace_segment(unsure)
    arrived: list[Arrivals] = []
    unsure.on_arrivals = arrived.append
    version, home.db.takes_effect = unsure.guard.version, True
    swap(unsure, old, new)
    assert unsure.queues.segments["s"] == (new,)
    assert files(unsure) == {new.name}
    assert arrived == [[("s", 3, 7)]]
    assert unsure.guard.version == version + 1
    assert f"a commit succeeded though it reported a failure: {home}" in caplog.text
    check_mirror(unsure)
    swap(unsure, new, segment(unsure, "s", 8))
    check_mirror(unsure)


def test_a_commit_that_fails_without_effect_did_not_happen(unsure: Ledger, home: UnsureHome) -> None:
    old, new = replace_segment(unsure)
    arrived: list[Arrivals] = []
    unsure.on_arrivals = arrived.append
    queues, home.db.takes_effect = unsure.queues, False
    with pytest.raises(EngineError, match=f"cannot be written: {FSYNC}"):
        swap(unsure, old, new)
    assert unsure.queues is queues
    assert files(unsure) == {old.name, new.name}, "the new file is an orphan until the next start"
    assert arrived == []
    check_mirror(unsure)
    swap(unsure, old, new)
    assert files(unsure) == {new.name}
    check_mirror(unsure)


def test_a_commit_that_failed_is_replaced_before_anybody_relies_on_it(
    unsure: Ledger, home: UnsureHome
) -> None:
    """Its pages may have reached the disk, where a later start would find them."""
    home.db.takes_effect = False
    with pytest.raises(EngineError, match=FSYNC):
        put(unsure, segment(unsure, "s", 1))
    commits = unsure.commits
    unsure.confirm()
    assert unsure.commits == commits + 1
    unsure.confirm()
    assert unsure.commits == commits + 1, "there is nothing more to replace"
    check_mirror(unsure)


@pytest.mark.parametrize("takes_effect", [True, False])
def test_a_doubt_is_settled_by_the_next_change(unsure: Ledger, home: UnsureHome, takes_effect: bool) -> None:
    """The catalogue does not answer when it is asked whether the commit took effect."""
    queues = unsure.queues
    home.db.takes_effect, home.db.is_silent = takes_effect, True
    with pytest.raises(EngineError, match=FSYNC):
        put(unsure, segment(unsure, "s", 1))
    assert unsure.queues is queues
    home.db.is_silent = False
    with unsure.change() as change:
        assert len(change.queues.segments["s"]) == takes_effect
        change.set_meta("key", "value")
    check_mirror(unsure)


def test_whoever_waits_hears_of_a_commit_that_was_interrupted(unsure: Ledger, home: UnsureHome) -> None:
    """The error is told, but what is committed is committed, and trains can go on with it."""
    version = unsure.guard.version
    home.db.takes_effect, home.db.error = True, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        put(unsure, segment(unsure, "s", 1))
    assert len(unsure.queues.segments["s"]) == 1
    assert unsure.guard.version == version + 1
    check_mirror(unsure)


def test_files_of_a_commit_that_was_interrupted_go_with_the_next(unsure: Ledger, home: UnsureHome) -> None:
    old, new = replace_segment(unsure)

    def replace_it() -> None:
        with unsure.change() as change:
            change.add_segments([new])
            change.drop_segments([old])

    home.db.takes_effect, home.db.error = True, KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        replace_it()
    with unsure.change() as change:
        change.set_meta("key", "value")
    assert files(unsure) == {new.name}


# --- files


def test_files_go_after_the_commit(unsure: Ledger, home: UnsureHome) -> None:
    old, new = replace_segment(unsure)
    seen: list[set[str]] = []
    unsure.on_arrivals = lambda arrivals: seen.append(files(unsure))
    with unsure.change() as change:
        change.add_segments([new], 1)
        change.drop_segments([old])
        folder = home.folder
        assert (folder / old.name).exists()
    assert seen == [{old.name, new.name}], "they are there when all is committed"
    assert files(unsure) == {new.name}


def test_files_stay_for_those_who_read_before(ledger: Ledger) -> None:
    old, new = replace_segment(ledger)
    with ledger.reading() as queues:
        swap(ledger, old, new)
        assert queues.segments["s"] == (old,)
        with ledger.reading() as later:
            assert later.segments["s"] == (new,)
        assert files(ledger) == {old.name, new.name}
    assert files(ledger) == {new.name}


def test_a_file_that_something_still_refers_to_stays(ledger: Ledger) -> None:
    made, state = segment(ledger, "some", 1), state_file(ledger)
    put(ledger, made)
    with ledger.change() as change:
        change.add_segments([replace(made, arc="count")])
        change.add_states("count", [StateFile("count", 0, state, 5)])
    with ledger.change() as change:
        change.drop_segments([made])
        change.bury([state])
    assert files(ledger) == {made.name, state}
    with ledger.change() as change:
        change.drop_segments([replace(made, arc="count")])
        change.clear_states("count")
    assert files(ledger) == set()


def test_a_state_goes_with_the_one_that_replaces_it(ledger: Ledger) -> None:
    one, two, other = (state_file(ledger) for _ in range(3))
    with ledger.change() as change:
        change.add_states("count", [StateFile("count", 0, one, 5), StateFile("count", 1, other, 5)])
    with ledger.change() as change:
        change.add_states("count", [StateFile("count", 0, two, 5)], [one])
    assert files(ledger) == {two, other}
    with ledger.change() as change:
        change.clear_states("count")
    assert files(ledger) == set()


def test_an_adopted_file_is_left_alone(tmp_path: Path, ledger: Ledger) -> None:
    file = tmp_path / "given.parquet"
    file.write_bytes(b"somebody's")
    made = replace(segment(ledger, "s", 1, adopted=True), name=file.as_uri())
    put(ledger, made)
    assert ledger.queues.bytes == 0
    with ledger.change() as change:
        change.drop_segments([made])
    assert change.buried == []
    assert file.exists()


def test_a_file_that_cannot_be_deleted_fails_no_change(
    tmp_path: Path, ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = replace_segment(ledger)
    (tmp_path / old.name).unlink()
    (tmp_path / old.name).mkdir()
    with caplog.at_level(logging.WARNING):
        swap(ledger, old, new)
    assert f"{old.name} cannot be deleted, and stays until the next start" in caplog.text
    assert ledger.queues.segments["s"] == (new,)
    check_mirror(ledger)


def test_what_is_known_is_known_again(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        old, new = replace_segment(ledger)
        swap(ledger, old, new)
        left = ledger.queues
    orphan = tmp_path / "segments" / "orphan"
    orphan.write_bytes(b"")
    with opened(tmp_path) as ledger:
        assert ledger.queues == load_queues(left.plan, ledger.catalog, {}) == left
        assert not orphan.exists()
        put(ledger, segment(ledger, "s", 9))
        check_mirror(ledger)


def test_a_snapshot_is_of_one_moment_and_keeps_nobody_from_committing(ledger: Ledger) -> None:
    with ledger.change() as change:
        change.set_meta("colour", "red")
    with ledger.snapshot() as (queues, catalog):
        assert not is_held_here()
        with ledger.change() as change:
            change.set_meta("colour", "blue")
            change.set_consumer("reader", "n", 7)
        assert catalog.meta("colour") == "red"
        assert (catalog.consumers(), queues.consumers) == ({}, {})
    assert ledger.catalog.meta("colour") == "blue"


def test_a_snapshot_cannot_be_changed(ledger: Ledger) -> None:
    with ledger.snapshot() as (_, catalog), pytest.raises(EngineError, match="SQLITE_READONLY"):
        catalog.rows("delete from meta")
