"""Upkeep: what is done for arcs beside the trains, for few files, and for history in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress

from australis.engine.history.gathering import Gathering
from australis.engine.maintain.compaction import Compaction
from australis.engine.shared import Ground
from australis.errors import EngineError


class Upkeep:
    """Tends arcs in a thread of its own: no train waits for it, and nobody undoes its work."""

    def __init__(self, ground: Ground, kept: Callable[[], AbstractContextManager[None]]) -> None:
        self._gathering, self._compaction = Gathering(ground), Compaction(ground)
        self._kept = kept
        self._waiting: dict[str, None] = {}
        self._changed = threading.Condition()
        self._stopping = self._ending = False
        self._thread = threading.Thread(target=self._work, name="australis-upkeep", daemon=True)

    def start(self) -> None:
        """Begin to tend what is asked for."""
        self._thread.start()

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
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while (arc := self._next()) is not None:
            # What it cannot read or write, the next train will not either, and will say so.
            with self._kept(), suppress(EngineError):
                self._tend(arc)

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
