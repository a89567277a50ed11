"""The catalogue: a transaction is visible whole or not at all, and what is no catalogue is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from australis.engine.ledger.catalog import CatalogFile
from australis.engine.ledger.log import Head, LogEvent, StateFile
from australis.engine.ledger.schema import OLDEST, VERSION
from australis.engine.ledger.transaction import Transaction
from australis.engine.ledger.view import CatalogView
from australis.engine.store.segments import Segment
from australis.errors import EngineError
from australis.kernels.marks import InputMark, Marks

SEGMENT = Segment("arc", "segments/a.parquet", 3, 9, 5, 100, 42, None, None, "w", 1, 77)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def catalog(path: Path) -> Iterator[CatalogFile]:
    catalog = CatalogFile(path.parent)
    yield catalog
    catalog.close()


@contextmanager
def written(catalog: CatalogFile) -> Iterator[Transaction]:
    """What is written inside is committed at the end."""
    with catalog.transaction() as db:
        yield Transaction(db)


def everything(transaction: Transaction) -> None:
    """A change of every kind."""
    transaction.set_meta("key", "value")
    transaction.log(LogEvent(0, 4, "push", "s", 3, 10))
    transaction.add_segments([SEGMENT])
    transaction.set_head("box", Head(4, 1, 99))
    transaction.add_states("box", [StateFile("box", 0, "states/a", 7)])
    transaction.set_consumer("me", "arc", 2, "note")
    transaction.set_position("file", "line 3")
    counted = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
    transaction.count_box("box", dict.fromkeys(counted, 2))
    transaction.count_delays("out", {5: 1})
    transaction.note_train(("box", 0, 4, 3, 2, 1, 10, 20, 0))


def contents(catalog: CatalogFile) -> dict[str, list[tuple[object, ...]]]:
    tables = catalog.rows("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    return {name: catalog.rows(f"select * from {name}") for (name,) in tables}


def test_what_was_committed_is_there_again(path: Path, catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        everything(transaction)
    catalog.close()
    again = CatalogFile(path.parent)
    assert again.meta("key") == "value"
    assert again.log_end() == 4
    assert again.events(0, 9) == [LogEvent(0, 4, "push", "s", 3, 10)]
    assert again.segments("arc") == [SEGMENT]
    assert again.head("box") == Head(4, 1, 99)
    assert again.states("box") == [StateFile("box", 0, "states/a", 7)]
    assert again.consumer("me", "arc") == (2, "note")
    assert again.position("file") == "line 3"
    assert again.names() == {"segments/a.parquet", "states/a"}
    again.close()


def failing(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        everything(transaction)
        raise ZeroDivisionError


def test_a_transaction_that_fails_leaves_nothing(catalog: CatalogFile) -> None:
    before = contents(catalog)
    with pytest.raises(ZeroDivisionError):
        failing(catalog)
    assert contents(catalog) == before
    with written(catalog) as transaction:
        everything(transaction)
    assert contents(catalog) != before


def refused(catalog: CatalogFile) -> None:
    """A segment that is there already."""
    with written(catalog) as transaction:
        transaction.set_meta("key", "value")
        transaction.add_segments([SEGMENT])


def test_a_transaction_that_sqlite_refuses_leaves_nothing(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        transaction.add_segments([SEGMENT])
    before = contents(catalog)
    with pytest.raises(EngineError, match="UNIQUE") as caught:
        refused(catalog)
    assert "damaged" not in str(caught.value)
    assert contents(catalog) == before


def test_nothing_is_visible_before_the_commit(path: Path, catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        everything(transaction)
        beside = sqlite3.connect(path)
        assert beside.execute("select count(*) from segment").fetchall() == [(0,)]
        beside.close()


def test_states_lie_on_those_that_they_do_not_replace(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        transaction.add_states("a", [StateFile("x", 0, "one", 1), StateFile("x", 1, "two", 1)])
        assert transaction.add_states("a", [StateFile("x", 1, "three", 1)], ["two"]) == ["two"]
        assert transaction.add_states("b", [StateFile("x", 1, "four", 1)], ["one"]) == []
        assert transaction.add_states("a", [StateFile("x", 1, "above", 1)]) == []
        assert transaction.add_states("a", [StateFile("x", 1, "again", 1)], ["above"]) == ["above"]
    assert [state.name for state in catalog.states("a")] == ["one", "three", "again"]
    with written(catalog) as transaction:
        assert transaction.clear_states("a") == ["one", "three", "again"]
    assert [state.name for state in catalog.states("b")] == ["four"]


def test_segments_come_by_writer_part_and_number(catalog: CatalogFile) -> None:
    made = [
        replace(SEGMENT, name=name, base=base, end=end, writer=writer, part=part)
        for name, base, end, writer, part in [
            ("d", 0, 9, "b", 0),
            ("c", 0, 9, "a", 1),
            ("b", 9, 12, "a", 0),
            ("a", 0, 9, "a", 0),
        ]
    ]
    with written(catalog) as transaction:
        transaction.add_segments(made)
    assert [each.name for each in catalog.segments("arc")] == ["a", "b", "c", "d"]
    assert [each.name for each in catalog.segments("arc", 9, 10)] == ["b"]
    assert catalog.segments("arc", 12) == []


def test_events_are_forgotten_when_they_are_wholly_past(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        transaction.log(LogEvent(0, 4, "push", "s", 3, 10))
        transaction.log(LogEvent(4, 5, "tick", "", 0, 11))
        transaction.forget_events(4)
    assert [event.base for event in catalog.events(0, 9)] == [4]
    assert catalog.log_end() == 5


def mark(cause: int, value: int) -> Marks:
    return Marks(value - 1, np.array([cause]), np.array([value]))


def test_marks_are_forgotten_but_for_the_last_of_each_maker(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        for maker, bases in {"a.at": (1, 4, 7), "b.at": (2,), "c.at": (9,)}.items():
            for base in bases:
                transaction.note_marks(maker, base, mark(base + 1, base), InputMark(base, 0))
        transaction.forget_events(6)
    assert catalog.rows("select maker, base from mark") == [
        ("a.at", 4),
        ("a.at", 7),
        ("b.at", 2),
        ("c.at", 9),
    ]
    assert [catalog.has_marks("a.at", *part) for part in ((0, 5), (5, 6), (6, 7), (6, 9), (9, 20))] == [
        *(True, True, False, True),
        False,
    ]


def test_marks_that_stay_for_history_cost_nothing_when_others_come_and_go(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        for base in range(0, 20_000, 2):
            transaction.note_marks("s.at", base, mark(base + 1, base), InputMark(base, 0))
    steps = []
    with catalog.transaction() as db:
        db.set_progress_handler(lambda: steps.append(1), 1000)
        Transaction(db).forget_events(10)
        assert not catalog.has_marks("s.at", 20_000, 20_010)
        db.set_progress_handler(None, 0)
    assert len(steps) < 5


def test_the_moments_of_numbers_are_those_of_their_events(catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        for base, end, now in [(0, 4, 1_000), (4, 5, 1_900), (5, 9, 2_000), (9, 20, 9_999), (20, 22, 10_000)]:
            transaction.log(LogEvent(base, end, "push", "s", end - base - 1, now))
    assert catalog.moments(0, 22, 1_000) == [(0, 1_000), (5, 2_000), (9, 9_000), (20, 10_000)]
    assert catalog.moments(6, 12, 1_000) == [(5, 2_000), (9, 9_000)], "5 is the event that has 6"
    assert catalog.moments(12, 20, 1_000) == [(9, 9_000)]
    assert catalog.moments(3, 5, 1) == [(0, 1_000), (4, 1_900)]


def test_counters_add_up(catalog: CatalogFile) -> None:
    for _ in range(2):
        with written(catalog) as transaction:
            everything_counted(transaction)
    assert catalog.rows("select received, trains from box") == [(6, 2)]
    assert catalog.rows("select tuples from delay") == [(8,)]


def everything_counted(transaction: Transaction) -> None:
    counted = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
    transaction.count_box("box", dict.fromkeys(counted, 3))
    transaction.count_delays("out", {5: 4})


# --- what is no catalogue


@pytest.mark.parametrize("version", [OLDEST - 1, VERSION + 1, 99])
def test_another_version_is_refused_and_left_as_it_is(path: Path, version: int) -> None:
    CatalogFile(path.parent).close()
    db = sqlite3.connect(path)
    db.execute(f"pragma user_version = {version}")
    db.close()
    before = path.read_bytes()
    told = rf"catalog\.db: has version {version}; expected one from {OLDEST} to {VERSION}; open the root with"
    for open_it in (lambda: CatalogFile(path.parent), lambda: CatalogView(path)):
        with pytest.raises(EngineError, match=told):
            open_it()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be one" * 100, b"SQLite format 3\0"]
)
def test_what_is_no_database_is_named(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(EngineError, match=r"catalog\.db.*is damaged"):
        CatalogFile(path.parent)


def test_a_database_that_is_cut_short_is_named(path: Path, catalog: CatalogFile) -> None:
    with written(catalog) as transaction:
        everything(transaction)
    catalog.close()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(EngineError, match=r"catalog\.db.*is damaged"):
        CatalogFile(path.parent)


def test_a_directory_in_its_place_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(EngineError, match=r"catalog\.db.*cannot be written"):
        CatalogFile(path.parent)


def test_a_closed_catalogue_is_not_called_damaged(catalog: CatalogFile) -> None:
    catalog.close()
    with pytest.raises(EngineError, match="closed") as caught:
        catalog.log_end()
    assert "damaged" not in str(caught.value)
