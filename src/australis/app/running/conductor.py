"""Runs a node: threads feed it from sources and take its outputs, while the caller waits for events."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

import pyarrow as pa

from australis.engine import Node
from australis.engine.sinks import Taker, Taking
from australis.engine.sources import Adoption, Delivery, SignalWaiter, Source, feed
from australis.errors import EngineError

_FED, _ASKED = "fed", "asked"
_log = logging.getLogger(__name__)
_FLUSHED = "end of the streams"
"""The source whose position records at which length of the log the end of the streams was logged."""


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
        self._node, self._sources = node, sources
        self._flush, self._heard = flush, heard
        self._waiting_most, self._brought = waiting_most, 0
        self._waiter = SignalWaiter()
        self._news: SimpleQueue[str | BaseException] = SimpleQueue()
        self._takings = [Taking(node, taker, node.has_output) for taker in takers]
        self.notes: tuple[str, ...] = ()

    def ask(self) -> None:
        """Ask for an end once running trains have finished; a signal handler may call this."""
        self._news.put(_ASKED)

    def run(self, each_second: Callable[[], None] | None = None) -> bool:
        """Run until everything is processed, or an end is requested; returns whether everything is."""
        self._node.on_train(lambda train: self._wake())
        consumers = [self._thread(taking.run) for taking in self._takings]
        feeder = self._thread(self._bring)
        try:
            is_whole = self._listen(each_second)
            if not is_whole:
                self._waiter.end()
                self._node.pause()
            for taking in self._takings:
                taking.finish()
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
        for taking in self._takings:
            taking.leave()

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
        for taking in self._takings:
            taking.wake()
