"""Where the tuples that a command delivers go: a table on the terminal, JSON lines, or a file."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Literal, Self

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from australis.algebra.schema import Field, Schema
from australis.app.running import Stop
from australis.engine.files import STANDARD_STREAM, json_rows, open_writer

_LEFT = ("string", "boolean")


class Destination(ABC):
    """Takes tables of outputs, up to a number of tuples; a context manager that completes them at the end."""

    is_whole_only = False
    """Whether an incomplete result, as after Ctrl-C, is of no use."""

    def __init__(self, limit: int | None = None) -> None:
        self.tuples, self._limit = 0, limit

    @property
    def is_full(self) -> bool:
        """Whether everything that was wanted is there."""
        return self._limit is not None and self.tuples >= self._limit

    def take(self, output: str, table: pa.Table) -> None:
        """Deliver the tuples of a table that are still wanted."""
        left = table.num_rows if self._limit is None else self._limit - self.tuples
        wanted = table.slice(0, min(left, table.num_rows))
        self.tuples += wanted.num_rows
        if wanted.num_rows:
            self._deliver(output, wanted)

    @abstractmethod
    def _deliver(self, output: str, table: pa.Table) -> None: ...

    def finish(self) -> None:  # noqa: B027  (what was delivered at once needs no end)
        """Complete the delivery."""

    def discard(self) -> None:  # noqa: B027
        """Discard a failed delivery: nothing incomplete is left."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Ctrl-C is how a query is ended, and what it has delivered by then is wanted.
        is_end = error is None or (isinstance(error, KeyboardInterrupt) and not self.is_whole_only)
        self.finish() if is_end else self.discard()


class Lines(Destination):
    """JSON lines on standard output; with several outputs, each line names its output."""

    def __init__(self, schemas: Mapping[str, Schema], limit: int | None = None) -> None:
        super().__init__(limit)
        self._schemas = schemas

    def _deliver(self, output: str, table: pa.Table) -> None:
        rows = json_rows(table, self._schemas[output])
        rest = memoryview(rows if len(self._schemas) == 1 else labelled(rows, output))
        # An unbuffered stream, as with PYTHONUNBUFFERED, may write only a part when a signal comes.
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()


def labelled(rows: bytes, output: str) -> bytes:
    """JSON lines with the name of their output.

    >>> labelled(b'{"x":1}\\n{"x":2}\\n', "far")
    b'{"output":"far","tuple":{"x":1}}\\n{"output":"far","tuple":{"x":2}}\\n'
    """
    begin = f'{{"output":"{output}","tuple":'.encode()
    return begin + rows[:-1].replace(b"\n", b"}\n" + begin) + b"}\n"


class OneFile(Destination):
    """A file, which gets its name when it is complete."""

    def __init__(self, path: str, schema: Schema, limit: int | None = None) -> None:
        super().__init__(limit)
        self._writer = open_writer(path, schema)

    def _deliver(self, output: str, table: pa.Table) -> None:
        self._writer.write(table)

    def finish(self) -> None:
        self._writer.commit()

    def discard(self) -> None:
        self._writer.discard()


class Rows(Destination):
    """Rows on a terminal, one below the other; with one output, the names of attributes come first."""

    def __init__(self, schemas: Mapping[str, Schema], console: Console, limit: int | None = None) -> None:
        super().__init__(limit)
        self._schemas, self._console = schemas, console
        self._widths: dict[tuple[str, str], int] = {}
        self._last = ""

    def _deliver(self, output: str, table: pa.Table) -> None:
        is_new, self._last = output != self._last, output
        if is_new and len(self._schemas) > 1:
            self._console.print(f"{output}:", style="bold")
        shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=is_new)
        texts = [self._column(shown, output, field, table[field.name]) for field in self._schemas[output]]
        for row in zip(*texts, strict=True):
            shown.add_row(*row)
        self._console.print(shown)

    def _column(self, shown: Table, output: str, field: Field, values: pa.ChunkedArray) -> list[str]:
        """Add a column that is as wide as it ever was; returns its texts."""
        texts = ["NULL" if value is None else str(value) for value in values.to_pylist()]
        width = max(self._widths.get((output, field.name), 0), *map(len, [field.name, *texts]))
        self._widths[output, field.name] = width
        justify: Literal["left", "right"] = "left" if field.type.name in _LEFT else "right"
        shown.add_column(field.name, justify=justify, min_width=width, no_wrap=True)
        return texts


def deliver(found: Iterable[tuple[str, pa.Table]], target: Destination, stop: Stop) -> None:
    """Deliver tables of outputs until everything that was wanted is there; Ctrl-C cuts no line in two."""
    pairs = iter(found)
    while not target.is_full and (pair := next(pairs, None)) is not None:
        with stop.defer():
            target.take(*pair)


def open_destination(
    schemas: Mapping[str, Schema], path: str | None, limit: int | None, *, as_json: bool
) -> Destination:
    """Where the tuples of some outputs go: to a file, or to standard output."""
    if path is not None and path != STANDARD_STREAM:
        (schema,) = schemas.values()
        return OneFile(path, schema, limit)
    if as_json or path == STANDARD_STREAM or not sys.stdout.isatty():
        return Lines(schemas, limit)
    return Rows(schemas, Console(highlight=False, markup=False), limit)
