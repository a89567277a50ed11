"""What can be written to the catalogue: one statement per method, inside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol, Self

from australis.engine.ledger.log import Head, Key, LogEvent, Receipt, StateFile, packed_numbers
from australis.engine.ledger.schema import NETWORK_TABLES
from australis.engine.store import Segment
from australis.errors import EngineError, Problem
from australis.kernels.marks import InputMark, Marks

TRAINS_KEPT = 1000
RECEIPTS_KEPT = 100_000
RECEIPT_KEPT_US = 24 * 3_600_000_000
"""How long, and of how many pushes with a key, the outcome is kept."""
_RECEIPTS_AT_ONCE = 16
"""How many old receipts a push removes at most: more than the one it adds."""
_SEGMENT_COLUMNS = ", ".join(each.name for each in fields(Segment))
_SEGMENT_MARKS = ", ".join("?" for _ in fields(Segment))


class Database(Protocol):
    """What runs statements: a connection, or something that also remembers them."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> sqlite3.Cursor: ...

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> sqlite3.Cursor: ...


class Transaction:
    """Statements that change the catalogue."""

    def __init__(self, db: Database) -> None:
        self._connection: Database | None = db

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection = None

    @property
    def _db(self) -> Database:
        if self._connection is None:
            raise EngineError(Problem("ledger", "the change is over", "another change()"))
        return self._connection

    def set_meta(self, key: str, value: str) -> None:
        self._db.execute("insert or replace into meta values (?, ?)", (key, value))

    def drop_meta(self, key: str) -> None:
        self._db.execute("delete from meta where key = ?", (key,))

    def log(self, event: LogEvent) -> None:
        """Append an event to the log."""
        values = (event.base, event.end, event.kind, event.input, event.rows, event.now)
        self._db.execute("insert into event values (?, ?, ?, ?, ?, ?)", values)
        self.set_meta("log_end", str(event.end))
        self.set_meta("log_now", str(event.now))

    def forget_events(self, before: int) -> None:
        """Drop the events that lie entirely before a number, and the marks but for the last before it."""
        self._db.execute("delete from event where end <= ?", (before,))
        # By maker, of which there are few: so the index leads to what goes, however much stays.
        last = "(select max(base) from mark where mark.maker = progress.maker and base < ?)"
        found = self._db.execute(f"select maker, {last} from progress", (before,)).fetchall()
        self._db.executemany("delete from mark where maker = ? and base < ?", found)

    def note_marks(self, maker: str, base: int, marks: Marks, known: InputMark) -> None:
        """Record the marks that an event raises, and what their maker has promised after it."""
        if len(marks.causes):
            causes, rises = packed_numbers(marks.causes), packed_numbers(marks.values)
            row = (maker, base, int(marks.causes[-1]) + 1, marks.before, marks.last, causes, rises)
            self._db.execute("insert into mark values (?, ?, ?, ?, ?, ?, ?)", row)
        promised = (maker, known.mark, known.quiet_since)
        self._db.execute("insert or replace into progress values (?, ?, ?)", promised)

    def end_marks(self, maker: str, base: int) -> None:
        """Let a maker begin again from a sequence number on."""
        row = (maker, base, base + 1, None, None, b"", b"")
        self._db.execute("insert into mark values (?, ?, ?, ?, ?, ?, ?)", row)
        self._db.execute("insert or replace into progress values (?, ?, ?)", (maker, None, None))

    def forget_makers(self, makers: Iterable[str]) -> None:
        """Drop all marks of makers that are no longer there: one of the same name begins anew."""
        gone = [(maker,) for maker in makers]
        self._db.executemany("delete from mark where maker = ?", gone)
        self._db.executemany("delete from progress where maker = ?", gone)

    def add_segments(self, segments: Iterable[Segment]) -> None:
        rows = [tuple(segment.as_dict().values()) for segment in segments]
        self._db.executemany(f"insert into segment ({_SEGMENT_COLUMNS}) values ({_SEGMENT_MARKS})", rows)

    def drop_segments(self, segments: Iterable[Segment]) -> None:
        """Forget segments."""
        keys = [(segment.arc, segment.base, segment.name) for segment in segments]
        self._db.executemany("delete from segment where arc = ? and base = ? and name = ?", keys)

    def refers_to(self, name: str) -> bool:
        """Whether a segment or a state is in a file."""
        query = "select 1 from segment where name = ? union all select 1 from state where name = ? limit 1"
        return self._db.execute(query, (name, name)).fetchone() is not None

    def forget_superboxes(self, superboxes: Iterable[str]) -> None:
        self._db.executemany("delete from superbox where id = ?", [(name,) for name in superboxes])

    def set_head(self, superbox: str, head: Head) -> None:
        values = (superbox, head.seq, head.version, head.deadline, int(head.awaits_marks))
        self._db.execute("insert or replace into superbox values (?, ?, ?, ?, ?)", values)

    def add_states(
        self, superbox: str, states: Iterable[StateFile], replaced: Collection[str] = ()
    ) -> list[str]:
        """Put files on top of those of their box and partition, without those that they replace."""
        gone = [name for name in replaced if self._drop_state(superbox, name)]
        for state in states:
            key = (superbox, state.box, state.partition)
            where = "superbox = ? and box = ? and partition = ?"
            top = f"(select coalesce(max(place) + 1, 0) from state where {where})"
            values = (*key, *key, state.name, state.bytes)
            self._db.execute(f"insert into state values (?, ?, ?, {top}, ?, ?)", values)
        return gone

    def state_names(self, superbox: str, box: str, partition: int) -> list[str]:
        """The files of the state of a box in a partition, from the lowest on."""
        query = "select name from state where superbox = ? and box = ? and partition = ? order by place"
        return [name for (name,) in self._db.execute(query, (superbox, box, partition))]

    def merge_states(self, superbox: str, merged: Sequence[str], made: StateFile) -> bool:
        """Put one file in the place of some that follow each other; False if they do not any more."""
        names = self.state_names(superbox, made.box, made.partition)
        begin = names.index(merged[0]) if merged[0] in names else 0
        if names[begin : begin + len(merged)] != list(merged):
            return False
        (place,) = self._db.execute("select place from state where name = ?", merged[:1]).fetchone()
        for name in merged:
            self._drop_state(superbox, name)
        values = (superbox, made.box, made.partition, place, made.name, made.bytes)
        self._db.execute("insert into state values (?, ?, ?, ?, ?, ?)", values)
        return True

    def _drop_state(self, superbox: str, name: str) -> bool:
        query = "delete from state where superbox = ? and name = ?"
        return self._db.execute(query, (superbox, name)).rowcount > 0

    def clear_states(self, superbox: str) -> list[str]:
        """Forget all states of a superbox; returns their files."""
        query = "delete from state where superbox = ? returning name"
        return [name for (name,) in self._db.execute(query, (superbox,)).fetchall()]

    def set_consumer(self, name: str, output: str, seq: int, position: str | None = None) -> None:
        """Set how far a consumer has come; without a `position` its last note stays."""
        query = (
            "insert into consumer values (?, ?, ?, ?) on conflict (name, output)"
            " do update set seq = excluded.seq, position = coalesce(excluded.position, position)"
        )
        self._db.execute(query, (name, output, seq, position))

    def drop_consumer(self, name: str, output: str) -> None:
        self._db.execute("delete from consumer where name = ? and output = ?", (name, output))

    def set_position(self, source: str, position: str) -> None:
        self._db.execute("insert or replace into source values (?, ?)", (source, position))

    def note_receipt(self, key: Key, receipt: Receipt, now: int) -> None:
        """Keep the outcome of a push with a key; the oldest ones are forgotten."""
        number = "(select coalesce(max(number), 0) + 1 from receipt)"
        row = (key.caller, key.key, key.digest, receipt.accepted, receipt.rejected, receipt.end, now)
        self._db.execute(f"insert into receipt values ({number}, ?, ?, ?, ?, ?, ?, ?)", row)
        too_many = "delete from receipt where number <= (select max(number) from receipt) - ?"
        self._db.execute(too_many, (RECEIPTS_KEPT,))
        first = "select number from receipt order by number limit ?"
        too_old = f"delete from receipt where number in ({first}) and at < ?"
        self._db.execute(too_old, (_RECEIPTS_AT_ONCE, now - RECEIPT_KEPT_US))

    def note_expired(self, ends: Mapping[str, int]) -> None:
        """Record up to which numbers tuples of arcs were deleted that somebody might still ask for."""
        query = (
            "insert into expired values (?, ?)"
            " on conflict (arc) do update set until = max(until, excluded.until)"
        )
        self._db.executemany(query, list(ends.items()))

    def drop_position(self, source: str) -> None:
        self._db.execute("delete from source where id = ?", (source,))

    def count_box(self, box: str, counted: Mapping[str, int]) -> None:
        """Add the counts of a box in a train."""
        names = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
        values = [counted[name] for name in names]
        grown = ", ".join(f"{name} = {name} + excluded.{name}" for name in (*names, "trains"))
        query = f"insert into box values (?, ?, ?, ?, ?, ?, ?, ?, 1) on conflict (id) do update set {grown}"
        self._db.execute(query, (box, *values))

    def count_input(self, name: str, received: int, rejected: int) -> None:
        """Add what reached an input, and the rows that did not become tuples, to the counters of boxes."""
        names = ("received", "emitted", "late", "ignored", "rejected", "unread", "nanoseconds")
        self.count_box(name, {**dict.fromkeys(names, 0), "received": received, "rejected": rejected})

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
        """Forget the counts of boxes, ports, outputs and superboxes."""
        columns = {"id": ("box",), "ref": ("port",), "output": ("delay", "value"), "superbox": ("mouth",)}
        for column, tables in columns.items():
            for table in tables:
                names = [(name,) for name in counted[column]]
                self._db.executemany(f"delete from {table} where {column} = ?", names)

    def forget_network(self) -> None:
        """Forget the network, and all that is kept for it; numbers and times of the log continue after it."""
        for table in NETWORK_TABLES:
            self._db.execute(f"delete from {table}")
        self._db.execute("delete from meta where key in ('network', 'optimiser') or key like 'table %'")

    def execute(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a statement for each of some rows: for other modules of this package."""
        self._db.executemany(query, rows)

    def note_train(self, values: tuple[str | int, ...]) -> None:
        """Record a train; the oldest ones are forgotten."""
        query = "insert into train values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id"
        (number,) = self._db.execute(query, values).fetchone()
        self._db.execute("delete from train where id <= ?", (number - TRAINS_KEPT,))
