"""The catalogue: what is where, in SQLite. One transaction makes a train visible, whole or not at all."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from australis.engine.store.root import unwritable
from australis.engine.store.segments import Segment
from australis.errors import EngineError, Problem

CATALOG = "catalog.db"
"""The name of its file."""
NETWORK = "network"
"""The key under which the network is that the root holds."""
DISK = "disk"
"""The key under which the disk budget is of the node that has the root, or had it last; empty without one."""
OPTIMISER = "optimiser"
"""The key under which the optimiser writes down what it did."""
VERSION = 3
"""The form of the catalogue; another one is refused."""
TRAINS_KEPT = 1000

_TABLES = """
create table meta (key text primary key, value text not null) without rowid;
create table event (base integer primary key, end integer not null, kind text not null, input text not null,
                    rows integer not null, now integer not null);
create table segment (arc text not null, name text not null, base integer not null, end integer not null,
                      rows integer not null, bytes integer not null, footer integer not null, first integer,
                      ts integer, writer text not null, part integer not null,
                      newest integer not null, key text not null,
                      primary key (arc, base, name)) without rowid;
create index segment_file on segment (name);
create table superbox (id text primary key, head integer not null, version integer not null,
                       deadline integer) without rowid;
create table state (superbox text not null, box text not null, partition integer not null, name text not null,
                    bytes integer not null, primary key (superbox, box, partition)) without rowid;
create table consumer (name text not null, output text not null, seq integer not null, position text,
                       primary key (name, output)) without rowid;
create table source (id text primary key, position text not null) without rowid;
create table box (id text primary key, received integer not null, emitted integer not null,
                  late integer not null, ignored integer not null, rejected integer not null,
                  unread integer not null, nanoseconds integer not null,
                  trains integer not null) without rowid;
create table delay (output text not null, bucket integer not null, tuples integer not null,
                    primary key (output, bucket)) without rowid;
create table train (id integer primary key autoincrement, superbox text not null, lo integer not null,
                    hi integer not null, received integer not null, emitted integer not null,
                    tasks integer not null, at integer not null, run_us integer not null,
                    shed integer not null);
create table port (ref text primary key, tuples integer not null) without rowid;
create table value (output text not null, bin integer not null, tuples integer not null,
                    primary key (output, bin)) without rowid;
create table mouth (superbox text not null, stream text not null, arrived integer not null,
                    shed integer not null, primary key (superbox, stream)) without rowid;
create table recent_delay (second integer not null, output text not null, bucket integer not null,
                           tuples integer not null, primary key (second, output, bucket)) without rowid;
create table recent_value (second integer not null, output text not null, bin integer not null,
                           tuples integer not null, primary key (second, output, bin)) without rowid;
create table recent_mouth (second integer not null, superbox text not null, stream text not null,
                           arrived integer not null, shed integer not null,
                           primary key (second, superbox, stream)) without rowid;
create table dropbox (number integer primary key, superbox text not null, stream text not null,
                      predicate text not null, share real not null, since integer not null, until integer,
                      arrived integer not null, shed integer not null);
