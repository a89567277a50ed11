"""What waits to be sent on a connection: control first, then streams in proportion to their weights.

Start-time fair queueing: each stream has a virtual time, which advances by the bytes it sends divided by its
weight, and the stream that is furthest behind is next. One that was idle does not catch up.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from australis.cluster.wire import CONTROL, HEAD, cut
from australis.engine.threads import Threads

Frame = tuple[bytes, memoryview]


class _Stream:
    """The frames of one stream that wait, and its virtual time."""

    def __init__(self, weight: float) -> None:
        self.weight, self.time, self.is_dropped = weight, 0.0, False
        self.frames: deque[Frame] = deque()


class FairQueue:
    """A queue of frames between threads that send messages and the one that writes them."""

    def __init__(self, threads: Threads) -> None:
        self._changed: Any = threads.condition()
        self._control: deque[Frame] = deque()
        self._streams: dict[int, _Stream] = {}
        self._now = 0.0
        self._is_closed = False

    def weigh(self, stream: int, weight: float) -> None:
        """Give a stream its weight from now on."""
        with self._changed:
            self._stream(stream).weight = weight

    def put(self, stream: int, parts: list[memoryview]) -> None:
        """Add a message; the caller limits how much it has under way."""
        with self._changed:
            if self._is_closed:
                return
            if stream == CONTROL:
                self._control.extend(cut(stream, parts))
            else:
                waiting = self._stream(stream)
                if not waiting.frames:
                    waiting.time = max(waiting.time, self._now)
                waiting.frames.extend(cut(stream, parts))
            self._changed.notify_all()

    def take(self) -> Frame | None:
        """The next frame, once there is one; None when the queue is closed."""
        with self._changed:
            while not self._is_closed:
                if self._control:
                    return self._control.popleft()
                found = min(
                    (each for each in self._streams.values() if each.frames),
                    key=lambda each: each.time,
                    default=None,
                )
                if found is not None:
                    head, content = found.frames.popleft()
                    self._now = found.time
                    if found.is_dropped and not found.frames:
                        self._streams = {n: each for n, each in self._streams.items() if each is not found}
                    found.time += (HEAD.size + len(content)) / found.weight
                    return head, content
                self._changed.wait()
        return None

    def drop(self, stream: int) -> None:
        """Forget a stream, and what waits on it, up to the end of the message that is being sent."""
        with self._changed:
            known = self._streams.get(stream)
            if known is None or not known.frames:
                self._streams.pop(stream, None)
                return
            # Half of a message on the wire must be followed by the rest of it.
            end = next(index for index, (head, _) in enumerate(known.frames) if HEAD.unpack(head)[1])
            known.is_dropped, known.frames = True, deque([*known.frames][: end + 1])

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _stream(self, number: int) -> _Stream:
        return self._streams.setdefault(number, _Stream(1.0))
