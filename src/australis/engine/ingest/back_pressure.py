"""Back-pressure: a disk budget for tuples that wait or are kept; ingest blocks while it is used up.

Tuples that may not be shed wait on disk. When the budget is reached, `push` blocks until trains and consumers
have freed space, so a source that is faster than the node is slowed down to its pace.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from australis.engine.ledger import Ledger
from australis.engine.run_state import RunState
from australis.errors import EngineError, Problem

RETRY_S = 1.0
"""The least time after which another try makes sense."""
_log = logging.getLogger(__name__)


class Busy(EngineError):
    """There is no room for tuples yet, and who pushes them does not want to wait any longer."""

    def __init__(self, problem: Problem, retry_after_s: float) -> None:
        super().__init__(problem)
        self.retry_after_s = retry_after_s
        """After how long another try makes sense."""


class BackPressure:
    """The disk budget of a node; without one there is always space."""

    def __init__(self, most: int | None, ledger: Ledger, state: RunState) -> None:
        self._most, self._ledger, self._state = most, ledger, state
        self.waiting = 0
        """How many callers wait for space."""
        self._is_held = False

    def wait(self, path: str, limit_s: float | None = None) -> None:
        """Wait until there is space for what arrives on an input; with a limit, raise `Busy` after it."""
        guard = self._ledger.guard
        if self._has_room():
            self._note(path, is_held=False)
            return
        self._note(path, is_held=True)
        with guard:
            self.waiting += 1
            guard.notify()
            try:
                # With a limit, a pause and an error are waited for like anything else.
                check = self._check if limit_s is None else self._check_open
                has_room = guard.wait_until(self._has_room, lambda: check(path), limit_s)
            finally:
                self.waiting -= 1
        if not has_room:
            raise self._busy(path, limit_s or 0)

    def _busy(self, path: str, limit_s: float) -> Busy:
        what = f"has no room for more tuples now: {self._used()}"
        return Busy(Problem(path, what, "another try, later"), max(RETRY_S, limit_s))

    def _note(self, path: str, *, is_held: bool) -> None:
        """Log that back-pressure begins, and that it ends with the first push that does not have to wait."""
        if is_held != self._is_held:
            self._is_held = is_held
            _log.info(
                "%s: back-pressure %s", path, "begins: the disk budget is used up" if is_held else "ends"
            )

    def _has_room(self) -> bool:
        return self._most is None or self._ledger.used_bytes < self._most

    def _check_open(self, path: str) -> None:
        """Raise if the node stops."""
        if self._state.stopping:
            raise self._busy(path, 0)

    def _check(self, path: str) -> None:
        """Raise if waiting would be in vain."""
        used = self._used()
        self._state.check_going(path, f"there is disk space: {used}")
        if self._state.is_resting() and not any(self._behind()):
            kept = ", ".join(self._unread()) or "connection points"
            expected = "a consumer of what is kept, less history, or a larger budget"
            what = (
                f"disk budget exhausted: {used}, and nothing is left to run; what {kept} keep cannot be freed"
            )
            raise EngineError(Problem(path, what, expected))

    def _used(self) -> str:
        used = f"{self._ledger.used_bytes:,} bytes are used of a budget of {self._most:,}"
        if self._ledger.waste_bytes:
            used += f", {self._ledger.waste_bytes:,} of them by the trash"
        return used

    def _behind(self) -> Iterator[bool]:
        """Whether each consumer has tuples that it could read, and so free space."""
        queues = self._ledger.queues
        for (_, output), seq in queues.consumers.items():
            yield seq < queues.arc_end(queues.plan.outputs[output])

    def _unread(self) -> list[str]:
        """The outputs that nobody consumes, and that keep everything."""
        queues = self._ledger.queues
        read = {output for _, output in queues.consumers}
        return [name for name in queues.plan.network.outputs if name not in read]
