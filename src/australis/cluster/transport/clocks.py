"""Estimates how far another node's clock is ahead, from beats and their echoes.

The echo with the shortest round trip among the last ones says most: an offset is known to half of its round
trip.
"""

from __future__ import annotations

from collections import deque

_KEPT = 64


class ClockOffset:
    """What is known of another clock.

    >>> offset = ClockOffset()
    >>> offset.heard(sent=1_000, at=5_600, received=1_200)
    >>> offset.heard(sent=2_000, at=9_000, received=4_000)
    >>> offset.ahead_us, offset.round_trip_us
    (4500, 200)
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[int, int]] = deque(maxlen=_KEPT)

    def heard(self, sent: int, at: int, received: int) -> None:
        """Note an echo: when the beat was sent, what the other clock said, and when the echo came."""
        if received >= sent:
            self._samples.append((received - sent, at - (sent + received) // 2))

    @property
    def ahead_us(self) -> int | None:
        """By how much the other clock is ahead; None if nothing was heard yet."""
        return min(self._samples)[1] if self._samples else None

    @property
    def round_trip_us(self) -> int | None:
        """The shortest of the last round trips."""
        return min(self._samples)[0] if self._samples else None
