"""Where windows lie: at a0 + k · advance, for whole numbers k; aligned ones at an offset + k · advance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from australis.reference.order import Number


@dataclass(frozen=True)
class Extent:
    """The values of a window: from its start up to its end, exclusive."""

    start: Number
    end: Number

    def __contains__(self, value: Number) -> bool:
        return self.start <= value < self.end


@dataclass(frozen=True)
class Steps:
    """Windows of one size, one every `advance` from a first start on.

    Without a first start they lie in both directions of the offset.

    >>> [e.start for e in Steps(1, size=4, advance=2).containing(7)]
    [5, 7]
    >>> [e.start for e in Steps(1, size=4, advance=2).containing(2)]
    [1]
    >>> [e.start for e in Steps(None, size=4, advance=2).containing(1)]
    [-2, 0]
    >>> [e.start for e in Steps(None, size=4, advance=4, offset=1).containing(0)]
    [-3]
    """

    first_start: Number | None
    size: Number
    advance: Number
    offset: Number = 0

    def containing(self, value: Number) -> list[Extent]:
        """The windows that contain a value, by their starts."""
        number = self._last_number(value)
        found: list[Extent] = []
        while value < self._end(number) and (self.first_start is None or number >= 0):
            found.insert(0, Extent(self._start(number), self._end(number)))
            number -= 1
        return found

    def extent(self, number: int) -> Extent:
        """Window number k."""
        return Extent(self._start(number), self._end(number))

    def last_number(self, value: Number) -> int:
        """The number of the last window that starts at or before a value; -1 if there is none."""
        number = self._last_number(value)
        return number if self.first_start is None else max(number, -1)

    def _start(self, number: int) -> Number:
        """The start of window number k. With doubles the product and the sum are each rounded once."""
        origin = self.offset if self.first_start is None else self.first_start
        return origin + number * self.advance

    def _end(self, number: int) -> Number:
        """Its end: the start of the window `whole` steps after it, plus the rest of the size.

        With doubles, start + size could leave gaps between adjacent windows, or make them overlap.
        """
        if isinstance(self.size, float):
            rest: Number = math.fmod(self.size, self.advance)
            whole = round((self.size - rest) / self.advance)
        else:
            rest, whole = self.size % self.advance, int(self.size // self.advance)
        return self._start(number + whole) + rest

    def _last_number(self, value: Number) -> int:
        """The number of the last window that starts at or before a value.

        With doubles the quotient is only an estimate, since it is rounded differently from the starts.
        """
        number = int((value - self._start(0)) // self.advance)
        while self._start(number) > value:
            number -= 1
        while self._start(number + 1) <= value:
            number += 1
        return number
