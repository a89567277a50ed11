"""A topic that is being written: what an output keeps, in transactions, and acknowledged after each."""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from australis.engine.kafka import Address, TopicWatch
from australis.engine.sinks.consuming import Heard, Kept, Outlet, RunningSink, Tables
from australis.engine.sinks.doors import DoorOptions, Patience
from australis.engine.sinks.kafka.encoding import Encoder
from australis.engine.sinks.kafka.records import Record, Records
from australis.engine.sinks.kafka.transactions import Fenced, Transactions
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)
ROWS_AT_ONCE = 50_000
"""About how many tuples are one transaction, if so many wait."""
_BYTES_AT_ONCE = 32 << 20


class TopicSink(Protocol):
    """The settings of a topic as a sink."""

    @property
    def output(self) -> str: ...
    @property
    def consumer(self) -> str: ...
    @property
    def address(self) -> Address: ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def writer(self) -> str: ...
    @property
    def positions(self) -> str: ...
    @property
    def partitioner(self) -> str: ...
    @property
    def options(self) -> DoorOptions: ...
    def check_hosts(self) -> None: ...
    def ensure_topic(self, watch: TopicWatch) -> None: ...


class RunningKafkaSink(RunningSink):
    """A topic that is being written."""

    def __init__(self, sink: TopicSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink, self._name = sink, sink.address.name
        self._patience = Patience(sink.options.patience_s, time.monotonic, self._ended)
        self._origin, self._acknowledged = read_position(
            self._ensure_position(lambda: position_text(uuid.uuid4().hex, 0)), self._name
        )
        self._writer = sink.writer or f"australis-{self._origin}"
        self._run = uuid.uuid4().hex
        sink.check_hosts()
        self._watch = TopicWatch(sink.address, time.monotonic)
        self._records = Records(sink.address, sink.positions, self._watch, self._ended)
        self._transactions: Transactions | None = None
        self._has_begun = False
        self._end = 0
        """The number after the last tuple that the topic is known to have."""
        self._patience.until_done(lambda: void(self._ready()))

    # --- what is due

    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """A transaction for what the output keeps: what waits longer becomes larger ones."""
        del tables, is_last
        while True:
            begin, _ = self._outlet.consumer(self._consumer, self._output)
            kept = self._due(begin)
            if not kept.rows:
                return
            yield partial(self._take, begin, kept.end, heard)

    def _due(self, begin: int) -> Kept:
        """What of the output is written next, in tuples and bytes that memory holds."""
        kept = self._outlet.kept(self._output, begin, ROWS_AT_ONCE)
        if kept.bytes > _BYTES_AT_ONCE:
            rows = max(1, kept.rows * _BYTES_AT_ONCE // kept.bytes)
            kept = self._outlet.kept(self._output, begin, rows)
        return kept

    def _take(self, begin: int, end: int, heard: Heard) -> None:
        table = self._outlet.read(self._output, begin, end)
        if table.num_rows:
            self._patience.until_done(lambda: self._attempt(table, end))
        self._outlet.acknowledge(self._consumer, self._output, end, position_text(self._origin, end))
        self._acknowledged = end
        heard(table)

    # --- a transaction

    def _attempt(self, table: pa.Table, end: int) -> None:
        """Write what the topic does not have yet: the last attempt may have been whole after all."""
        try:
            transactions = self._ready()
            if self._end >= end:
                return
            rest = table.filter(pc.greater_equal(table[SEQ], self._end))
            messages = self._sink.encoder.messages(rest)
            transactions.write(messages, self._sink.address.topic, self._record(end))
            self._end = end
        except Fenced as error:
            self._drop()
            self._check_not_replaced(error)
            raise
        except BaseException:
            # Another producer finds out what of this was committed.
            self._drop()
            raise

    def _ready(self) -> Transactions:
        """The producer, made anew after an error: then it reads how far the topic has come."""
        if self._transactions is None:
            self._sink.ensure_topic(self._watch)
            self._records.ensure()
            made = Transactions(self._sink.address, self._writer, self._sink.partitioner)
            try:
                self._end = self._written()
                if not self._has_begun:
                    # From now on a writer before us finds that it was replaced.
                    made.write([], self._sink.address.topic, self._record(self._end))
                    self._has_begun = True
            except BaseException:
                made.close()
                raise
            self._transactions = made
        return self._transactions

    def _record(self, end: int) -> tuple[str, str, bytes]:
        record = Record(self._origin, self._run, self._sink.address.topic, end)
        return self._records.topic, self._writer, record.text

    def _written(self) -> int:
        """How far the topic has come, by the last record; before its first record, what was acknowledged."""
        record = self._records.last(self._writer)
        if record is None or record.origin != self._origin:
            if self._acknowledged and record is None:
                what = f"{self._records.topic} has no record of {self._writer}, which has written before"
                raise EngineError(Problem(self._name, what, "the topic of positions as it was"))
            return self._acknowledged
        if record.end < self._acknowledged:
            what = f"{self._records.topic} says that tuples were written up to {record.end}"
            expected = f"{self._acknowledged}, which was acknowledged; was it restored from a copy?"
            raise EngineError(Problem(self._name, what, expected))
        return record.end

    def _check_not_replaced(self, error: Fenced) -> None:
        """Raise if another writer has begun under our name; else only a transaction took too long."""
        record = self._records.last(self._writer)
        if record is not None and record.run != self._run:
            what = f"another writer has begun as {self._writer}, so this one has ended"
            raise EngineError(Problem(self._name, what, "one writer, or another writer=NAME")) from error
        _log.warning("%s: %s", self._name, error)

    def _drop(self) -> None:
        if self._transactions is not None:
            self._transactions.close()
        self._transactions = None

    def close(self) -> None:
        self._drop()


def void(value: object) -> None:
    """Discard a value."""


def position_text(origin: str, end: int) -> str:
    return json.dumps({"origin": origin, "end": end})


def read_position(position: str, path: str) -> tuple[str, int]:
    """The origin in a position's text, and the number after the last tuple that was acknowledged.

    >>> read_position(position_text("a", 7), "kafka:t")
    ('a', 7)
    """
    try:
        known = json.loads(position)
        return str(known["origin"]), int(known["end"])
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(path, f"the position {position!r} is none of a topic")) from None
