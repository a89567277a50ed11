"""Ingest: tuples, time and ends of streams are numbered, stamped with their arrival time, and logged.

Pushed tuples are durable when the call returns, together with the position of their source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Input, Network
from australis.algebra.schema import TS, Schema
from australis.engine.crash_points import crash_point
from australis.engine.files import Rejected, first_unsound
from australis.engine.ingest.conversion import Pushed, as_table
from australis.engine.ingest.schema_fit import apart, fitting, widens
from australis.engine.ingest.stamps import Position, check_position
from australis.engine.ledger import (
    FLUSH,
    LOAD,
    PUSH,
    TICK,
    DiscardCount,
    Key,
    Ledger,
    LogEvent,
    Receipt,
    Rises,
    UnitOfWork,
    bucket,
    note_discards,
)
from australis.engine.store import (
    SEQ,
    WHOLE,
    Division,
    Segment,
    SplitSettings,
    adopt,
    write_arrivals,
    write_segment,
)
from australis.engine.threads import Threads
from australis.errors import EngineError, Problem
from australis.kernels.progress import mark_of, risen_of
from australis.kernels.weights import weighed
from australis.plan.superboxes import QUARANTINE_ARC

_NUMBER = re.compile(r"-?\d+")
Also = Callable[[UnitOfWork], None]
"""What else is committed together with an event."""


def _nothing(change: UnitOfWork) -> None:
    """Commit nothing else."""


@dataclass(frozen=True)
class StoredTuples:
    """Tuples in a file that have no place in the log yet, and the rows that no box could have read."""

    segment: Segment
    unsound: Sequence[Rejected] = ()
    rises: Rises | None = None
    """What the tuples say about the marks of their input."""


@dataclass(frozen=True)
class Arrival:
    """Tuples of an input that have no place in the log yet, and what came with them."""

    name: str
    stored: StoredTuples
    now: int
    kind: str = PUSH
    rejected: Sequence[Rejected] = ()
    position: Position | None = None
    also: Also = _nothing
    key: Key | None = None


@dataclass(frozen=True)
class Placed:
    """An event with its place in the log, and what is committed with it."""

    event: LogEvent
    segments: Sequence[Segment] = ()
    position: Position | None = None
    also: Also = _nothing
    rises: Rises | None = None
    key: Key | None = None

    @property
    def rejected(self) -> int:
        """The rows that did not become tuples."""
        return sum(each.rows for each in self.segments if each.arc == QUARANTINE_ARC)


class KeyReused(EngineError):
    """Something else was pushed under the same key."""


def loaded(table: str) -> str:
    """The source that represents a stored table: it has a position once the table is loaded."""
    return f"{LOAD} {table}"


class Ingest:
    """Writes the log of a network."""

    def __init__(self, ledger: Ledger, threads: Threads, splits: SplitSettings = WHOLE) -> None:
        self._ledger, self._root, self._splits = ledger, ledger.root, splits
        self.turn = threads.lock()
        """Its holder decides on the next numbers of the log."""

    @property
    def _network(self) -> Network:
        return self._ledger.plan.network

    # --- files of tuples, which have no place in the log yet

    def store(self, name: str, batch: Pushed, now: int, network: Network | None = None) -> StoredTuples:
        """Write tuples of an input to a file; the input may be new, in a network that does not run yet."""
        given = self._input(name) if network is None else network.inputs[name]
        path = f"{(network or self._network).name}.{name}"
        arrived = weighed(as_table(path, batch, given.arriving), given.weight)
        table, unsound = apart(path, fitting(path, arrived, given.schema), given.schema)
        ts = None if TS in table.column_names else now
        if not table.num_rows:
            return StoredTuples(Segment(name, "", 0, 0, 0, 0, 0, first=0, ts=ts), unsound)
        rises = self._rises(name, table, network or self._network)
        division = self._division(name, table) if network is None else None
        return StoredTuples(write_arrivals(self._root, name, table, 0, ts, division), unsound, rises)

    def _division(self, name: str, table: pa.Table) -> Division | None:
        """How tuples of an input are divided for those that read it by key."""
        return self._splits.by(self._ledger.plan.split_keys.get(name, ())).division(table)

    def adopt(self, name: str, uri: str, now: int) -> StoredTuples:
        """Describe a Parquet file as a segment of an input, if every value in it can be read."""
        segment, found = adopt(self._root, name, uri, 0, now)
        given = self._input(name)
        schema = given.schema
        fitting(uri, found.empty_table(), schema)
        for field in schema:
            if not widens(found.field(field.name).type, field.type.arrow):
                what = f"its column {field.name!r} is {found.field(field.name).type}"
                expected = f"{field.type.arrow}; read the file and push its tuples instead"
                raise EngineError(Problem(uri, what, expected))
        with self._root.open(uri) as source:
            file = pq.ParquetFile(source)
            unsound = first_unsound(file, schema)
            if given.weight is not None and file.read([given.weight])[given.weight].null_count:
                unsound = unsound or f"its column {given.weight!r} has NULLs"
        if unsound is not None:
            raise EngineError(Problem(uri, unsound, "values that can be read; push its tuples instead"))
        with self._root.open(uri) as source:
            return StoredTuples(segment, rises=self._rises(name, source, self._network))

    def _rises(self, name: str, tuples: pa.Table | pa.NativeFile, network: Network) -> Rises | None:
        """What tuples, or those of a Parquet file, say about the marks of their input."""
        given = network.inputs[name]
        if given.progress is None:
            return None
        bound = given.progress.bind(given.schema)
        columns = [f.name for f in given.schema if f.name == bound.read or not f.nullable]
        if isinstance(tuples, pa.Table):
            parts: Iterable[pa.Table] = [tuples.select(columns)]
        else:
            file = pq.ParquetFile(tuples)
            parts = (file.read_row_group(index, columns) for index in range(file.num_row_groups))
        risen = risen_of(bound, parts, given.schema)
        return None if risen is None else Rises(*risen)

    def check_stream(self, name: str) -> None:
        """Refuse tuples for an input that is a stored table."""
        self._schema(name)
        if self._network.inputs[name].table:
            expected = "tables={...} of deploy()"
            raise EngineError(Problem(f"{self._network.name}.{name}", "is a stored table", expected))

    # --- events

    def append(self, arrival: Arrival) -> int | None:
        """Give stored tuples their place in the log; returns its end, or None if they were there already."""
        return self.admit(arrival).end

    def admit(self, arrival: Arrival) -> Receipt:
        """Give stored tuples their place in the log, unless they are there already."""
        segment = arrival.stored.segment
        with self._turn():
            known = self.known(arrival.name, arrival.key, arrival.position)
            if known is None:
                (placed,) = self.place([arrival])
                return Receipt(segment.rows, placed.rejected, self._commit(placed))
        with self._ledger.change() as change:
            change.bury([segment.name] if segment.rows and not segment.adopted else [])
        return known

    def known(self, name: str, key: Key | None, position: Position | None) -> Receipt | None:
        """What came of a push if the log has it already, by its key or by the position of its source."""
        if self.is_repeated(position):
            return Receipt(0, 0, None, is_repeated=True)
        found = None if key is None else self._ledger.catalog.receipt(key.caller, key.key)
        if key is None or found is None:
            return None
        digest, receipt = found
        if digest != key.digest:
            what = f"something else was pushed under the key {key.key!r}"
            raise KeyReused(Problem(f"{self._network.name}.{name}", what, "a new key for other tuples"))
        return receipt

    def is_repeated(self, position: Position | None) -> bool:
        """Whether the number of a source shows that the log already has what it delivers.

        Texts are in the source's own terms, and cannot be compared.
        """
        if position is None:
            return False
        check_position(self._network.name, position)
        if isinstance(position[1], str):
            return False
        source, number = position
        known = self._ledger.catalog.position(source)
        if known is not None and not _NUMBER.fullmatch(known):
            what = (
                f"the position {number} of the source {source!r} cannot be compared with {known!r}, its last"
            )
            raise EngineError(
                Problem(self._network.name, what, "numbers only, or another name of the source")
            )
        return known is not None and int(number) <= int(known)

    def tick(self, now: int, position: Position | None = None) -> int | None:
        """Let time pass; None if its source has already reported this."""
        with self._turn():
            if self.is_repeated(position):
                return None
            base = self._ledger.queues.log_end
            return self._commit(Placed(LogEvent(base, base + 1, TICK, "", 0, now), position=position))

    def flush(self, now: int, position: Position | None = None) -> int | None:
        """End all streams; None if its source has already reported this."""
        with self._turn():
            if self.is_repeated(position):
                return None
            base = self._ledger.queues.log_end
            return self._commit(Placed(LogEvent(base, base + 2, FLUSH, "", 0, now), position=position))

    def promise(self, name: str, value: object, now: int, position: Position | None = None) -> int | None:
        """Note a promise of a source about later tuples; None if it has already reported this."""
        mark = self._mark_of(name, value)
        with self._turn():
            if self.is_repeated(position):
                return None
            base = self._ledger.queues.log_end
            event = LogEvent(base, base + 1, TICK, name, 0, now)
            return self._commit(Placed(event, position=position, rises=Rises(promise=mark)))

    def _mark_of(self, name: str, value: object) -> int | float:
        """A value of an input's progress attribute as a mark."""
        schema, bound = self._schema(name), self._ledger.plan.makers.get(name)
        path = f"{self._network.name}.{name}"
        if bound is None:
            raise EngineError(Problem(path, "makes no marks", "`progress` at the input"))
        try:
            return mark_of(pa.array([value]).cast(schema[bound.on].type.arrow))
        except (pa.ArrowException, ValueError, OverflowError) as error:
            expected = f"a value of {bound.on!r}, a {schema[bound.on].type}"
            raise EngineError(Problem(path, f"{value!r} is no promise: {error}", expected)) from error

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Decide on the next numbers: those after the last commit, even if that was in doubt."""
        with self.turn:
            self._ledger.settle()
            yield

    def place(self, arrivals: Sequence[Arrival]) -> list[Placed]:
        """Decide on the numbers of tuples that arrive one after the other. The caller holds the turn."""
        found, base = [], self._ledger.queues.log_end
        for each in arrivals:
            segment, rejected = each.stored.segment, (*each.rejected, *each.stored.unsound)
            end = base + 1 + segment.rows
            placed = replace(segment, base=base + 1, end=end, first=base + 1)
            segments = [placed] if segment.rows else []
            if rejected:
                segments.append(self._quarantine(each.name, rejected, base, each.now))
            event = LogEvent(base, end, each.kind, each.name, segment.rows, each.now)
            rises = each.stored.rises if segment.rows else None
            found.append(Placed(event, segments, each.position, each.also, rises, each.key))
            base = end
        return found

    def _commit(self, placed: Placed) -> int:
        crash_point("ingest.written")
        with self._ledger.change() as change:
            self._check_there(change, placed.event)
            self.write(change, placed)
        crash_point("ingest.committed")
        return placed.event.end

    def write(self, change: UnitOfWork, placed: Placed) -> None:
        """Append an event to the log, in which time never goes back, though threads may come out of turn."""
        event = replace(placed.event, now=max(placed.event.now, change.queues.log_now))
        change.log(event)
        change.raise_marks(event, placed.rises)
        change.add_segments(placed.segments, event.now)
        rejected = placed.rejected
        if rejected:
            change.count_delays(QUARANTINE, {bucket(0): rejected})
        if event.input and event.kind != TICK:
            received = event.rows + rejected
            change.count_input(event.input, received, rejected)
            note_discards(change, event.now, {event.input: DiscardCount(received, rejected)})
        if placed.position is not None:
            source, reached = placed.position
            change.set_position(source, str(reached))
        if placed.key is not None:
            change.note_receipt(placed.key, Receipt(event.rows, rejected, event.end), event.now)
        placed.also(change)

    def _check_there(self, change: UnitOfWork, event: LogEvent) -> None:
        """Refuse an event of an input that a change has just removed."""
        if event.input and event.input not in change.queues.plan.arcs:
            self._schema(event.input)

    def _quarantine(self, name: str, rows: Sequence[Rejected], base: int, now: int) -> Segment:
        """Write rows that did not become tuples as a segment of the quarantine's arc."""
        path = f"{self._network.name}.{name}"
        columns = [[path] * len(rows), [row.reason for row in rows], [row.tuple for row in rows]]
        table = pa.Table.from_arrays(
            [pa.array(column, pa.string()) for column in columns], schema=QUARANTINE_SCHEMA.arrow
        ).append_column(SEQ, pa.array([base] * len(rows), pa.int64()))
        return write_segment(self._root, QUARANTINE_ARC, table, ts=now, writer=f"<{name}")

    def _schema(self, name: str) -> Schema:
        return self._input(name).schema

    def _input(self, name: str) -> Input:
        if name not in self._network.inputs:
            known = ", ".join(self._network.inputs)
            raise EngineError(Problem(self._network.name, f"there is no input {name!r}", f"one of {known}"))
        return self._network.inputs[name]
