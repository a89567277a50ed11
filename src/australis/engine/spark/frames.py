"""What an output keeps as a Spark DataFrame: executors read the segments, and the driver none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark

from australis.algebra.schema import TS, Schema
from australis.engine.spark.types import spark_type
from australis.engine.store import SEQ, Root, Segment, read_segment
from australis.errors import EngineError, Problem

BYTES_OF_TASK = 64 << 20
"""About how many bytes of segments a task reads."""
_ROWS_OF_BATCH = 65_536


class Files(Protocol):
    """Segments that have the tuples from `begin` up to `end`, and others."""

    @property
    def schema(self) -> Schema: ...

    @property
    def segments(self) -> Sequence[Segment]: ...

    @property
    def begin(self) -> int: ...

    @property
    def end(self) -> int: ...


def frame_of(session: SparkSession, root: Root, files: Files) -> DataFrame:
    """The tuples of some segments, with `#ts` and `#seq`; their order is that of `#seq`.

    Files are read when the frame is computed, each time.
    """
    schema, begin, end = files.schema, files.begin, files.end
    wanted = [each for each in files.segments if each.end > begin and each.base < end]
    parts = divided(sorted(wanted, key=lambda each: (each.base, each.writer, each.part)), BYTES_OF_TASK)
    read = ReadSegments(root.uri, tuple(schema.names), parts, begin, end)
    # A frame without tuples has one part, which is empty.
    numbers = session.range(0, len(parts), 1, max(1, len(parts)))
    return numbers.mapInArrow(read, frame_schema(schema))


def frame_schema(schema: Schema) -> spark.StructType:
    """The schema of a frame."""
    fields = [spark.StructField(field.name, spark_type(field.type), field.nullable) for field in schema]
    hidden = [
        spark.StructField(TS, spark.TimestampType(), False),
        spark.StructField(SEQ, spark.LongType(), False),
    ]
    return spark.StructType([*fields, *hidden])


def divided(segments: Sequence[Segment], bytes_most: int) -> tuple[tuple[Segment, ...], ...]:
    """Neighbouring segments together, as long as they are about so many bytes.

    >>> one, other = (Segment("n.a", f"{n}.parquet", n, n + 1, 1, 40, 0) for n in (0, 1))
    >>> [len(part) for part in divided([one, other], 50)], [len(part) for part in divided([one, other], 80)]
    ([1, 1], [2])
    """
    parts: list[list[Segment]] = []
    size = 0
    for each in segments:
        if not parts or size + each.bytes > bytes_most:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += each.bytes
    return tuple(map(tuple, parts))


# --- what runs in a Python worker


@dataclass(frozen=True)
class ReadSegments:
    """Reads the segments of those parts whose numbers come in."""

    root: str
    columns: tuple[str, ...]
    parts: tuple[tuple[Segment, ...], ...]
    begin: int
    end: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        root = Root(self.root)
        # All of them first: Spark and its worker may else wait for each other over a Unix socket.
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        for number in numbers:
            for segment in self.parts[number]:
                yield from self._read(root, segment).to_batches(_ROWS_OF_BATCH)

    def _read(self, root: Root, segment: Segment) -> pa.Table:
        try:
            return read_segment(root, segment, list(self.columns), self.begin, self.end, threads=False)
        except EngineError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            expected = "node.frame() again, or a longer hold_s: a frame is of files, which are kept so long"
            raise EngineError(Problem(segment.name, "is not there any more", expected)) from None
