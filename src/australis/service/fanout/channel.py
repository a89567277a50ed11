"""The newest pieces of one output, read by one thread for all who follow it."""

from __future__ import annotations

import bisect
import logging
import threading
import time
from collections.abc import Callable

from australis.engine import Node
from australis.engine.deliver import Over
from australis.errors import AustralisError
from australis.service.fanout.piece import Piece, pieces_of

_log = logging.getLogger(__name__)
READ_ROWS = 50_000
"""About how many tuples are read at a time."""
IDLE_S = 10.0
"""How long a channel goes on without readers."""
_LOOK_EVERY_S = 1.0


class Channel:
    """A ring of pieces: bounded in bytes, whoever falls behind it reads from the disk."""

    def __init__(self, node: Node, output: str, bytes_most: int) -> None:
        self.node, self.output, self._bytes_most = node, output, bytes_most
        self._follower = node.follow(output)
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []
        self._bytes = 0
        self._begin = self._end = self._follower.seq
        self._readers: dict[object, Callable[[], None]] = {}
        self._read_at = time.monotonic()
        self.over: Over | None = None
        """Why nothing more comes, if that is so."""
        threading.Thread(target=self._run, name=f"australis-fanout-{output}", daemon=True).start()

    @property
    def end(self) -> int:
        """The number up to which it has read."""
        return self._end

    def join(self, reader: object, wake: Callable[[], None]) -> bool:
        """Wake a reader whenever there is something new; False if the channel has ended."""
        with self._lock:
            if self.over is None:
                self._readers[reader] = wake
            return self.over is None

    def leave(self, reader: object) -> None:
        """Wake a reader no more; without readers, the channel ends."""
        with self._lock:
            self._readers.pop(reader, None)

    def has(self, seq: int) -> bool:
        """Whether it has all that came from a number on."""
        with self._lock:
            return seq >= self._begin

    def piece(self, seq: int) -> Piece | None:
        """The piece with the next tuples from a number on; None if there are none so far."""
        with self._lock:
            place = bisect.bisect_right(self._pieces, seq, key=lambda each: each.end)
            found = self._pieces[place] if place < len(self._pieces) else None
        return None if found is None else found.since(seq)

    def close(self) -> None:
        """End; whoever reads is told."""
        self._follower.close()

    # --- the thread

    def _run(self) -> None:
        why = Over.STOPPED
        try:
            while self._is_wanted():
                part = self._follower.next(READ_ROWS, wait_s=_LOOK_EVERY_S)
                if self._follower.over is not None:
                    why = self._follower.over
                    break
                if part is not None:
                    for piece in pieces_of(part):
                        self._add(piece)
        except Exception as error:
            # Whoever follows is told, and begins a new channel.
            is_known = isinstance(error, AustralisError)
            _log.error("the output %s is not read any more: %s", self.output, error, exc_info=not is_known)
        with self._lock:
            self.over = why
            wakes = list(self._readers.values())
        for wake in wakes:
            wake()

    def _is_wanted(self) -> bool:
        now = time.monotonic()
        with self._lock:
            if self._readers:
                self._read_at = now
            if now - self._read_at > IDLE_S:
                self.over = Over.STOPPED
            return self.over is None

    def _add(self, piece: Piece) -> None:
        if piece.table.num_rows:
            # Once, before anybody needs it, and not in the thread that serves all connections.
            piece.json()
        with self._lock:
            self._end = piece.end
            if piece.table.num_rows or piece.is_missed:
                self._pieces.append(piece)
                self._bytes += piece.size
            while self._bytes > self._bytes_most and len(self._pieces) > 1:
                gone = self._pieces.pop(0)
                self._bytes -= gone.size
                self._begin = self._pieces[0].begin
            wakes = list(self._readers.values())
        for wake in wakes:
            wake()