create index ending on event (base) where kind = 'flush';
create index loading on event (base) where kind = 'load';
create index standing on dropbox (number) where until is null;
"""


@dataclass(frozen=True)
class Event:
    """An entry of the log: tuples on an input, a version of a table (`load`), passing time, or the end."""

    base: int
    end: int
    kind: str
    input: str
    rows: int
    now: int


@dataclass(frozen=True)
class Head:
    """How far a superbox has come, and when its next timeout is due."""

    seq: int = 0
    version: int = 0
    deadline: int | None = None


@dataclass(frozen=True)
class StateFile:
    """Where the state of a box in a partition is."""

    box: str
    partition: int
    name: str
    bytes: int


_UNWRITABLE = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN")
_SEGMENT_COLUMNS = ", ".join(each.name for each in fields(Segment))
_SEGMENT_MARKS = ", ".join("?" for _ in fields(Segment))


class Catalog:
    """The catalogue of a root. Its methods read; what changes it is inside `transaction()`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self._explained():
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = full")
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _open(self) -> None:
        """Check what is there, or make it."""
        found = self.rows("pragma quick_check(1)")
        if found != [("ok",)]:
            raise self._damaged(str(found[0][0]))
        version = self.rows("pragma user_version")[0][0]
        if version not in (0, VERSION):
            expected = f"version {VERSION}; the root was made by another version of Australis"
            raise EngineError(Problem(str(self._path), f"has version {version}", expected))
        if version == 0:
            with self._explained():
                self._db.executescript(f"begin; {_TABLES} pragma user_version = {VERSION}; commit;")

    def _damaged(self, why: str) -> EngineError:
        return EngineError(
            Problem(str(self._path), f"is damaged: {why}", "the catalogue as it was; restore it from a copy")
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of SQLite as ours, which name the file and what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            # The name may say more, as in SQLITE_IOERR_WRITE.
            if error.sqlite_errorname.startswith(_UNWRITABLE):
                raise unwritable(str(self._path), OSError(error.sqlite_errorname)) from error
            raise EngineError(Problem(str(self._path), str(error))) from error
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:
            raise EngineError(Problem(str(self._path), str(error))) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Changes that all become visible at the end, or not at all."""
        with self._lock, self._explained():
            self._db.execute("begin immediate")
            try:
                yield Transaction(self._db)
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._lock, self._explained():
            return self._db.execute(query, values).fetchall()

    # --- what is known

    def meta(self, key: str) -> str | None:
        """A single value."""
        found = self.rows("select value from meta where key = ?", key)
        return found[0][0] if found else None

    def log_end(self) -> int:
        """The sequence number that the next event begins with."""
        return int(self.meta("log_end") or 0)

    def log_now(self) -> int:
        """The local time of the last event."""
        return int(self.meta("log_now") or 0)

    def events(self, lo: int, hi: int, most: int = -1) -> list[Event]:
        """The events that have a sequence number from `lo` up to `hi`, at most the first `most` of them."""
        # Events do not overlap, so only the last one that begins before `lo` can reach behind it.
        since = "coalesce((select max(base) from event where base <= ?), 0)"
        query = f"select * from event where base >= {since} and base < ? and end > ? order by base limit ?"
        return [Event(*row) for row in self.rows(query, lo, hi, lo, most)]

    def flushes(self, lo: int, hi: int) -> list[Event]:
        """The ends of all streams that have a sequence number from `lo` up to `hi`."""
        where = "kind = 'flush' and base >= ? and base < ? and end > ?"
        # An end has two numbers.
        found = self.rows(f"select * from event where {where} order by base", lo - 1, hi, lo)
        return [Event(*row) for row in found]

    def loads(self, lo: int, hi: int) -> list[Event]:
        """The versions of stored tables from `lo` up to `hi`."""
        found = self.rows(
            "select * from event where kind = 'load' and base >= ? and base < ? order by base", lo, hi
        )
        return [Event(*row) for row in found]

    def latest(self, lo: int, hi: int) -> int:
        """The local time of the last event that has a sequence number from `lo` up to `hi`; 0 without one."""
        query = "select now from event where base < ? and end > ? order by base desc limit 1"
        found = self.rows(query, hi, lo)
        return found[0][0] if found else 0

    def head(self, superbox: str) -> Head:
        found = self.rows("select head, version, deadline from superbox where id = ?", superbox)
        return Head(*found[0]) if found else Head()

    def states(self, superbox: str) -> list[StateFile]:
        """The current states of a superbox."""
        query = "select box, partition, name, bytes from state where superbox = ? order by box, partition"
        return [StateFile(*row) for row in self.rows(query, superbox)]

    def segments(self, arc: str, lo: int = 0, hi: int = 1 << 62) -> list[Segment]:
        """The segments of an arc that may have a number from `lo` up to `hi`, by writer, part and number."""
        where = "where arc = ? and base < ? and end > ? order by writer, part, base"
        query = f"select {_SEGMENT_COLUMNS} from segment {where}"
        return [Segment(*row) for row in self.rows(query, arc, hi, lo)]

    def consumer(self, name: str, output: str) -> tuple[int, str | None] | None:
        """How far a consumer of an output has come, and its own note of it; None if it was never here."""
        found = self.rows("select seq, position from consumer where name = ? and output = ?", name, output)
        return (found[0][0], found[0][1]) if found else None

    def position(self, source: str) -> str | None:
        """How far a source has come, in its own words."""
        found = self.rows("select position from source where id = ?", source)
        return found[0][0] if found else None

    def names(self) -> set[str]:
        """All files that something refers to."""
        return {name for (name,) in self.rows("select name from segment union select name from state")}


class Transaction:
    """Changes to the catalogue."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("insert or replace into meta values (?, ?)", (key, value))

    def log(self, event: Event) -> None:
        """Put an event at the end of the log."""
        values = (event.base, event.end, event.kind, event.input, event.rows, event.now)
        self._db.execute("insert into event values (?, ?, ?, ?, ?, ?)", values)
        self.set_meta("log_end", str(event.end))
        self.set_meta("log_now", str(event.now))

    def forget_events(self, before: int) -> None:
        """Drop the events that lie wholly before a sequence number."""
        self._db.execute("delete from event where end <= ?", (before,))

    def add_segments(self, segments: Iterable[Segment]) -> None:
        rows = [tuple(segment.as_dict().values()) for segment in segments]
        self._db.executemany(f"insert into segment ({_SEGMENT_COLUMNS}) values ({_SEGMENT_MARKS})", rows)

    def drop_segments(self, segments: Iterable[Segment]) -> list[str]:
        """Forget segments; gives the files of the root that no other segment is in."""
        dropped = list(segments)
        keys = [(segment.arc, segment.base, segment.name) for segment in dropped]
        self._db.executemany("delete from segment where arc = ? and base = ? and name = ?", keys)
        own = dict.fromkeys(segment.name for segment in dropped if not segment.adopted)
        return [name for name in own if not self._is_segment(name)]

    def _is_segment(self, name: str) -> bool:
        return (
            self._db.execute("select 1 from segment where name = ? limit 1", (name,)).fetchone() is not None
        )

    def forget_superboxes(self, superboxes: Iterable[str]) -> None:
        self._db.executemany("delete from superbox where id = ?", [(name,) for name in superboxes])

    def set_head(self, superbox: str, head: Head) -> None:
        values = (superbox, head.seq, head.version, head.deadline)
        self._db.execute("insert or replace into superbox values (?, ?, ?, ?)", values)

    def set_states(self, superbox: str, states: Iterable[StateFile]) -> list[str]:
        """Make states current; gives the files of those that they replace."""
        replaced = []
        for state in states:
            key = (superbox, state.box, state.partition)
            old = self._db.execute(
                "delete from state where superbox = ? and box = ? and partition = ? returning name", key
            ).fetchall()
            replaced += [name for (name,) in old]
            self._db.execute("insert into state values (?, ?, ?, ?, ?)", (*key, state.name, state.bytes))
        return replaced

    def clear_states(self, superbox: str) -> list[str]:
        """Forget all states of a superbox; gives their files."""
        query = "delete from state where superbox = ? returning name"
        return [name for (name,) in self._db.execute(query, (superbox,)).fetchall()]

    def set_consumer(self, name: str, output: str, seq: int, position: str | None = None) -> None:
        """Say how far a consumer has come; without a `position` its last note of it stays."""
        query = (
            "insert into consumer values (?, ?, ?, ?) on conflict (name, output)"
            " do update set seq = excluded.seq, position = coalesce(excluded.position, position)"
        )
        self._db.execute(query, (name, output, seq, position))

    def drop_consumer(self, name: str, output: str) -> None:
        self._db.execute("delete from consumer where name = ? and output = ?", (name, output))

    def set_position(self, source: str, position: str) -> None:
        self._db.execute("insert or replace into source values (?, ?)", (source, position))

    def drop_position(self, source: str) -> None:
        self._db.execute("delete from source where id = ?", (source,))

    def count_box(self, box: str, counted: Mapping[str, int]) -> None:
        """Add what went through a box in a train."""
        names = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
        values = [counted[name] for name in names]
        grown = ", ".join(f"{name} = {name} + excluded.{name}" for name in (*names, "trains"))
        query = f"insert into box values (?, ?, ?, ?, ?, ?, ?, ?, 1) on conflict (id) do update set {grown}"
        self._db.execute(query, (box, *values))

    def count_delays(self, output: str, buckets: Mapping[int, int]) -> None:
        """Add the delays of an output's tuples, by bucket."""
        query = (
            "insert into delay values (?, ?, ?)"
            " on conflict (output, bucket) do update set tuples = tuples + excluded.tuples"
        )
        self._db.executemany(query, [(output, bucket, tuples) for bucket, tuples in buckets.items()])

    def count_ports(self, counted: Mapping[str, int]) -> None:
        """Add what boxes emitted, port by port."""
        query = (
            "insert into port values (?, ?) on conflict (ref) do update set tuples = tuples + excluded.tuples"
        )
        self._db.executemany(query, counted.items())

    def forget_counts(self, counted: Mapping[str, Iterable[str]]) -> None:
        """Forget what was counted of boxes, ports, outputs and superboxes."""
        columns = {"id": ("box",), "ref": ("port",), "output": ("delay", "value"), "superbox": ("mouth",)}
        for column, tables in columns.items():
            for table in tables:
                names = [(name,) for name in counted[column]]
                self._db.executemany(f"delete from {table} where {column} = ?", names)

    def change(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement for each of some rows."""
        self._db.executemany(query, rows)

    def note_train(self, values: tuple[str | int, ...]) -> None:
        """Remember a train; the oldest ones are forgotten."""
        query = "insert into train values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id"
        (number,) = self._db.execute(query, values).fetchone()
        self._db.execute("delete from train where id <= ?", (number - TRAINS_KEPT,))
