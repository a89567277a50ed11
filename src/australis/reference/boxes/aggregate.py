"""Aggregate: window functions over windows of each group (Aurora 5.2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from australis.algebra.boxes import Aggregate
from australis.algebra.expr import Value
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import TUP, Schema
from australis.reference.expressions import evaluate
from australis.reference.extents import Extent, Steps
from australis.reference.functions import window_value
from australis.reference.machine import Machine
from australis.reference.order import (
    Key,
    Number,
    Slack,
    from_units,
    group_attributes,
    group_key,
    is_value,
    to_units,
)
from australis.reference.row import Item, Tuple, oldest


@dataclass(order=True, frozen=True)
class Arrived:
    """A tuple in its group; waiting tuples are released by order value, ties by arrival."""

    value: Number
    number: int
    tuple: Tuple = field(compare=False)
    arrival: int = field(compare=False)
    """The local time of its arrival."""


@dataclass
class Window:
    """A window of a group, with its tuples in the order of their release."""

    extent: Extent
    known: int | None
    """The local time at which the tuple that gives its start arrived; None with `align`."""
    held: list[Arrived] = field(default_factory=list)
    timed_out: bool = False

    @property
    def begin(self) -> int:
        """The local time at which its computation began: when it had a tuple and its start was known."""
        first = min(each.arrival for each in self.held)
        return first if self.known is None else max(first, self.known)


@dataclass
class Group:
    """What is remembered of one group."""

    number: int
    """Groups are numbered by their first arrivals."""
    attributes: dict[str, Value]
    slack: Slack
    waiting: list[Arrived] = field(default_factory=list)
    windows: dict[Number, Window] = field(default_factory=dict)
    first_start: Number | None = None
    """The start of the first window; with `align` it stays None, since windows extend in both directions."""
    first_known: int | None = None
    """The local time at which the tuple whose value is the first start arrived."""
    count: int = 0

    def preview(self) -> Group:
        """A copy on which releases can be tried."""
        windows = {start: replace(w, held=list(w.held)) for start, w in self.windows.items()}
        return replace(self, windows=windows)


@dataclass(order=True)
class Result:
    """An emitted window; those emitted together are sorted by start, then by their group's first arrival."""

    start: Number
    group_number: int
    tuple: Tuple = field(compare=False)


