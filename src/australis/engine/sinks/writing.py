"""Several sinks at once, each on a thread of its own, beside a node that runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.engine.sinks.consuming import Outlet, RunningSink, Sink
from australis.engine.sources.waiting import SignalWaiter

_LOOK_SECONDS = 0.05
"""How often an output is looked at while no tuple is on its way through the node."""

Heard = Callable[[str, pa.Table], None]
"""Hears of each table of an output once it is written and acknowledged."""


class Writing:
    """Writes outputs while the node runs; `finish` ends it behind everything that was pushed.

    The first error ends all sinks and calls `failed`, so that whoever feeds the node can stop; `finish` then
    raises it. As a context manager it finishes at the end, and leaves if there was an error inside.
    """

    def __init__(
        self,
        outlet: Outlet,
        sinks: Sequence[Sink],
        *,
        failed: Callable[[], None] = lambda: None,
        heard: Heard = lambda output, table: None,
    ) -> None:
        self._outlet, self._failed, self._heard = outlet, failed, heard
        self._waiter, self._left = SignalWaiter(), threading.Event()
        self._errors: list[BaseException] = []
        # Whoever holds its lock is writing a table.
        self._locks = [threading.Lock() for _ in sinks]
        self._threads = [
            threading.Thread(target=self._run, args=each, name=f"sink-{each[0].output}", daemon=True)
            for each in zip(sinks, self._locks, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Write all that was pushed and has gone through, then end."""
        self._waiter.end()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def leave(self) -> None:
        """Write no more tables than those that are being written, and wait for these."""
        self._left.set()
        self._waiter.end()
        for lock in self._locks:
            with lock:
                pass

    def _run(self, sink: Sink, lock: threading.Lock) -> None:
        try:
            with sink.start(self._outlet) as running:
                self._write(sink, running, lock)
        except BaseException as error:
            self._errors.append(error)
            self._left.set()
            self._waiter.end()
            self._failed()

    def _write(self, sink: Sink, running: RunningSink, lock: threading.Lock) -> None:
        is_last = False
        while not is_last:
            # What came before the end was announced is looked for once more behind it.
            is_last = not self._waiter.until(self._waiter.now() + _LOOK_SECONDS)
            for table in self._outlet.subscribe(sink.output, consumer=sink.consumer, follow=False):
                with lock:
                    if self._left.is_set():
                        return
                    running.take(table)
                self._heard(sink.output, table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish()
        else:
            self.leave()
