"""Text files as sinks: CSV, TSV and JSON lines, with each tuple once, whatever happens in between."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.files import csv_header, csv_rows, format_of, json_rows
from australis.engine.sinks.appended import AppendedFile, FileEnd, check_appendable, read_file_end
from australis.engine.sinks.consuming import FileSink, Outlet, TableSink
from australis.errors import EngineError, Problem

_ROWS_AT_ONCE = 200_000
"""How many rows become text at once: a column of text holds 2 GiB."""
_LEVEL = 6


@dataclass(frozen=True)
class Rendering:
    """Tables of a schema as the bytes of a text format; compressed, each table is a separate gzip member."""

    schema: Schema
    format: str
    is_packed: bool = False

    def header(self) -> bytes:
        return b"" if self.format == "jsonl" else self._packed(csv_header(self.schema, self._delimiter))

    def chunks(self, table: pa.Table) -> Iterator[bytes]:
        """The rows of a table, in bytes of bounded size."""
        for begin in range(0, table.num_rows, _ROWS_AT_ONCE):
            yield self._packed(self._rows(table.slice(begin, _ROWS_AT_ONCE)))

    def _rows(self, table: pa.Table) -> bytes:
        if self.format == "jsonl":
            return json_rows(table, self.schema)
        return csv_rows(table, self.schema, self._delimiter)

    @property
    def _delimiter(self) -> str:
        return "\t" if self.format == "tsv" else ","

    def _packed(self, rows: bytes) -> bytes:
        # Without a time in the header, the same tuples make the same file.
        return gzip.compress(rows, _LEVEL, mtime=0) if self.is_packed else rows


@dataclass(frozen=True)
class TextFileSink(FileSink):
    """A text file for an output, appended to.

    The length of the file is committed together with the acknowledgement of its tuples. A run that resumes
    cuts the file back to that length, so tuples that were not acknowledged are in it once.
    """

    def check(self, position: str | None) -> None:
        if position is None:
            self.check_free()
        check_appendable(self.path, read_file_end(position or FileEnd().text, self.path))

    def check_free(self) -> None:
        """Refuse an existing file that was not recorded: it belongs to somebody else."""
        path = Path(self.path)
        if not self.replace and path.is_file() and path.stat().st_size:
            what = "is there already, and this node did not write it"
            raise EngineError(Problem(self.path, what, "a name that is free"))

    def start(self, outlet: Outlet) -> RunningTextFile:
        return RunningTextFile(self, outlet)


class RunningTextFile(TableSink):
    """A text file that is being written."""

    def __init__(self, sink: TextFileSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink = sink
        packed = sink.path.lower().endswith(".gz")
        self._rendering = Rendering(sink.schema, format_of(sink.path), packed)
        record = read_file_end(self._ensure_position(self._first), sink.path)
        self._file = AppendedFile(sink.path, record)
        if record.size == 0:
            self._file.append([self._rendering.header()])

    def _first(self) -> str:
        """The record of an empty file."""
        self._sink.check_free()
        return FileEnd().text

    def _write(self, table: pa.Table) -> str:
        try:
            return self._file.append(self._rendering.chunks(table)).text
        except EngineError as error:
            if error.problem.path:
                raise
            raise EngineError(error.problem.under(self._sink.path)) from None

    def close(self) -> None:
        self._file.close()