class AggregateMachine(Machine):
    """Releases the tuples of each group as BSort would, and puts them into windows."""

    def __init__(self, box: Aggregate, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._box = box
        self._bound = box.bind(schemas[0])
        self._timezone = timezone

    def start(self) -> None:
        self._groups: dict[Key, Group] = {}

    # --- events

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        key = group_key(tuple.values, self._box.order.group_by)
        value = self._order_value(tuple, key)
        reason = order_reason(self._box.order.on, value, self._bound.advance)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        if key not in self._groups:
            attributes = group_attributes(tuple.values, self._box.order.group_by)
            self._groups[key] = Group(len(self._groups), attributes, Slack(self._box.order.slack))
        return _items(self._arrive(self._groups[key], tuple, value, now))

    def tick(self, now: int) -> list[Item]:
        results = [result for group in self._groups.values() for result in self._time_out(group, now)]
        return _items(sorted(results))

    def finish(self) -> list[Item]:
        results = []
        for group in self._groups.values():
            for arrived in sorted(group.waiting):
                results += self._release(group, arrived)
            results += self._close(group, list(group.windows.values()))
        return _items(sorted(results))

    # --- the order

    def _order_value(self, tuple: Tuple, key: Key) -> Number | None:
        if self._box.order.on == TUP:
            return self._groups[key].count if key in self._groups else 0
        return to_units(tuple.values[self._box.order.on], self._bound.order_type)

    def _arrive(self, group: Group, tuple: Tuple, value: Number, now: int) -> list[Result]:
        if group.slack.is_late(value):
            self.late += 1
            return []
        group.slack.add(value)
        group.waiting.append(Arrived(value, group.count, tuple, now))
        group.count += 1
        if len(group.waiting) <= self._box.order.slack:
            return []
        return self._release(group, min(group.waiting))

    def _release(self, group: Group, arrived: Arrived) -> list[Result]:
        """Release the least waiting tuple: it closes windows, then it is put into those that contain it."""
        group.waiting.remove(arrived)
        results = self._close_up_to(group, arrived.value)
        self._place(group, arrived)
        if self._is_ignored(group, arrived):
            self.ignored += 1
        if self._box.order.on == TUP:
            results += self._close_up_to(group, arrived.value + 1)
        return results

    # --- windows

    def _place(self, group: Group, arrived: Arrived) -> None:
        """Put a tuple into every window that contains it, including those that it opens."""
        if group.first_start is None and not self._box.align:
            group.first_start, group.first_known = arrived.value, arrived.arrival
        if self._is_before_first_start(group, arrived):
            return
        for window in self._opened(group, arrived):
            group.windows.setdefault(window.extent.start, window)
        for window in group.windows.values():
            if arrived.value in window.extent and not window.timed_out:
                window.held.append(arrived)

    def _opened(self, group: Group, arrived: Arrived) -> list[Window]:
        """The windows that must exist once a tuple is released."""
        size, advance, order_type = self._bound.size, self._bound.advance, self._bound.order_type
        if advance is not None:
            extents = Steps(group.first_start, size, advance).containing(arrived.value)
            return [Window(e, group.first_known) for e in extents if is_value(e.start, order_type)]
        if arrived.value == group.first_start or self._holds(arrived):
            return [Window(Extent(arrived.value, arrived.value + size), arrived.arrival)]
        return []

    def _holds(self, arrived: Arrived) -> bool:
        assert self._bound.advance_when is not None
        return evaluate(self._bound.advance_when, arrived.tuple.values, self._timezone) is True

    def _is_before_first_start(self, group: Group, arrived: Arrived) -> bool:
        return group.first_start is not None and arrived.value < group.first_start

    def _is_ignored(self, group: Group, arrived: Arrived) -> bool:
        """Whether no window holds a released tuple, because the window that contains it has timed out."""
        containing = [window for window in group.windows.values() if arrived.value in window.extent]
        held = any(arrived in window.held for window in containing)
        timed_out = any(window.timed_out for window in containing)
        return not held and (timed_out or self._is_before_first_start(group, arrived))

    def _close_up_to(self, group: Group, value: Number) -> list[Result]:
        return self._close(group, [window for window in group.windows.values() if window.extent.end <= value])

    def _close(self, group: Group, windows: list[Window]) -> list[Result]:
        """Remove windows, and emit those that have not timed out."""
        for window in windows:
            del group.windows[window.extent.start]
        return sorted(self._result(group, w) for w in windows if w.held and not w.timed_out)

    def _time_out(self, group: Group, now: int) -> list[Result]:
        """Emit the windows that are due, with all their tuples that have arrived, including waiting ones."""
        if self._bound.timeout is None:
            return []
        preview = group.preview()
        for arrived in sorted(group.waiting):
            self._place(preview, arrived)
        running = [window for window in preview.windows.values() if window.held and not window.timed_out]
        due = [window for window in running if now > window.begin + self._bound.timeout]
        for window in due:
            window.timed_out = True
            group.windows[window.extent.start] = window
            group.first_start, group.first_known = preview.first_start, preview.first_known
        return [self._result(group, window) for window in due]

    def _result(self, group: Group, window: Window) -> Result:
        tuples = [each.tuple for each in window.held]
        rows = [each.values for each in tuples]
        values = dict(group.attributes)
        if self._box.order.on != TUP:
            values = {self._box.order.on: from_units(window.extent.start, self._bound.order_type), **values}
        for name, call in self._bound.calls.items():
            values[name] = window_value(call, rows, self._timezone)
        return Result(window.extent.start, group.number, Tuple(values, oldest(tuples)))


def _items(results: list[Result]) -> list[Item]:
    return [(0, result.tuple) for result in results]
