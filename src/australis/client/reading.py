"""How an output is followed: from which number on, what was missed, and when to look again.

A following is a machine without input and output: it is told of pieces and failures, and says what to do.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from australis.client.retries import Backoff, Unreachable, unreachable
from australis.client.volume import Piece
from australis.errors import ErrorCode, ServiceError

FOR_NOW = (ErrorCode.TOO_MANY, ErrorCode.NOT_READY, ErrorCode.STOPPING)
LOOK_FIRST_S, LOOK_MOST_S = 0.02, 0.5
"""How often a node without Flight is asked for new tuples."""


@dataclass(frozen=True)
class Missed:
    """Tuples that were not kept any more when they were asked for: the numbers from `begin` up to `end`."""

    begin: int
    end: int


@dataclass
class Following:
    """One subscription: where it is, and what becomes of it."""

    output: str
    begin: int
    consumer: str | None
    follow: bool
    backoff: Backoff
    where: str
    clock: Callable[[], float]
    on_missed: Callable[[Missed], None] | None = None
    end: int | None = None
    """The number at which it ends, if any."""
    missed: list[Missed] = field(default_factory=list)
    """What was missed so far."""
    look_s: float = LOOK_FIRST_S
    _failures: int = 0
    _since: float | None = None

    def ticket(self) -> dict[str, Any]:
        """What Flight is asked for."""
        return {
            "output": self.output,
            "from": self.begin,
            "to": self.end,
            "follow": self.follow and self.end is None,
            "consumer": self.consumer,
        }

    @property
    def is_over(self) -> bool:
        """Whether it ends where a call has ended; one that follows begins another call."""
        return not self.follow or self.end is not None

    def is_done(self, wait_s: float) -> bool:
        """Whether it ends here, as a node without Flight has nothing more for so long."""
        return self.is_over and wait_s > 0

    def limit(self, end: int) -> None:
        """End where the output ends now, unless an end before that is given."""
        self.end = end if self.end is None else min(self.end, end)

    def takes(self, piece: Piece) -> Any:
        """The table of a piece, or None where there is none; tuples that were there before are left out."""
        self._failures, self._since = 0, None
        if piece.missed is not None and piece.missed[1] > self.begin:
            found = Missed(max(piece.missed[0], self.begin), piece.missed[1])
            self.missed.append(found)
            if self.on_missed is not None:
                self.on_missed(found)
        table = piece.table
        if table is not None and table.num_rows and table["#seq"][0].as_py() < self.begin:
            numbers = table["#seq"].to_numpy()
            table = table.slice(int(numbers.searchsorted(self.begin)))
        self.begin = max(self.begin, piece.following)
        return table if table is not None and table.num_rows else None

    def wait_s(self, error: Exception) -> float:
        """How long to wait before the next attempt; raises the error if there is none."""
        now = self.clock()
        self._since = now if self._since is None else self._since
        is_for_now = isinstance(error, Unreachable) or (
            isinstance(error, ServiceError) and error.code in FOR_NOW
        )
        if not is_for_now or now - self._since > self.backoff.total_s:
            raise unreachable(self.where, error) if isinstance(error, Unreachable) else error
        after = getattr(error, "retry_after_s", None) or 0.0
        wait = max(after, self.backoff.wait_s(self._failures, random.random()))
        self._failures += 1
        return float(wait)

    def looked(self, piece: Piece | None) -> float:
        """How long to wait before a node without Flight is asked again, by what it had."""
        has_some = piece is not None and (piece.table is not None and piece.table.num_rows > 0)
        self.look_s = LOOK_FIRST_S if has_some else min(LOOK_MOST_S, self.look_s * 2)
        return 0.0 if has_some else self.look_s
