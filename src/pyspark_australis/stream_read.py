"""Follows an output: offsets are its sequence numbers, and each range of them is read by a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pyspark_australis.batch_read import Range, ranges
from pyspark_australis.options import ROWS_PER_PARTITION, SourceOptions
from pyspark_australis.written import batches_of, tables_of

_SEQ = "seq"


class OutputStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the tuples of an output in micro-batches; for a named consumer the node keeps what is unread."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        self._output, self._consumer = options.needed("output"), options.text("consumer")
        self._target: int | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Where a new query begins: at `startingSeq`, where the consumer is, or with all that is kept."""
        begin, text = 0, self._options.text("startingSeq")
        with self._options.client() as client:
            if self._consumer is not None:
                # Asking for it makes it known: from now on its tuples are kept.
                begin = client.consumer(self._consumer, self._output)[0]
                client.acknowledge(self._consumer, self._output, begin)
            if text == "latest":
                begin = client.kept(self._output, begin).end
            elif text is not None:
                begin = self._options.number("startingSeq") or 0
        return {_SEQ: begin}

    def getDefaultReadLimit(self) -> ReadLimit:
        """How much a micro-batch has at most: `maxTuplesPerTrigger`."""
        most = self._options.number("maxTuplesPerTrigger")
        return ReadAllAvailable() if not most else ReadMaxRows(most)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Where the next micro-batch ends."""
        begin = int(start[_SEQ])
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        with self._options.client() as client:
            end = client.kept(self._output, begin, most).end
        return {_SEQ: max(begin, end if self._target is None else min(end, self._target))}

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """The end of the output, for the status of the query."""
        with self._options.client() as client:
            return {_SEQ: client.kept(self._output, 0).end}

    def prepareForTriggerAvailableNow(self) -> None:
        """Note where the output ends now."""
        with self._options.client() as client:
            self._target = client.kept(self._output, 0).end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The ranges of a micro-batch, by its numbers alone: when it is repeated, it has the same."""
        begin, last = int(start[_SEQ]), int(end[_SEQ])
        most = self._options.number("rowsPerPartition") or ROWS_PER_PARTITION
        return ranges(begin, last, last - begin, most)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The tuples of a range."""
        assert isinstance(partition, Range)
        fail = (self._options.text("failOnLoss") or "true").lower() != "false"
        with self._options.client() as client:
            for table in tables_of(client, self._output, partition.begin, partition.end, fail_on_loss=fail):
                yield from batches_of(table, self._schema)

    def commit(self, end: dict[str, Any]) -> None:
        """Let the node forget what the query has committed."""
        if self._consumer is not None:
            with self._options.client() as client:
                client.acknowledge(self._consumer, self._output, int(end[_SEQ]))
