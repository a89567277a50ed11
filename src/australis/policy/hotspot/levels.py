"""Loads, and the overlapping levels that decide whether a change is worth a message (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from australis.errors import PolicyError, Problem
from australis.policy.machines import Amount

SEVERE = 10.0
"""The load from which a peer is in the highest level."""


class Loads(NamedTuple):
    """The average lengths of a peer's run queue in the last 1, 5 and 15 minutes."""

    one: Amount
    five: Amount
    fifteen: Amount

    def over(self, minutes: int) -> float:
        """The average over the last 1, 5 or 15 minutes.

        >>> Loads(3.0, 2.0, 1.0).over(5)
        2.0
        """
        return (self.one, self.five, self.fifteen)[MINUTES.index(minutes)]


MINUTES = (1, 5, 15)


@dataclass(frozen=True)
class Criteria:
    """When a peer is a hot spot that a migration can help."""

    overload: float = 2.0
    """The load above which a peer is overloaded (h)."""
    imbalance: float = 0.2
    """How much less load another peer must have (l)."""
    minutes: int = 1
    """Over how many minutes the overload must persist (t)."""

    def __post_init__(self) -> None:
        if self.minutes not in MINUTES:
            raise PolicyError(Problem("criteria.minutes", f"is {self.minutes}", f"one of {MINUTES}"))

    def overloaded(self, loads: Loads) -> bool:
        """Criterion 1, now and over the period.

        >>> Criteria(minutes=5).overloaded(Loads(3.0, 1.0, 1.0))
        False
        """
        return loads.one > self.overload and loads.over(self.minutes) > self.overload

    def lighter(self, loads: Loads, than: Loads) -> bool:
        """Criterion 2, now and over the period, so that nothing returns before both are inverted."""
        persists = loads.over(self.minutes) < than.over(self.minutes)
        return than.one - loads.one > self.imbalance and persists


@dataclass(frozen=True)
class Levels:
    """Levels of equal width up to a severe load, each of which overlaps the one below a little.

    >>> levels = Levels(5, overlap=0.2)
    >>> [levels.of(load) for load in (0.0, 2.4, 2.5, 9.9, 10.0, 99.0)]
    [0, 0, 1, 3, 4, 4]
    >>> levels.next(1, 2.4), levels.next(1, 2.2), levels.next(0, 2.4), levels.next(4, 9.9)
    (1, 0, 0, 4)
    """

    count: int = 5
    overlap: float = 0.2

    def __post_init__(self) -> None:
        if self.count < 2:
            raise PolicyError(Problem("levels.count", f"is {self.count}", "2 or more"))
        if not 0 <= self.overlap < self.width:
            what = f"is {self.overlap:g}"
            raise PolicyError(Problem("levels.overlap", what, f"0 or more, and below {self.width:g}"))

    @property
    def width(self) -> float:
        """The width of each level; the highest has no end."""
        return SEVERE / (self.count - 1)

    def of(self, load: float) -> int:
        """The level of a load without a previous level."""
        return min(int(load / self.width), self.count - 1)

    def next(self, level: int, load: float) -> int:
        """The level of a load that had a previous level, which it keeps while that contains it."""
        low, high = level * self.width - self.overlap, (level + 1) * self.width
        return level if low <= load < high else self.of(load)
