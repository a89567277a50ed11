"""Background maintenance of arcs: compaction, and history gathered into runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

from australis.engine.history import Gathering
from australis.engine.ledger import Ledger
from australis.engine.maintain.compaction import Compaction
from australis.engine.threads import Thread, Threads
from australis.errors import EngineError

_log = logging.getLogger(__name__)


class Upkeep:
    """Tends arcs in a thread of its own: no train waits for it, and nobody undoes its work."""

    def __init__(self, ledger: Ledger, clock: Callable[[], int], threads: Threads) -> None:
        self._gathering, self._compaction = Gathering(ledger, clock), Compaction(ledger)
        self.kept: Callable[[], AbstractContextManager[None]] = nullcontext
        """Inside of which errors are kept that must stop the node."""
        self._waiting: dict[str, None] = {}
        self._threads, self._changed = threads, threads.condition()
        self._stopping = self._ending = False
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to tend what is asked for."""
        self._thread = self._threads.start(self._work, "australis-upkeep")

    def ask(self, arcs: Iterable[str]) -> None:
        """Arcs that a train has read or written may be worth it."""
        with self._changed:
            self._waiting |= dict.fromkeys(arcs)
            self._changed.notify_all()

    def end(self) -> None:
        """Begin nothing any more."""
        with self._changed:
            self._ending = self._stopping = True
            self._changed.notify_all()

    def stop(self) -> None:
        """End when all is done that was asked for."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (arc := self._next()) is not None:
            with self.kept():
                self._try_tend(arc)

    def _try_tend(self, arc: str) -> None:
        """Tend an arc; what cannot be read or written now may be later, and trains will say so, too."""
        try:
            self._tend(arc)
        except EngineError as error:
            _log.warning("maintenance of %s failed: %s", arc, error)

    def _next(self) -> str | None:
        with self._changed:
            while not self._waiting and not self._stopping:
                self._changed.wait()
            if not self._waiting or self._ending:
                return None
            arc = next(iter(self._waiting))
            del self._waiting[arc]
            return arc

    def _tend(self, arc: str) -> None:
        while not self._ending and self._gathering.gather(arc):
            pass
        self._compaction.compact([arc])
