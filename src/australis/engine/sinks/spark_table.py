"""Tables of a lakehouse as sinks: Spark writes what an output keeps, and each tuple once.

What is about to be written is recorded first, as a range of sequence numbers. If the node is killed, the next
run writes the same range again, in a way by which the table recognises it: Delta by the number of a
transaction of an application, Iceberg by a property of the snapshot, plain files by the folder of the range.
"""

from __future__ import annotations

import json
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from australis.algebra.schema import Schema
from australis.engine.sinks.consuming import Heard, Kept, Outlet, RunningSink, Tables
from australis.engine.sinks.doors import DoorOptions
from australis.engine.sinks.parts import DEFAULT_LIMITS, PartLimits
from australis.errors import EngineError, Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

DELTA, SPARK = "delta", "spark"
FILES = ("parquet", "orc", "json", "csv", "avro")
_LOOK_S = 1.0


@runtime_checkable
class SparkOutlet(Outlet, Protocol):
    """A node whose outputs Spark can read."""

    @property
    def spark(self) -> SparkSession: ...

    def frame(self, output: str, begin: int, end: int, /) -> DataFrame: ...


class Table(ABC):
    """A table that Spark writes, and recognises a range by that was written before."""

    def __init__(self, path: str, format: str, app: str) -> None:
        self.path, self.format, self.app = path, format, app

    def write(self, frame: DataFrame, begin: int, end: int, *, again: bool) -> None:
        """Write the tuples from `begin` up to `end`; `again` says that they may be there."""
        if not (again and self.has(frame.sparkSession, end)):
            self.save(frame.write.format(self.format), begin, end)

    def has(self, session: SparkSession, end: int) -> bool:
        """Whether the range that ends there was written, as far as the table must be asked for that."""
        del session, end
        return False

    @abstractmethod
    def save(self, writer: DataFrameWriter, begin: int, end: int) -> None:
        """Write a range."""


class DeltaTable(Table):
    """A Delta table: it ignores a transaction of an application whose number it has."""

    def save(self, writer: DataFrameWriter, begin: int, end: int) -> None:
        del begin
        writer.mode("append").option("txnAppId", self.app).option("txnVersion", end).save(self.path)


class IcebergTable(Table):
    """An Iceberg table, which exists: each snapshot has a property with the last number."""

    def has(self, session: SparkSession, end: int) -> bool:
        mark = "#" if "/" in self.path else "."
        snapshots = session.read.format("iceberg").load(f"{self.path}{mark}snapshots")
        return bool(snapshots.filter(snapshots["summary"][self.app] == str(end)).limit(1).count())

    def save(self, writer: DataFrameWriter, begin: int, end: int) -> None:
        del begin
        writer.mode("append").option(f"snapshot-property.{self.app}", end).save(self.path)


class FileTable(Table):
    """Files that Spark writes: a folder for each range, which is written anew if it is written again."""

    def save(self, writer: DataFrameWriter, begin: int, end: int) -> None:
        del end
        writer.mode("overwrite").save(f"{self.path}/seq={begin}")


TABLES: Mapping[str, type[Table]] = {
    DELTA: DeltaTable,
    "iceberg": IcebergTable,
    **dict.fromkeys(FILES, FileTable),
}


@dataclass(frozen=True)
class SparkTableSink:
    """A table or folder for an output, written by the Spark that runs the node's trains."""

    output: str
    format: str
    path: str
    schema: Schema
    limits: PartLimits = DEFAULT_LIMITS
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)

    @property
    def consumer(self) -> str:
        return f"{SPARK}:{self.format}:{self.path}"

    def check(self, position: str | None) -> None:
        """Refuse a position of another kind; the table is opened by Spark alone."""
        if position is not None:
            _Position.of(position, self.path)

    def start(self, outlet: Outlet) -> RunningTable:
        if not isinstance(outlet, SparkOutlet):
            raise EngineError(Problem(self.consumer, "is written by Spark", "a node, which has Spark"))
        return RunningTable(self, outlet)


