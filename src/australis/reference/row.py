"""What flows: a tuple with its hidden ts, and a rejected tuple with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from australis.algebra.expr import Value

Row = Mapping[str, Value]
"""The attributes of a tuple by name: timestamps are whole microseconds, decimals are `Decimal`s."""


@dataclass(frozen=True)
class Tuple:
    """A tuple of a stream: its attributes, and the hidden time of its origin (Aurora 5.1)."""

    values: Row
    ts: int


@dataclass(frozen=True)
class Rejected:
    """A tuple that a box could not process; it goes to the quarantine."""

    port: int
    tuple: Tuple
    reason: str


Item = tuple[int, Tuple] | Rejected
"""What a box emits: a tuple on an output port, or one of its input tuples, rejected."""


def oldest(tuples: Iterable[Tuple]) -> int:
    """The `ts` of a result: that of the oldest tuple used in generating it (Aurora, footnote 3)."""
    return min(each.ts for each in tuples)
