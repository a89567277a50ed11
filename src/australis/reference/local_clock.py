"""The clocks of a time zone, along which aligned windows of timestamps lie."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from australis.reference.expressions import SECOND_US, offset_at

_FIRST_S, _LAST_S = -5_364_662_400, 16_725_225_600
"""Changes of the offset are known from 1800, when zones used local mean time, to 2500."""
_STRIDE_S = 3 * 86_400
"""No zone has ever changed its offset twice within this time."""
_ALWAYS = -(2**70)
"""Before all instants and readings."""


class Era(NamedTuple):
    """A time with one offset from UTC, in microseconds."""

    begin: int
    offset: int
    reached: int
    """The greatest time that clocks have shown before it."""


class LocalClock:
    """The greatest time that the clocks of a zone have shown, in microseconds.

    It jumps where clocks skip an hour, and stands still while they repeat one. A change of the offset by
    whole advances is left out, so that windows of an hour, say, repeat with the clocks.

    >>> hour = 3_600_000_000
    >>> day = LocalClock("Europe/Berlin", 24 * hour)
    >>> back = 1_729_990_800_000_000  # 2024-10-27 01:00 in UTC, when clocks go from 3:00 to 2:00
    >>> [day.reading(back + at * hour) - day.reading(back - 1) for at in (-1, 0, 1, 2)]
    [-3599999999, 0, 1, 3600000001]
    >>> day.instant(day.reading(back + hour)) == back + hour
    True
    """

    def __init__(self, timezone: str, advance: int) -> None:
        self._eras = [Era(_ALWAYS, offset_at(_FIRST_S, timezone) * SECOND_US, _ALWAYS)]
        for begin, change in changes(timezone):
            last = self._eras[-1]
            if change % advance:
                # The time at which clocks are put back is not shown before the change, only the one before.
                reached = max(last.reached, begin + last.offset - 1)
                self._eras.append(Era(begin, last.offset + change, reached))

    def reading(self, instant: int) -> int:
        """The greatest time that the clocks have shown up to an instant."""
        era = [era for era in self._eras if era.begin <= instant][-1]
        return max(instant + era.offset, era.reached)

    def instant(self, reading: int) -> int:
        """The first instant at which the clocks have shown a time, or a later one."""
        era = [era for era in self._eras if era.reached < reading][-1]
        return max(reading - era.offset, era.begin)


@lru_cache(maxsize=64)
def changes(timezone: str) -> list[tuple[int, int]]:
    """When the offset of a zone changes and by how much, in microseconds.

    >>> changes("Africa/Monrovia")[-1]  # 1972-01-07 00:44:30
    (63593070000000, 2670000000)
    """
    found = []
    for low in range(_FIRST_S, _LAST_S, _STRIDE_S):
        high = low + _STRIDE_S
        change = offset_at(high, timezone) - offset_at(low, timezone)
        if change:
            found.append((_turn(low, high, timezone) * SECOND_US, change * SECOND_US))
    return found


def _turn(low: int, high: int, timezone: str) -> int:
    """The second between two at which the offset changes, by bisection."""
    before = offset_at(low, timezone)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset_at(middle, timezone) == before else (low, middle)
    return high
