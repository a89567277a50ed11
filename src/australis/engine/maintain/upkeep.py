"""Background maintenance: compaction, merging layers, gathering history, and removing orphaned files."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from australis.engine.history import Gathering
from australis.engine.ledger import Ledger, RootTaken
from australis.engine.maintain.compaction import Compaction
from australis.engine.maintain.merging import Merging
from australis.engine.store import WHOLE, SplitSettings
from australis.engine.threads import Thread, Threads
from australis.errors import EngineError

TIDY_EVERY_S = 300.0
"""How often the root is scanned for orphaned files, while trains run."""
_log = logging.getLogger(__name__)


class Upkeep:
    """Maintains arcs in a separate thread: no train waits for it, and nothing undoes its work."""

    def __init__(
        self, ledger: Ledger, clock: Callable[[], int], threads: Threads, splits: SplitSettings = WHOLE
    ) -> None:
        self._gathering, self._compaction = Gathering(ledger, clock), Compaction(ledger, splits)
        self._merging = Merging(ledger, lambda: self._ending)
        self.kept: Callable[[], AbstractContextManager[None]] = nullcontext
        """The context in which errors that must stop the node are caught."""
        self._waiting: dict[str, None] = {}
        self._unmerged: dict[str, None] = {}
        self._ledger, self._tidy = ledger, ledger.tidy
        self._threads, self._changed = threads, threads.condition()
        self._is_untidy, self._tidied_ns = False, threads.ticks_ns()
        self._stopping = self._ending = False
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = self._threads.start(self._work, "australis-upkeep")

    def ask(self, arcs: Iterable[str]) -> None:
        """Ask for maintenance of arcs that a train has read or written."""
        with self._changed:
            self._waiting |= dict.fromkeys(arcs)
            self._is_untidy = True
            self._changed.notify_all()

    def ask_to_merge(self, superboxes: Iterable[str]) -> None:
        """Ask for merges of the layers of superboxes that have had a train."""
        with self._changed:
            self._unmerged |= dict.fromkeys(superboxes)
            self._changed.notify_all()

    def end(self) -> None:
        """Begin no more work."""
        with self._changed:
            self._ending = self._stopping = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop once all requested work is done."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (work := self._next()) is not None:
            with self.kept():
                self._try(*work)

    def _try(self, what: str, work: Callable[[], None]) -> None:
        """Do some work; what cannot be read or written now may be later, and trains will report it, too."""
        try:
            work()
        except RootTaken:
            raise
        except (EngineError, OSError) as error:
            _log.warning("maintenance of %s failed: %s", what, error)

    def _next(self) -> tuple[str, Callable[[], None]] | None:
        """What to do next, and to what; None at the end."""
        with self._changed:
            while not (self._has_work or self._stopping or self._ledger.is_copy_due) and (
                self._until_tidying_s() > 0
            ):
                self._changed.wait(self._until_tidying_s() if self._is_untidy else None)
            if self._ending or (self._stopping and not self._has_work):
                return None
            if self._ledger.is_copy_due:
                return "the copy of the catalogue", self._ledger.write_copy
            if self._until_tidying_s() <= 0:
                self._is_untidy, self._tidied_ns = False, self._threads.ticks_ns()
                return "the root", self._tidy_up
            if self._waiting:
                arc = next(iter(self._waiting))
                del self._waiting[arc]
                return arc, partial(self._tend, arc)
            superbox = next(iter(self._unmerged))
            del self._unmerged[superbox]
            return superbox, partial(self._merge, superbox)

    @property
    def _has_work(self) -> bool:
        return bool(self._waiting or self._unmerged)

    def _until_tidying_s(self) -> float:
        """The seconds until the root is scanned; infinite while there is nothing to scan for."""
        if not self._is_untidy:
            return math.inf
        return TIDY_EVERY_S - (self._threads.ticks_ns() - self._tidied_ns) / 1e9

    def _tidy_up(self) -> None:
        """Scan the root, and do so again if there are files that may turn out to be orphans."""
        if self._tidy():
            with self._changed:
                self._is_untidy = True

    def _merge(self, superbox: str) -> None:
        while not self._ending and self._merging.merge(superbox):
            pass

    def _tend(self, arc: str) -> None:
        while not self._ending and self._gathering.gather(arc):
            pass
        self._compaction.compact([arc])
