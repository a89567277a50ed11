"""Ingest: tuples, time and ends come in, are stamped with sequence numbers and arrival time, and are logged.

What was pushed is durable when the call returns, together with how far its source has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Network
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.engine.crash_points import crash_point
from australis.engine.files.rows import Rejected
from australis.engine.ledger.catalog import Catalog, Event
from australis.engine.ledger.delays import bucket
from australis.engine.ledger.queues import Queues
from australis.engine.store.root import Root
from australis.engine.store.segments import SEQ, Segment, adopt, write_arrivals, write_segment
from australis.engine.train.moments import FLUSH, LOAD, PUSH, TICK
from australis.errors import EngineError, Problem
from australis.plan.superboxes import QUARANTINE_ARC


def loaded(table: str) -> str:
    """The source that stands for a stored table: it has a position once the table is loaded."""
    return f"{LOAD} {table}"


Position = tuple[str, str]
"""A source, and how far it has come, in its own words."""


class Ingest:
    """Writes the log of a network. To place something in it, the caller holds the node's lock."""

    def __init__(self, root: Root, catalog: Catalog, queues: Queues) -> None:
        self._root, self._catalog, self._queues = root, catalog, queues
        self._latest = catalog.log_now()

    @property
    def _network(self) -> Network:
        return self._queues.plan.network

    def store(self, name: str, batch: pa.Table, now: int) -> Segment:
        """Write tuples of an input to a file, without a place in the log so far."""
        schema = self._schema(name)
        table = fitting(f"{self._network.name}.{name}", batch, schema)
        ts = None if TS in table.column_names else now
        if not table.num_rows:
            return Segment(name, "", 0, 0, 0, 0, 0, first=0, ts=ts)
        return write_arrivals(self._root, name, table, 0, ts)

    def adopted(self, name: str, uri: str, now: int) -> Segment:
        """Describe a Parquet file as a segment of an input, without a place in the log so far."""
        segment, found = adopt(self._root, name, uri, 0, now)
        schema = self._schema(name)
        fitting(uri, found.empty_table(), schema)
        for field in schema:
            if not _widens(found.field(field.name).type, field.type.arrow):
                what = f"its column {field.name!r} is {found.field(field.name).type}"
                expected = f"{field.type.arrow}; read the file and push its tuples instead"
                raise EngineError(Problem(uri, what, expected))
        return segment

    def check_stream(self, name: str) -> None:
        """Refuse tuples for an input that is a stored table."""
        self._schema(name)
        if self._network.inputs[name].table:
            expected = "tables={...} of deploy()"
            raise EngineError(Problem(f"{self._network.name}.{name}", "is a stored table", expected))

    def append(
        self,
        name: str,
        segment: Segment,
        now: int,
        *,
        kind: str = PUSH,
        rejected: Sequence[Rejected] = (),
        position: Position | None = None,
    ) -> int:
        """Give stored tuples their place in the log; gives the log's end."""
        base = self._queues.log_end
        end = base + 1 + segment.rows
        placed = replace(segment, base=base + 1, end=end, first=base + 1)
        segments = [placed] if segment.rows else []
        if rejected:
            segments.append(self._rejected(name, rejected, base, now))
        self._log(Event(base, end, kind, name, segment.rows, now), segments, position)
        return end

    def tick(self, now: int, position: Position | None = None) -> int:
        """Time passes."""
        base = self._queues.log_end
        self._log(Event(base, base + 1, TICK, "", 0, now), [], position)
        return base + 1

    def flush(self, now: int, position: Position | None = None) -> int:
        """All streams end."""
        base = self._queues.log_end
        self._log(Event(base, base + 2, FLUSH, "", 0, now), [], position)
        return base + 2

    def _log(self, event: Event, segments: list[Segment], position: Position | None) -> None:
        """Put an event at the end of the log, where time only passes, though threads may come out of turn."""
        event = replace(event, now=max(event.now, self._latest))
        crash_point("ingest.written")
        try:
            self._commit(event, segments, position)
        except BaseException:
            # Whether it was committed is for the catalogue to say.
            self._queues.load(self._catalog)
            self._latest = self._catalog.log_now()
            raise

    def _commit(self, event: Event, segments: list[Segment], position: Position | None) -> None:
        with self._catalog.transaction() as transaction:
            transaction.log(event)
            transaction.add_segments(segments)
            for rejected in (each for each in segments if each.arc == QUARANTINE_ARC):
                transaction.count_delays(QUARANTINE, {bucket(0): rejected.rows})
            if position is not None:
                transaction.set_position(*position)
        crash_point("ingest.committed")
        self._queues.log_end, self._latest = event.end, event.now
        self._queues.add(segments, event.now)

    def _rejected(self, name: str, rows: Sequence[Rejected], base: int, now: int) -> Segment:
        """Rows that did not become tuples, on the quarantine's arc."""
        path = f"{self._network.name}.{name}"
        columns = [[path] * len(rows), [row.reason for row in rows], [row.tuple for row in rows]]
        table = pa.Table.from_arrays(
            [pa.array(column, pa.string()) for column in columns], schema=QUARANTINE_SCHEMA.arrow
        ).append_column(SEQ, pa.array([base] * len(rows), pa.int64()))
        return write_segment(self._root, QUARANTINE_ARC, table, ts=now, writer=f"<{name}")

    def _schema(self, name: str) -> Schema:
        if name not in self._network.inputs:
            known = ", ".join(self._network.inputs)
            raise EngineError(Problem(self._network.name, f"there is no input {name!r}", f"one of {known}"))
        return self._network.inputs[name].schema


def _widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of a type is one of another, so that no tuple of an adopted file can fail."""
    if pa.types.is_integer(given) and pa.types.is_integer(wanted):
        return bool(pa.types.is_signed_integer(given) and given.bit_width <= wanted.bit_width)
    if pa.types.is_timestamp(given) and pa.types.is_timestamp(wanted):
        return given.tz is not None and given.unit in ("s", "ms", "us")
    return bool(given == wanted or (pa.types.is_float32(given) and pa.types.is_float64(wanted)))


def fitting(path: str, batch: pa.Table, schema: Schema) -> pa.Table:
    """The columns of a schema in its types, and TS if it is there; what has another shape is refused."""
    missing = [each for each in schema.names if each not in batch.column_names]
    if missing:
        given = ", ".join(batch.column_names) or "no columns"
        raise EngineError(Problem(path, f"has no column {missing[0]!r}, but {given}", f"({schema})"))
    # Whether a value may be NULL is decided tuple by tuple, when it goes through the network.
    target = [pa.field(each.name, each.type.arrow) for each in schema]
    if TS in batch.column_names:
        target.append(pa.field(TS, TIMESTAMP.arrow))
    columns = [_cast(path, batch[field.name], field) for field in target]
    return pa.Table.from_arrays(columns, schema=pa.schema(target))


def _cast(path: str, column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        what = f"its column {field.name!r} is {column.type}: {error}"
        raise EngineError(Problem(path, what, f"values of {field.type}")) from error
