"""Pushes frames and micro-batches into an input, each tuple once.

A batch of a streaming query has a number, and so has what a node stores as one batch of a source: it takes
each number once. Whatever is repeated, after a crash of either side, is recognised by it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from australis.client import Client
from pyspark_australis.options import SourceOptions, refused

BATCH, PARTITION = "batch", "partition"
QUERY_ID, BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"
"""The local properties of a job that name a streaming query and its batch; a repeated batch has the same."""


@dataclass
class Pushed(WriterCommitMessage):
    """What a task has pushed, or hands over to be pushed with the whole batch."""

    tuples: int = 0
    source: str = ""
    content: bytes = field(default=b"", repr=False)


class InputWriter(DataSourceArrowWriter):
    """Pushes a frame; a task pushes its partition as one batch, so that it can be repeated."""

    def __init__(self, options: SourceOptions) -> None:
        super().__init__()
        self._options, self._input = options, options.needed("input")
        self._source = f"spark write {secrets.token_hex(12)} {self._input}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Push a partition."""
        table = gathered(iterator)
        if table is not None:
            with self._options.client() as client:
                push(client, self._input, table, f"{self._source} {_context().partitionId()}", 0)
        return Pushed(0 if table is None else table.num_rows)


class InputStreamWriter(DataSourceStreamArrowWriter):
    """Pushes micro-batches, as a whole or each partition by its task.

    A batch that is pushed as a whole is atomic, and exactly once whatever a repeated batch looks like. With
    `commit=partition` executors push in parallel; a repeated batch must have the same partitions then, as
    those of deterministic sources without a shuffle have.
    """

    def __init__(self, options: SourceOptions) -> None:
        super().__init__()
        self._options, self._input = options, options.needed("input")
        self._way = options.text("commit") or BATCH
        if self._way not in (BATCH, PARTITION):
            raise refused("commit", f"is {self._way!r}", f"{BATCH} or {PARTITION}")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Take a partition of a batch."""
        table, context = gathered(iterator), _context()
        query, number = context.getLocalProperty(QUERY_ID), context.getLocalProperty(BATCH_ID)
        if not query or number is None:
            raise refused("query", "the job does not name its streaming query", "pyspark 4.2 or later")
        source = f"spark {query} {self._input}"
        if table is None:
            return Pushed(source=source)
        if self._way == BATCH:
            return Pushed(table.num_rows, source, encoded(table))
        with self._options.client() as client:
            push(client, self._input, table, f"{source} {context.partitionId()}", int(number))
        return Pushed(table.num_rows, source)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Push a batch as a whole."""
        parts = [each for each in messages if isinstance(each, Pushed) and each.content]
        if parts:
            table = pa.concat_tables([decoded(each.content) for each in parts])
            with self._options.client() as client:
                push(client, self._input, table, parts[0].source, batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Nothing is to be taken back: a batch is pushed as a whole, or will be repeated."""


def push(client: Client, name: str, table: pa.Table, source: str, number: int) -> None:
    """Push a table as one batch of a source."""
    client.push_numbered(name, [table], source, number)


def gathered(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    """The rows of a partition; None if it has none."""
    found = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(found) if found else None


def encoded(table: pa.Table) -> bytes:
    """A table as it goes to the driver."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def decoded(content: bytes) -> pa.Table:
    """A table that a task has handed over.

    >>> decoded(encoded(pa.table({"x": [1]}))).to_pylist()
    [{'x': 1}]
    """
    with pa.ipc.open_stream(content) as reader:
        return reader.read_all()


def _context() -> TaskContext:
    context = TaskContext.get()
    assert context is not None, "writers run in tasks"
    return context
