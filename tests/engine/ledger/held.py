"""What the tests of the ledger share: a root that is held, networks on it, and what is committed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import PUSH, LogEvent
from australis.engine.ledger.open_root import OpenRoot
from australis.engine.ledger.queues import Queues, load_queues
from australis.engine.store.home import CATALOG, FolderHome, Home
from australis.engine.store.root import SEGMENTS, STATES, Root
from australis.engine.store.segments import Segment
from australis.engine.threads import SYSTEM, Threads
from australis.plan.superboxes import Discipline, Plan, plan

_numbers = count()
Contents = dict[str, list[tuple[object, ...]]]


def counting(*outputs: str) -> Network:
    """A filter and a count behind it, each with an output, as far as they are named."""
    net = NetworkBuilder("counting")
    some = net.input("s", "k long, t long").point("past", history=100).filter("k >= 0", as_="some")
    if "some" in outputs:
        some.output("some")
    counted = some.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=10, as_="count")
    counted.output("n")
    return net.build()


BOTH, ONE = (plan(counting(*outputs), Discipline.TRAIN) for outputs in (("some",), ()))
"""A plan with two outputs, and one with the second of them only."""


class MemoryHome:
    """A catalogue that no disk keeps, for tests that make very many."""

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)

    def lock(self) -> MemoryHome:
        return self

    def has_catalog(self) -> bool:
        return False

    def lacks_journal(self, epoch: int) -> bool:
        return False

    def close(self) -> None:
        """Nobody else can have it."""


@contextmanager
def opened(
    folder: Path, home: Home | None = None, made: Plan | None = None, threads: Threads = SYSTEM
) -> Iterator[Ledger]:
    """The ledger of a root, on which a plan runs."""
    place = OpenRoot(Root.of(folder), home, threads)
    try:
        place.ledger.load_plan(made or BOTH)
        yield place.ledger
    finally:
        place.close()


def segment(ledger: Ledger, arc: str, base: int, rows: int = 3, *, adopted: bool = False) -> Segment:
    """A segment of some numbers, whose file is there, unless it is one from elsewhere."""
    number = next(_numbers)
    name = f"file:///elsewhere/{number}" if adopted else f"{SEGMENTS}/{number}"
    if not adopted:
        ledger.root.disk.create(name, b"x" * rows)
    return Segment(arc, name, base, base + rows, rows, rows, 1, base, 0, newest=base)


def state_file(ledger: Ledger) -> str:
    """A file of a state."""
    name = f"{STATES}/{next(_numbers)}"
    ledger.root.disk.create(name, b"state")
    return name


def contents(ledger: Ledger) -> Contents:
    """All rows of the catalogue."""
    rows = ledger.catalog.rows
    tables = rows("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    return {name: rows(f"select * from {name}") for (name,) in tables}


def files(ledger: Ledger) -> set[str]:
    """The files of segments and states."""
    return {*ledger.root.names(SEGMENTS), *ledger.root.names(STATES)}


def known_files(ledger: Ledger) -> set[str]:
    """The files that the catalogue refers to, without adopted ones."""
    return {name for name in ledger.catalog.names() if "://" not in name}


def by_number(queues: Queues) -> Queues:
    """Queues whose segments are in one order: who reads them sorts them as it needs."""
    found = {arc: tuple(sorted(each, key=repr)) for arc, each in queues.segments.items()}
    return replace(queues, segments=found)


def check_mirror(ledger: Ledger) -> None:
    """The mirror is what anybody would read from the catalogue."""
    while True:
        mirror = ledger.queues
        fresh = load_queues(ledger.plan, ledger.catalog, mirror.lives)
        if ledger.queues is mirror:
            break
    # Nothing was committed between the two looks.
    assert by_number(mirror) == by_number(fresh)


def push(ledger: Ledger, rows: int) -> Segment:
    """Tuples arrive on the input, each of one byte."""
    base = ledger.queues.log_end
    made = segment(ledger, "s", base + 1, rows)
    with ledger.change() as change:
        change.log(LogEvent(base, made.end, PUSH, "s", rows, base))
        change.add_segments([made])
    return made


# --- commits that report a failure

FSYNC = "SQLITE_IOERR_FSYNC"


class Unsure(sqlite3.Connection):
    """A connection whose commits report a failure when they are told to, with or without effect."""

    takes_effect: bool | None = None
    error: BaseException | None = None
    is_silent = False
    """Whether it answers no question either."""
    falls_silent = False
    """Whether it is silent from the failure on."""

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
        if sql == "commit" and self.takes_effect is not None:
            if self.takes_effect:
                super().execute("commit")
            self.takes_effect = None
            self.is_silent |= self.falls_silent
            raise self.error or _failure()
        if self.is_silent and sql.startswith("select"):
            raise _failure()
        return super().execute(sql, *values)


def _failure() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = FSYNC
    return error


class UnsureHome(FolderHome):
    """A folder whose catalogue is reached by an unsure connection."""

    db: Unsure

    def connect(self) -> sqlite3.Connection:
        path = self.folder / CATALOG
        self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Unsure)
        return self.db
