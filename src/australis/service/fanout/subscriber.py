"""One reader of an output, at a number of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from australis.engine.deliver import Follower, Over
from australis.service.fanout.audience import Audience, Way
from australis.service.fanout.channel import READ_ROWS, Channel
from australis.service.fanout.piece import Piece, pieces_of


class Subscriber:
    """Takes piece after piece when it wants the next one: what it does not take is not kept for it."""

    def __init__(
        self,
        channel: Channel,
        audience: Audience,
        way: Way,
        begin: int | None,
        ready: Callable[[], None] | None = None,
    ) -> None:
        """Read from a number on, or what comes next; any thread calls `ready` when there may be more."""
        self._channel, self._audience, self._ready = channel, audience, ready
        self.output, self.way = channel.output, way
        self.taken = 0
        """How many tuples it has taken."""
        self.missed = 0
        """How many numbers it was told to have missed."""
        self._woken = threading.Event()
        self._past: Follower | None = None
        self._read: list[Piece] = []
        self.seq = channel.end if begin is None else begin
        """The number from which it reads on."""
        self._is_closed = not channel.join(self, self._wake)
        if not self._is_closed:
            audience.join(self)

    @property
    def over(self) -> Over | None:
        """Why nothing more comes, if that is so."""
        return Over.STOPPED if self._is_closed else self._channel.over

    @property
    def behind(self) -> int:
        """How many numbers of the log it has not taken of what there is."""
        return max(0, self._channel.end - self.seq)

    @property
    def is_behind(self) -> bool:
        """Whether the next tuples are to be read from the disk, with `catch_up`."""
        return bool(self._read) or not self._channel.has(self.seq)

    def take(self) -> Piece | None:
        """The next piece, if the channel has it; never waits."""
        if self.is_behind:
            return None
        piece = self._channel.piece(self.seq)
        return None if piece is None else self._taken(piece)

    def catch_up(self) -> Piece | None:
        """The next piece from the disk, for one that is behind; None if there is nothing."""
        if not self._read:
            self._past = self._past or self._channel.node.follow(self._channel.output, self.seq)
            part = self._past.next(READ_ROWS, wait_s=0)
            if part is None or self._past.over:
                self._past = None
                return None
            self._read = list(pieces_of(part))
        piece = self._taken(self._read.pop(0))
        if not self._read and self._channel.has(self.seq):
            self._past = None
        return piece

    def _taken(self, piece: Piece) -> Piece:
        self.taken += piece.table.num_rows
        self.missed += piece.end - max(self.seq, piece.begin) if piece.is_missed else 0
        self.seq = piece.end
        return piece

    def next(self, wait_s: float | None = None) -> Piece | None:
        """The next piece; None if there is none in time, or nothing more comes. For a thread of its own."""
        while True:
            self._woken.clear()
            # Asked first: what comes last comes before the end.
            is_over = self.over is not None
            piece = self.catch_up() if self.is_behind else self.take()
            if piece is not None and not piece.table.num_rows and not piece.is_missed:
                continue
            if piece is not None or is_over:
                return piece
            if not self._woken.wait(wait_s):
                return None

    def close(self) -> None:
        """Read no more."""
        self._is_closed = True
        self._channel.leave(self)
        self._audience.leave(self)
        self._woken.set()

    def _wake(self) -> None:
        self._woken.set()
        if self._ready is not None:
            self._ready()
