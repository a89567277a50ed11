"""Runs a node: threads feed it from sources and take its outputs, while the caller waits for events."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Protocol

import pyarrow as pa

from australis.engine import Node
from australis.engine.sinks import Heard, RunningSink, Tables
from australis.engine.sources import Adoption, Delivery, SignalWaiter, Source, feed
from australis.errors import EngineError

_FED, _ASKED = "fed", "asked"
_log = logging.getLogger(__name__)
_FLUSHED = "end of the streams"
"""The source whose position records at which length of the log the end of the streams was logged."""


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


class Conductor:
    """Runs sources to their ends through a node with a deployed network."""

    def __init__(
        self,
        node: Node,
        sources: Sequence[Source],
        takers: Sequence[Taker],
        *,
        flush: bool,
        heard: Callable[[Delivery], None] = lambda delivery: None,
        waiting_most: int | None = None,
    ) -> None:
        self._node, self._sources, self._takers = node, sources, takers
        self._flush, self._heard = flush, heard
        self._waiting_most, self._brought = waiting_most, 0
        self._waiter = SignalWaiter()
        self._news: SimpleQueue[str | BaseException] = SimpleQueue()
        self._over = threading.Event()
        self._left = threading.Event()
        self._wakes = [threading.Event() for _ in takers]
        # The holder of a taker's lock is taking a table.
        self._locks = [threading.Lock() for _ in takers]
        self.notes: tuple[str, ...] = ()

    def ask(self) -> None:
        """Ask for an end once running trains have finished; a signal handler may call this."""
        self._news.put(_ASKED)

    def run(self, each_second: Callable[[], None] | None = None) -> bool:
        """Run until everything is processed, or an end is requested; returns whether everything is."""
        self._node.on_train(lambda train: self._wake())
        consumers = [
            self._thread(partial(self._consume, *each))
            for each in zip(self._takers, self._wakes, self._locks, strict=True)
        ]
        feeder = self._thread(self._bring)
        try:
            is_whole = self._listen(each_second)
            if not is_whole:
                self._waiter.end()
                self._node.pause()
            self._over.set()
            self._wake()
            for thread in (feeder, *consumers):
                thread.join()
        except BaseException:
            self._leave()
            raise
        self._raise_what_failed()
        self._node.check()
        return is_whole

    def _leave(self) -> None:
        """Let sources deliver no more, and takers finish only the tables they are taking."""
        self._waiter.end()
        self._left.set()
        for lock in self._locks:
            with lock:
                pass

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        def run_and_report() -> None:
            try:
                work()
            except BaseException as error:
                # The first error is raised; those that follow from it are only recorded here.
                _log.debug("a thread of the run ended: %s", error)
                self._news.put(error)

        thread = threading.Thread(target=run_and_report, name="australis-run", daemon=True)
        thread.start()
        return thread

    def _listen(self, each_second: Callable[[], None] | None) -> bool:
        """Wait for the end of the sources or a request for one; an error of a thread is raised here."""
        while True:
            try:
                news = self._news.get(timeout=1.0 if each_second else None)
            except Empty:
                # A second has passed without news.
                assert each_second is not None
                each_second()
                continue
            if isinstance(news, BaseException):
                raise news
            return news == _FED

    def _raise_what_failed(self) -> None:
        # The queue is empty once all errors were handled.
        with suppress(Empty):
            while True:
                news = self._news.get_nowait()
                if isinstance(news, BaseException):
                    raise news

    # --- input

    def _bring(self) -> None:
        with self._unless_ended():
            self.notes = feed(self._node, self._sources, self._waiter, self._pass_on)
        if self._waiter.is_ended:
            return
        if self._flush:
            self._end_streams()
        with self._unless_ended():
            self._node.drain()
        self._news.put(_FED)

    @contextmanager
    def _unless_ended(self) -> Iterator[None]:
        """Ignore errors of waits for tuples or disk space that end because the node was asked to stop."""
        try:
            yield
        except EngineError:
            if not self._waiter.is_ended:
                raise

    def _pass_on(self, delivery: Delivery) -> None:
        self._heard(delivery)
        self._node.check()
        self._wake()
        self._hold_back(delivery)

    def _hold_back(self, delivery: Delivery) -> None:
        """Limit the tuples that wait: deliver the next ones only when those before them are processed."""
        content = delivery.content
        self._brought += content.num_rows if isinstance(content, Adoption | pa.Table) else 0
        if self._waiting_most is not None and self._brought >= self._waiting_most:
            with self._unless_ended():
                self._node.drain()
            self._brought = 0

    def _end_streams(self) -> None:
        """Log the end once: a run that resumes after it, with nothing new, does not end the streams again."""
        log_end = self._node.statistics().log_end
        known = self._node.position(_FLUSHED)
        if known is None or log_end > int(known) + 2:
            self._node.flush(position=(_FLUSHED, str(log_end)))

    # --- output

    def _wake(self) -> None:
        for wake in self._wakes:
            wake.set()

    def _consume(self, taker: Taker, wake: threading.Event, lock: threading.Lock) -> None:
        """Take what an output has whenever there is something, and once more at the end."""
        while True:
            is_last = self._over.is_set()
            with self._unless_removed(taker.output), closing(self._tables(taker)) as tables:
                for step in taker.steps(tables, is_last=is_last):
                    with lock:
                        if self._left.is_set():
                            return
                        step()
            if is_last:
                return
            wake.wait(taker.rest_s)
            wake.clear()

    def _tables(self, taker: Taker) -> Generator[pa.Table, None, None]:
        """What an output has by now, as far as it is asked for."""
        yield from self._node.subscribe(taker.output, consumer=taker.consumer, follow=False)

    @contextmanager
    def _unless_removed(self, output: str) -> Iterator[None]:
        """Ignore errors about an output that a change of the network has removed."""
        try:
            yield
        except EngineError:
            if output in self._node.statistics().outputs:
                raise
