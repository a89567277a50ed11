"""Progress: the marks that inputs make, and what boxes make of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from australis.algebra.boxes import Passings
from australis.algebra.expr import Value
from australis.algebra.progress import BoundProgress, MarkFunction, Passing, Same, Shift, Starts
from australis.algebra.quarantine_text import order_reason
from australis.reference.expressions import evaluate
from australis.reference.local_clock import LocalClock
from australis.reference.order import Number, from_units, is_value, to_units
from australis.reference.row import Row

PortMarks = Mapping[tuple[int, str], Number]
"""The marks at the input ports of a box, by port and attribute, as far as there are any."""


class Maker:
    """Makes the marks of one input."""

    def __init__(self, bound: BoundProgress) -> None:
        self._bound = bound
        self.mark: Number | None = None
        self._quiet_since: int | None = None

    @property
    def on(self) -> str:
        """The attribute that has the marks."""
        return self._bound.on

    def units(self, value: Value) -> Number:
        """A value of the attribute as a mark."""
        mark = to_units(value, self._bound.order_type)
        assert mark is not None, "a promise has a value"
        return mark

    def begin(self, now: int) -> None:
        """Note that an event begins: without tuples for long, the mark follows the clock."""
        if self._quiet_since is None:
            self._quiet_since = now
        if self._bound.idle is not None and now - self._quiet_since > self._bound.idle:
            self._raise_to(now - self._bound.slack)

    def take(self, row: Row, now: int) -> None:
        """Note a tuple."""
        self._quiet_since = now
        value = to_units(row[self._bound.read], self._bound.order_type)
        if value is not None and order_reason(self._bound.read, value) is None:
            self._raise_to(value - self._bound.slack)

    def promise(self, mark: Number) -> None:
        """Note a promise of the source that came without a tuple."""
        self._raise_to(mark)

    def _raise_to(self, mark: Number) -> None:
        self.mark = mark if self.mark is None else max(self.mark, mark)


def passed_marks(passings: Passings, marks: PortMarks, timezone: str) -> dict[str, Number]:
    """The marks of an output port by attribute, from those at the input ports."""
    found = {name: _least(sources, marks, timezone) for name, sources in passings.items()}
    return {name: mark for name, mark in found.items() if mark is not None}


def _least(sources: Iterable[Passing], marks: PortMarks, timezone: str) -> Number | None:
    """The least of the marks that some passings make; None if one of them has none."""
    found = []
    for each in sources:
        mark = marks.get((each.port, each.attribute))
        made = None if mark is None else _made(each.by, mark, timezone)
        if made is None:
            return None
        found.append(made)
    return min(found)


def _made(by: MarkFunction, mark: Number, timezone: str) -> Number | None:
    """What a mark becomes."""
    match by:
        case Same():
            return mark
        case Shift(delta):
            moved = mark + delta
            return math.nextafter(moved, -math.inf) if isinstance(moved, float) else moved
        case Starts(local=True) if timezone != "UTC":
            clock = LocalClock(timezone, int(by.advance))
            return clock.instant(int(_least_start(by, clock.reading(int(mark)))))
        case Starts():
            return _least_start(by, mark)
    if not is_value(mark, by.source) or order_reason(by.attribute, mark) is not None:
        return None
    made = to_units(evaluate(by.expr, {by.attribute: from_units(mark, by.source)}, timezone), by.target)
    return None if made is None or order_reason(by.attribute, made) is not None else made


def _least_start(by: Starts, mark: Number) -> Number:
    """The least start of a window that ends after a mark."""
    return ((mark - by.origin - by.size) // by.advance + 1) * by.advance + by.origin
