"""Writers: a file appears under its name only when it is complete."""

from __future__ import annotations

import contextlib
import gzip
import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from australis.algebra.schema import Schema
from australis.engine.files.rendering import csv_header, csv_rows, json_rows
from australis.engine.files.rows import STANDARD_STREAM
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)
_ROWS_AT_ONCE = 200_000
"""How many rows become text at once: a flush may bring millions, and a column of text holds 2 GiB."""


class Target:
    """A place to write to: a temporary file that gets the target's name at the end, or a stream."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._final = Path(path).resolve()
        self._temporary: Path | None = None
        with self.trouble():
            self.stream: IO[bytes] = self._open()

    def _open(self) -> IO[bytes]:
        if self.path == STANDARD_STREAM:
            return sys.stdout.buffer
        if self._final.exists() and not self._final.is_file():
            return open(self._final, "wb")  # a device or a pipe; a folder is refused here
        self._temporary = _temporary(self._final)
        return open(self._temporary, "wb")

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """Report a writing error, and for which file."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise EngineError(Problem(self.path, f"cannot be written: {error.strerror or error}")) from None

    def pass_on(self) -> None:
        """Flush what was written for readers of a stream; nobody reads a temporary file."""
        if self._temporary is None:
            self.stream.flush()

    def finish(self) -> None:
        """Sync what was written to disk; after this, nothing can fail any more."""
        with self.trouble():
            self.stream.flush()
            if self._temporary is not None:
                os.fsync(self.stream.fileno())
            self._close()

    def rename(self, path: str) -> None:
        """Change the name that what was written will get."""
        with self.trouble():
            final, written = Path(path).resolve(), self._temporary
            if written is not None:
                self._temporary = _temporary(final)
                os.replace(written, self._temporary)
            self.path, self._final = path, final

    def publish(self) -> None:
        """Give what was written its name."""
        with self.trouble():
            if self._temporary is not None:
                os.replace(self._temporary, self._final)

    def discard(self) -> None:
        """Leave nothing behind; an earlier file of that name stays."""
        # What cannot be completed is not wanted either.
        with contextlib.suppress(OSError):
            self._close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        if self.path != STANDARD_STREAM:
            self.stream.close()


def _temporary(final: Path) -> Path:
    """The name under which a file is written: hidden, and without the extension that readers look for."""
    return final.with_name(f".{final.name}.{os.getpid()}.part")


class Writer(ABC):
    """Writes tables of one schema to a target."""

    def __init__(self, target: Target, schema: Schema) -> None:
        self._target, self._schema = target, schema

    def write(self, table: pa.Table) -> None:
        """Append the attributes of a table; hidden columns are left out."""
        with self._target.trouble():
            try:
                for begin in range(0, table.num_rows, _ROWS_AT_ONCE):
                    self._write(table.slice(begin, _ROWS_AT_ONCE))
                self._target.pass_on()
            except EngineError as error:
                raise EngineError(error.problem.under(self._target.path)) from None

    def commit(self) -> None:
        """Finish the file and give it its name."""
        self.finish()
        self.publish()

    @property
    def bytes(self) -> int:
        """How much was written so far."""
        return self._target.stream.tell()

    def rename(self, path: str) -> None:
        """Change the name that the file will get."""
        self._target.rename(path)

    def finish(self) -> None:
        """Complete the file, still without its name."""
        with self._target.trouble():
            self._finish()
        self._target.finish()

    def publish(self) -> None:
        """Give the finished file its name."""
        self._target.publish()

    def discard(self) -> None:
        """Drop what was written."""
        try:
            self._finish()
        except Exception as error:
            _log.debug("%s is discarded, and has no end: %s", self._target.path, error)
        self._target.discard()

    @abstractmethod
    def _write(self, table: pa.Table) -> None: ...

    @abstractmethod
    def _finish(self) -> None: ...


class TextWriter(Writer):
    """What CSV and JSON lines have in common: a stream of bytes, compressed if the name says so."""

    def __init__(self, target: Target, schema: Schema) -> None:
        super().__init__(target, schema)
        self._packed = target.path.endswith(".gz")
        # Without a time and a name in the header, the same tuples make the same file.
        packed = gzip.GzipFile("", "wb", 6, target.stream, mtime=0) if self._packed else target.stream
        self._stream = cast(IO[bytes], packed)

    def _finish(self) -> None:
        if self._packed:
            self._stream.close()


class CsvWriter(TextWriter):
    """CSV or TSV with a header."""

    def __init__(self, target: Target, schema: Schema, delimiter: str = ",") -> None:
        super().__init__(target, schema)
        self._delimiter = delimiter
        with target.trouble():
            self._stream.write(csv_header(schema, delimiter))

    def _write(self, table: pa.Table) -> None:
        self._stream.write(csv_rows(table, self._schema, self._delimiter))


class JsonWriter(TextWriter):
    """JSON lines."""

    def _write(self, table: pa.Table) -> None:
        self._stream.write(json_rows(table, self._schema))


class ParquetWriter(Writer):
    """Parquet."""

    def __init__(self, target: Target, schema: Schema) -> None:
        super().__init__(target, schema)
        with target.trouble():
            self._file = pq.ParquetWriter(target.stream, schema.arrow)

    def _write(self, table: pa.Table) -> None:
        self._file.write_table(table.select(list(self._schema.names)).cast(self._schema.arrow))

    def _finish(self) -> None:
        self._file.close()
