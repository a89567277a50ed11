"""Fetches what belongs to a move from the node that has it, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from australis.cluster.identity import NodeName
from australis.cluster.wire import Chunk, Fetch
from australis.engine.threads import Threads
from australis.errors import ClusterError, Problem

CHUNK_BYTES = 1 << 20
SILENT_S = 10.0
"""After how long without an answer a fetch is given up."""
Send = Callable[[NodeName, Fetch], bool]


class Gone(ClusterError):
    """What is wanted is no longer there: it was merged into something newer."""


class Fetching:
    """Questions for parts and their answers; any thread may ask, and waits for the answer."""

    def __init__(self, send: Send, numbers: Callable[[], int], threads: Threads) -> None:
        self._send, self._numbers, self._threads = send, numbers, threads
        self._changed: Any = threads.condition()
        self._waiting: dict[int, NodeName] = {}
        self._answers: dict[int, tuple[Chunk, bytes]] = {}
        self._is_ended = False

    def whole(self, node: NodeName, move: str, name: str) -> bytes:
        """All of something; raises `Gone` if it is there no more."""
        parts: list[bytes] = []
        size, begin = 1, 0
        while begin < size or not parts:
            said, body = self._part(node, move, name, begin)
            if not said.is_there:
                raise Gone(Problem(name, f"{node} has it no more"))
            if said.begin != begin or not (body or said.size == 0) or begin + len(body) > said.size:
                raise ClusterError(Problem(name, f"{node} sent another part of it than it was asked for"))
            parts.append(body)
            begin, size = begin + len(body), said.size
        return b"".join(parts)

    def heard(self, node: NodeName, said: Chunk, body: memoryview) -> bool:
        """A part has come; whether somebody wants it."""
        with self._changed:
            if self._waiting.get(said.link) != node:
                return False
            del self._waiting[said.link]
            self._answers[said.link] = (said, bytes(body))
            self._changed.notify_all()
            return True

    def close(self) -> None:
        """Wait for nothing more."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()

    def _part(self, node: NodeName, move: str, name: str, begin: int) -> tuple[Chunk, bytes]:
        number = self._numbers()
        with self._changed:
            self._waiting[number] = node
        is_sent = self._send(node, Fetch(number, move, name, begin))
        until_ns = self._threads.ticks_ns() + int(SILENT_S * 1e9)
        with self._changed:
            while is_sent and number not in self._answers and not self._is_ended:
                left_s = (until_ns - self._threads.ticks_ns()) / 1e9
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            self._waiting.pop(number, None)
            found = self._answers.pop(number, None)
        if found is None:
            raise ClusterError(Problem(name, f"{node} does not answer", "a connection with it"))
        return found
