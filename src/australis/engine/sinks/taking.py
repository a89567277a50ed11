"""Takes what outputs have whenever there is something: what a run and the feeds of a service share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pyarrow as pa

from australis.engine.sinks.consuming import Heard, Outlet, RunningSink, Tables
from australis.errors import EngineError


class Taker(Protocol):
    """Takes what an output has, step by step, under the name of a consumer."""

    @property
    def output(self) -> str: ...

    @property
    def consumer(self) -> str: ...

    @property
    def rest_s(self) -> float | None:
        """In how many seconds it wants to be asked again, even if nothing happens."""

    def steps(self, tables: Tables, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """What is to be done now; with `is_last` nothing may be left."""

    def end(self) -> None:
        """Wait for nothing any more."""


@dataclass(frozen=True)
class OutputTaker:
    """An output, the name of its consumer, and what to do with its tables."""

    output: str
    consumer: str
    take: Callable[[pa.Table], None]
    rest_s: float | None = None

    def steps(self, tables: Tables, *, is_last: bool) -> Iterator[Callable[[], None]]:
        del is_last
        return (partial(self.take, table) for table in tables)

    def end(self) -> None:
        """It waits for nothing."""


@dataclass(frozen=True)
class SinkTaker:
    """An output that a sink writes, and who is told of what it has written."""

    output: str
    consumer: str
    sink: RunningSink
    heard: Heard

    @property
    def rest_s(self) -> float | None:
        return self.sink.rest_s

    def steps(self, tables: Tables, *, is_last: bool) -> Iterator[Callable[[], None]]:
        return self.sink.steps(tables, self.heard, is_last=is_last)

    def end(self) -> None:
        self.sink.end()


class Taking:
    """One taker at work in a thread of the caller's; all other methods may be called by any thread."""

    def __init__(self, outlet: Outlet, taker: Taker, has_output: Callable[[str], bool]) -> None:
        self._outlet, self._taker, self._has_output = outlet, taker, has_output
        self._wake, self._over, self._left = threading.Event(), threading.Event(), threading.Event()
        # Its holder is taking a table.
        self._lock = threading.Lock()

    def wake(self) -> None:
        """Look again: a train may have written something."""
        self._wake.set()

    def finish(self) -> None:
        """Take what is there now, and then end."""
        self._over.set()
        self._wake.set()

    def end(self) -> None:
        """End after the table that is being taken; returns at once."""
        self._left.set()
        self._over.set()
        self._taker.end()
        self._wake.set()

    def leave(self) -> None:
        """End after the table that is being taken; returns when it is taken."""
        self.end()
        with self._lock:
            pass

    def run(self) -> None:
        """Take what the output has whenever there is something, and once more at the end."""
        while True:
            is_last = self._over.is_set()
            with self._unless_removed(), closing(self._tables()) as tables:
                for step in self._taker.steps(tables, is_last=is_last):
                    with self._lock:
                        if self._left.is_set():
                            return
                        step()
            if is_last:
                return
            self._wake.wait(self._taker.rest_s)
            self._wake.clear()

    def _tables(self) -> Generator[pa.Table, None, None]:
        """What the output has by now, as far as it is asked for."""
        yield from self._outlet.subscribe(self._taker.output, consumer=self._taker.consumer, follow=False)

    @contextmanager
    def _unless_removed(self) -> Iterator[None]:
        """Ignore errors about an output that a change of the network has removed."""
        try:
            yield
        except EngineError:
            if self._has_output(self._taker.output):
                raise
