"""What a sink needs from a node, and how tables go through it: written, then acknowledged."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.store import SEQ

FILE = "file:"
"""The prefix of the names of consumers that are files."""


class Tables(Protocol):
    """Tables that arrive one after the other, until they are closed."""

    def __iter__(self) -> Iterator[pa.Table]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Kept:
    """How much an output keeps up to a number; an estimate where a segment is kept only in part."""

    end: int
    rows: int
    bytes: int
    is_in_the_way: bool = False
    """Whether inputs wait for the space that it takes."""


class Outlet(Protocol):
    """The part of a node that delivers tables, and records under a consumer's name how far it has come.

    A position is the sequence number of the first tuple not acknowledged, and a text of the consumer.
    """

    def subscribe(self, output: str, /, *, consumer: str, follow: bool = True) -> Tables: ...

    def kept(self, output: str, begin: int, rows: int | None = None, /) -> Kept: ...

    def read(self, output: str, begin: int, end: int, /) -> pa.Table: ...

    def consumer(self, consumer: str, output: str, /) -> tuple[int, str | None]: ...

    def acknowledge(self, consumer: str, output: str, seq: int, position: str | None, /) -> None: ...


@dataclass(frozen=True)
class FileSink:
    """A file or folder for an output; existing contents are kept unless `replace` is set."""

    output: str
    path: str
    schema: Schema
    replace: bool = False

    @property
    def consumer(self) -> str:
        return f"{FILE}{Path(self.path).resolve()}"


Heard = Callable[[pa.Table], None]
"""Is told of each table that is written."""


class RunningSink(ABC):
    """A sink that is being written; a context manager that closes it."""

    rest_s: float | None = None
    """In how many seconds it has something to write, even if no tuple arrives; None if it has not."""

    def __init__(self, outlet: Outlet, output: str, consumer: str) -> None:
        self._outlet, self._output, self._consumer = outlet, output, consumer
        self._ended = threading.Event()

    def end(self) -> None:
        """Wait for nothing any more, such as a server that does not answer; any thread may call this."""
        self._ended.set()

    @abstractmethod
    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """What is to be written now, step by step, of the output's tables; with `is_last` all there is."""

    @abstractmethod
    def close(self) -> None:
        """Close the files."""

    def _ensure_position(self, first: Callable[[], str]) -> str:
        """Acknowledge the first position if there is none yet; returns the acknowledged one."""
        seq, position = self._outlet.consumer(self._consumer, self._output)
        if position is None:
            position = first()
            self._outlet.acknowledge(self._consumer, self._output, seq, position)
        return position

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TableSink(RunningSink):
    """A sink that writes each table as it comes, durably, and then acknowledges it."""

    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        del is_last
        for table in tables:
            yield partial(self._take, table, heard)

    def _take(self, table: pa.Table, heard: Heard) -> None:
        """Write a table durably, then acknowledge it together with the sink's position."""
        last = int(table[SEQ][-1].as_py())
        position = self._write(table)
        self._outlet.acknowledge(self._consumer, self._output, last + 1, position)
        heard(table)

    @abstractmethod
    def _write(self, table: pa.Table) -> str | None:
        """Write a table to disk; returns the position after it."""


class Sink(Protocol):
    """The settings of a sink."""

    @property
    def output(self) -> str: ...

    @property
    def consumer(self) -> str: ...

    def check(self, position: str | None) -> None:
        """Refuse what cannot be written, before anything runs; `position` is where the last run left it."""

    def start(self, outlet: Outlet) -> RunningSink: ...


def write_out(outlet: Outlet, sink: Sink, heard: Heard = lambda table: None) -> None:
    """Write what an output holds."""
    # Claim the name first: a second sink for the file would cut off what the first has not acknowledged yet.
    with (
        closing(outlet.subscribe(sink.output, consumer=sink.consumer, follow=False)) as tables,
        sink.start(outlet) as running,
    ):
        for step in running.steps(tables, heard, is_last=True):
            step()