def parse_spark_table(output: str, text: str, schema: Schema, door: DoorOptions) -> SparkTableSink:
    """The sink of `delta:PATH` or `spark:FORMAT:PATH`.

    >>> from australis.algebra.schema import parse_schema
    >>> from australis.engine.sinks.doors import DEFAULT_DOOR
    >>> parse_spark_table("alarms", "spark:orc:/data/alarms", parse_schema("n int"), DEFAULT_DOOR).format
    'orc'
    """
    del door
    scheme, _, rest = text.partition(":")
    name, path = (DELTA, rest) if scheme == DELTA else rest.partition(":")[::2]
    if name not in TABLES or not path:
        expected = f"delta:PATH, or spark:FORMAT:PATH with one of {', '.join(TABLES)}"
        raise EngineError(Problem(text, "is no table that Spark writes exactly once", expected))
    return SparkTableSink(output, name, path, schema)


@dataclass(frozen=True)
class _Position:
    """The name of the writer in the table, and the range that may be written already."""

    app: str
    begin: int = -1
    end: int = -1

    @property
    def text(self) -> str:
        return json.dumps({"app": self.app, "begin": self.begin, "end": self.end})

    @classmethod
    def of(cls, text: str, path: str) -> _Position:
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            raise EngineError(Problem(path, f"the position {text!r} is none of a table")) from None


class RunningTable(RunningSink):
    """A table that is being written."""

    def __init__(self, sink: SparkTableSink, outlet: SparkOutlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink, self._node, self._session = sink, outlet, outlet.spark
        text = self._ensure_position(lambda: _Position(f"australis-{secrets.token_hex(8)}").text)
        self._position = _Position.of(text, sink.path)
        self._table = TABLES[sink.format](sink.path, sink.format, self._position.app)
        self._last_s = float("-inf")
        begin, _ = outlet.consumer(self._consumer, self._output)
        if self._position.begin == begin < self._position.end:
            # The last run ended between its record and the acknowledgement.
            self._write(begin, self._position.end, again=True)

    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """One step for each range that is due; what is not due stays in the output, unacknowledged."""
        del tables
        while True:
            begin, _ = self._outlet.consumer(self._consumer, self._output)
            kept = self._outlet.kept(self._output, begin)
            if not self._is_due(kept, is_last):
                return
            yield partial(self._take, begin, kept.end, heard)

    def _is_due(self, kept: Kept, is_last: bool) -> bool:
        limits, self.rest_s = self._sink.limits, None
        if not kept.rows:
            return False
        rest_s = self._last_s + limits.every_s - self._sink.clock()
        if is_last or kept.is_in_the_way or kept.bytes >= limits.bytes or rest_s <= 0:
            return True
        self.rest_s = min(rest_s, _LOOK_S)
        return False

    def _take(self, begin: int, end: int, heard: Heard) -> None:
        """Record a range, write it, and acknowledge it."""
        self._position = _Position(self._position.app, begin, end)
        self._outlet.acknowledge(self._consumer, self._output, begin, self._position.text)
        self._write(begin, end, again=False)
        del heard  # its tuples were not here

    def _write(self, begin: int, end: int, *, again: bool) -> None:
        names = [f"`{name}`" for name in self._sink.schema.names]
        with self._trouble():
            frame = self._node.frame(self._output, begin, end).select(*names)
            self._table.write(frame, begin, end, again=again)
        self._acknowledge(end)
        self._last_s = self._sink.clock()

    def _acknowledge(self, end: int) -> None:
        self._outlet.acknowledge(self._consumer, self._output, end, self._position.text)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j")):
                raise
            told = next((line.strip() for line in str(error).splitlines() if line.strip()), "it failed")
            expected = f"a session with the package of {self._sink.format}, and a path that it may write"
            problem = Problem(self._sink.path, f"Spark cannot write it: {told[:500]}", expected)
            raise EngineError(problem) from error

    def close(self) -> None:
        """Nothing is open between two ranges."""
