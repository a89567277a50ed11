"""Room on disk: a budget for what waits and what is kept, and ingest that holds back while it is used up.

What may not be shed waits on disk; when the budget is reached, `push` waits until trains and consumers have
made room, so a source that is faster than the node is slowed down to its pace.
"""

from __future__ import annotations

from collections.abc import Iterator

from australis.engine.shared import Ground
from australis.engine.train.loop import Loop
from australis.errors import EngineError, Problem


class Room:
    """The disk budget of a node; without one there is always room."""

    def __init__(self, most: int | None, ground: Ground, loop: Loop) -> None:
        self._most, self._queues, self._loop, self._changed = most, ground.queues, loop, ground.changed
        self.holding = 0
        """How many wait for room."""

    def wait(self, path: str) -> None:
        """Wait until there is room for what arrives on an input."""
        if self._most is None:
            return
        with self._changed:
            if self._queues.bytes < self._most:
                return
            self.holding += 1
            self._changed.notify_all()
            try:
                while self._queues.bytes >= self._most:
                    self._check(path)
                    self._changed.wait()
            finally:
                self.holding -= 1

    def _check(self, path: str) -> None:
        """Raise if waiting is in vain."""
        self._loop.check()
        used = f"{self._queues.bytes:,} bytes are used of a budget of {self._most:,}"
        if self._loop.stopping:
            raise EngineError(Problem(path, f"is stopped while it waits for room: {used}"))
        if self._loop.paused:
            raise EngineError(Problem(path, f"is paused while it waits for room: {used}", "resume() first"))
        if self._loop.resting() and not any(self._behind()):
            kept = ", ".join(self._unread()) or "connection points"
            expected = "a consumer of what is kept, less history, or a larger budget"
            what = f"has no room: {used}, and nothing is left to run; {kept} keep all of it"
            raise EngineError(Problem(path, what, expected))

    def _behind(self) -> Iterator[bool]:
        """Whether each consumer has tuples that it could take, and so make room."""
        for (_, output), seq in self._queues.consumers.items():
            yield seq < self._queues.arc_end(self._queues.plan.outputs[output])

    def _unread(self) -> list[str]:
        """The outputs that nobody consumes, and that keep everything."""
        read = {output for _, output in self._queues.consumers}
        return [name for name in self._queues.plan.network.outputs if name not in read]
