"""Follows an output for one connection, on the event loop: shared pieces, or its own from the disk."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from australis.engine import Node
from australis.engine.deliver import Over
from australis.service.fanout import Fanout, Piece, Subscriber, Way
from australis.service.http.working import reading

HEARTBEAT_S = 15.0
"""After so long without tuples the other side hears that the connection lives."""


PATIENCE_S = 60.0
"""For how long a client may take nothing of what is sent."""
_LOOK_EVERY_S = 1.0


class EventStream(StreamingResponse):
    """Server-sent events; a client that takes nothing for too long is left alone, and may resume."""

    def __init__(
        self,
        events: AsyncIterator[bytes],
        is_over: Callable[[], bool],
        end: Callable[[], None] = lambda: None,
    ) -> None:
        """`end` is called when the answer has ended, even if it never began."""
        self._is_over, self._end = is_over, end
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, media_type="text/event-stream", headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._end()

    async def stream_response(self, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            sending = asyncio.ensure_future(send(message))
            begun = time.monotonic()
            while not (await asyncio.wait({sending}, timeout=_LOOK_EVERY_S))[0]:
                if self._is_over() or time.monotonic() - begun > PATIENCE_S:
                    sending.cancel()
                    raise TimeoutError
            await sending

        # Its connection is closed, since the answer is not whole.
        with contextlib.suppress(TimeoutError):
            await super().stream_response(send_in_time)


class Beat:
    """Nothing has come for a while."""


@dataclass(frozen=True)
class Last:
    """Nothing more comes."""

    why: Over


class Following:
    """One connection's reader of an output."""

    def __init__(self, subscriber: Subscriber, ready: asyncio.Event) -> None:
        self._subscriber, self._ready = subscriber, ready

    @classmethod
    async def begin(cls, fanout: Fanout, node: Node, output: str, begin: int | None, way: Way) -> Following:
        """Read an output from a number on, or what comes next; raises if it is not there."""
        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            # The loop may have ended with the service.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ready.set)

        return cls(await reading(lambda: fanout.subscribe(node, output, begin, wake, way)), ready)

    async def items(self) -> AsyncIterator[Piece | Beat | Last]:
        """Pieces with tuples, or of what was missed, as they are taken; then why nothing more comes."""
        subscriber = self._subscriber
        try:
            while True:
                self._ready.clear()
                # Asked first: what comes last comes before the end.
                why = subscriber.over
                piece = await reading(subscriber.catch_up) if subscriber.is_behind else subscriber.take()
                if piece is not None:
                    if piece.table.num_rows or piece.is_missed:
                        yield piece
                elif why is not None:
                    yield Last(why)
                    return
                else:
                    try:
                        await asyncio.wait_for(self._ready.wait(), HEARTBEAT_S)
                    except TimeoutError:
                        # That is what a heartbeat is for.
                        yield Beat()
        finally:
            self.close()

    def close(self) -> None:
        """Read no more."""
        self._subscriber.close()


async def json_of(piece: Piece) -> bytes:
    """The tuples of a piece as a JSON array; what others have needed before is there."""
    return piece.json() if piece.is_encoded else await reading(piece.json)
