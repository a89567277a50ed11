"""Reads an output or the history of a connection point, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.types import StructType

from pyspark_australis.options import ROWS_PER_PARTITION, SourceOptions
from pyspark_australis.written import batches_of, tables_of

_OPERATORS: dict[type[Filter], str] = {
    EqualTo: "=",
    GreaterThan: ">",
    GreaterThanOrEqual: ">=",
    LessThan: "<",
    LessThanOrEqual: "<=",
}


@dataclass
class Range(InputPartition):
    """The numbers that one task reads, from `begin` up to `end`."""

    begin: int
    end: int


def ranges(begin: int, end: int, rows: int, rows_most: int) -> list[Range]:
    """Numbers cut evenly, so that each part has about so many tuples.

    >>> ranges(0, 100, 30, 10)
    [Range(begin=0, end=34), Range(begin=34, end=68), Range(begin=68, end=100)]
    """
    if end <= begin:
        return []
    parts = min(max(1, -(-rows // rows_most)), end - begin)
    step = -(-(end - begin) // parts)
    return [Range(first, min(first + step, end)) for first in range(begin, end, step)]


class OutputReader(DataSourceReader):
    """Reads what an output keeps, each range of numbers by a task of its own."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        self._output = options.needed("output")

    def partitions(self) -> Sequence[InputPartition]:
        """The ranges of numbers."""
        begin, end = self._options.number("begin") or 0, self._options.number("end")
        with self._options.client() as client:
            kept = client.kept(self._output, begin)
        last = kept.end if end is None else min(end, kept.end)
        begin = max(begin, kept.begin)
        return ranges(begin, last, kept.rows, self._options.number("rowsPerPartition") or ROWS_PER_PARTITION)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The tuples of a range."""
        assert isinstance(partition, Range)
        with self._options.client() as client:
            for table in tables_of(client, self._output, partition.begin, partition.end, fail_on_loss=False):
                yield from batches_of(table, self._schema)


class HistoryReader(DataSourceReader):
    """Reads what a connection point keeps; predicates and times are looked up by the node."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options, self._schema = options, schema
        self._where = [text] if (text := options.text("where")) else []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Let the node look up what it can; Spark filters again."""
        self._where += [text for each in filters if (text := as_text(each)) is not None]
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """One: the node reads its history in order."""
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The tuples."""
        del partition
        options = self._options
        with options.client() as client:
            table = client.history(
                options.needed("point"),
                " AND ".join(f"({text})" for text in self._where) or None,
                since=options.text("since"),
                until=options.text("until"),
            )
        yield from batches_of(table, self._schema)


def as_text(found: Filter) -> str | None:
    """A filter of Spark as a predicate of a node; None if the node is not asked.

    >>> as_text(GreaterThan(("speed",), 80)), as_text(EqualTo(("name",), "o'clock"))
    ('`speed` > 80', None)
    """
    column: tuple[str, ...] = getattr(found, "attribute", ())
    operator = _OPERATORS.get(type(found))
    value = getattr(found, "value", None)
    if operator is None or len(column) != 1 or column[0].startswith("#") or "`" in column[0]:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        # Texts, times and decimals are written differently on both sides; Spark filters by them.
        return None
    return f"`{column[0]}` {operator} {value}"
