"""What every engine reports of a running network: counters of each box, causes of what an event emits."""

from __future__ import annotations

from dataclasses import dataclass

BEFORE, BEHIND = -1, 2**62
"""The cause of what timeouts emit, before all tuples of an event; and of what the end emits, after them."""


@dataclass(frozen=True)
class Counters:
    """What went through a box.

    >>> Counters(received=3) + Counters(received=2, late=1)
    Counters(received=5, emitted=0, late=1, ignored=0, rejected=0)
    """

    received: int = 0
    emitted: int = 0
    late: int = 0
    ignored: int = 0
    rejected: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(getattr(self, name) + getattr(other, name) for name in vars(self)))
