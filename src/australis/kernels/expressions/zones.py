"""Time zones as tables of offsets, for many instants at once.

Gives the offset of a zone at an instant, and the instant of a local time. A local time that is skipped when
clocks go forward is read with the earlier offset; one that occurs twice when they go back is the first of the
two.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

from australis.kernels.expressions.arrays import Numbers

DAY_S = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -5_364_662_400, 16_725_225_600
"""1800, when every zone used local mean time, and 2500."""
_CYCLE = 146_097 * DAY_S
"""After 400 years the calendar repeats, including weekdays, and so do the rules of the zones."""
_STRIDE = 3 * DAY_S
"""No zone has ever changed its offset twice within this time."""


@dataclass(frozen=True, eq=False)
class Zone:
    """The instants at which the offset changes, and the offsets, one more than those; all in seconds."""

    changes: Numbers
    offsets: Numbers

    def at(self, instants: Numbers) -> Numbers:
        """The offsets at some instants, in seconds since 1970.

        >>> zone("Europe/Helsinki").at(np.array([0, 1_720_000_000]))
        array([ 7200, 10800])
        """
        return self._look(self.changes, instants)

    def instants(self, clocks: Numbers) -> Numbers:
        """The instants of some local times, in seconds since 1970 on the clock."""
        return clocks - self.offset_of_clock(clocks)

    def offset_of_clock(self, clocks: Numbers) -> Numbers:
        """The offsets with which local times are read."""
        return self._look(self._until, clocks)

    def day_starts(self, clocks: Numbers) -> Numbers:
        """The instants at which days begin, given as local midnights: after a gap if midnight is skipped."""
        instants = self.instants(clocks)
        if len(self.changes) == 0:
            return instants
        last = np.clip(np.searchsorted(self.changes, instants, side="right") - 1, 0, None)
        change, before, after = self.changes[last], self.offsets[last], self.offsets[last + 1]
        skipped = (change + before <= clocks) & (clocks < change + after)
        return np.where(skipped, change, instants)

    @property
    def _until(self) -> Numbers:
        """The local times until which each offset is used."""
        return self.changes + np.maximum(self.offsets[:-1], self.offsets[1:])

    def _look(self, limits: Numbers, seconds: Numbers) -> Numbers:
        if len(limits) == 0 or seconds.size == 0:
            return np.broadcast_to(self.offsets[0], seconds.shape)
        low, high = seconds.min(), seconds.max()
        if high >= _LAST:
            beyond = np.maximum(seconds - (_LAST - _CYCLE), 0) // _CYCLE
            seconds = seconds - beyond * _CYCLE
            low, high = seconds.min(), seconds.max()
        # Tuples that arrive together are rarely on both sides of a change.
        first, last = np.searchsorted(limits, [low, high], side="right")
        if first == last:
            return np.broadcast_to(self.offsets[first], seconds.shape)
        return self.offsets[np.searchsorted(limits, seconds, side="right")]


@lru_cache(maxsize=64)
def zone(name: str) -> Zone:
    """The zone of an IANA name."""
    if name == "UTC":
        return fixed(0)
    info = ZoneInfo(name)
    probes = range(_FIRST, _LAST + _STRIDE, _STRIDE)
    offsets = [_offset(info, probe) for probe in probes]
    turns = [i for i in range(1, len(offsets)) if offsets[i] != offsets[i - 1]]
    changes = [_change(info, probes[i - 1], probes[i]) for i in turns]
    found = [offsets[0], *(offsets[i] for i in turns)]
    return Zone(np.array(changes, np.int64), np.array(found, np.int64))


def fixed(offset: int) -> Zone:
    """A zone whose offset never changes."""
    return Zone(np.array([], np.int64), np.array([offset], np.int64))


def _offset(info: ZoneInfo, second: int) -> int:
    shown = datetime.fromtimestamp(second, info)
    offset = shown.utcoffset()
    return offset.days * DAY_S + offset.seconds if offset is not None else 0


def _change(info: ZoneInfo, low: int, high: int) -> int:
    """The second at which the offset changes between two probes, by bisection."""
    before = _offset(info, low)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(info, middle) == before else (low, middle)
    return high
