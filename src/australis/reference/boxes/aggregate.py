"""Aggregate: window functions over windows of each group (Aurora 5.2.2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from australis.algebra.boxes import EMPTY_MOST, Aggregate
from australis.algebra.expr import Value
from australis.algebra.order import SortKey
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import TUP, Schema
from australis.reference.expressions import evaluate
from australis.reference.extents import Extent, Steps
from australis.reference.functions import window_values
from australis.reference.local_clock import LocalClock
from australis.reference.machine import Machine
from australis.reference.order import (
    Disorder,
    Key,
    Number,
    disorder_of,
    from_units,
    group_attributes,
    group_key,
    is_value,
    sort_value,
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
    place: Number = field(compare=False)
    """Where it lies along the windows: its value, or what the clocks of the network's zone show by then."""


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

    place: list[tuple[bool, Any]]
    """Its place among all groups: they are sorted by their attributes, NULL last."""
    attributes: dict[str, Value]
    slack: Disorder
    waiting: list[Arrived] = field(default_factory=list)
    windows: dict[Number, Window] = field(default_factory=dict)
    first_start: Number | None = None
    """The start of the first window; with `align` it stays None, since windows extend in both directions."""
    first_known: int | None = None
    """The local time at which the tuple whose value is the first start arrived."""
    count: int = 0
    last: Arrived | None = None
    """The last tuple that was released."""
    gap_next: int | None = None
    """The number of the first empty window after it that has not been emitted; None if that is the first."""
    arrived: int = 0
    """The local time at which its last tuple arrived, late or not."""

    def preview(self) -> Group:
        """A copy on which releases can be tried."""
        windows = {start: replace(w, held=list(w.held)) for start, w in self.windows.items()}
        return replace(self, windows=windows)

    def begin_anew(self) -> None:
        """Forget the tuples that were released; none of their windows is open."""
        self.first_start = self.first_known = self.last = self.gap_next = None


@dataclass(order=True)
class Result:
    """An emitted window; those emitted together are sorted by start, then by the attributes grouped by."""

    start: Number
    group: list[tuple[bool, Any]]
    tuples: list[Tuple] = field(compare=False)


class AggregateMachine(Machine):
    """Releases the tuples of each group as BSort would, and puts them into windows."""

    def __init__(self, box: Aggregate, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._box = box
        self._bound = box.bind(schemas[0])
        self._timezone = timezone
        self._clock: LocalClock | None = None
        if box.is_local(schemas[0]) and timezone != "UTC" and self._bound.advance is not None:
            self._clock = LocalClock(timezone, int(self._bound.advance))

    def start(self) -> None:
        self._groups: dict[Key, Group] = {}
        self._mark: Number | None = None

    # --- events

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        key = group_key(tuple.values, self._box.order.group_by)
        value = self._order_value(tuple, key)
        reason = order_reason(self._box.order.on, value, self._bound.resolution)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        if self._mark is not None and value < self._mark:
            return self.come_late(port, tuple)
        if key not in self._groups:
            attributes = group_attributes(tuple.values, self._box.order.group_by)
            slack = disorder_of(self._box.order, self._bound.slack)
            place = sort_value(attributes, [SortKey(name) for name in self._box.order.group_by])
            self._groups[key] = Group(place, attributes, slack)
        self._groups[key].arrived = now
        if self._groups[key].slack.is_late(value):
            return self.come_late(port, tuple)
        return _items(self._arrive(self._groups[key], tuple, value, now))

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        self._mark = marks[0]
        results = []
        for group in self._groups.values():
            results += self._release_up_to(group, self._mark)
            results += self._close_up_to(group, self._position(self._mark))
        return _items(sorted(results))

    def tick(self, now: int) -> list[Item]:
        results = [result for group in self._groups.values() for result in self._time_out(group, now)]
        self._groups = {key: each for key, each in self._groups.items() if not self._is_quiet(each, now)}
        return _items(sorted(results))

    def finish(self) -> list[Item]:
        results = []
        for group in self._groups.values():
            for arrived in sorted(group.waiting):
                results += self._release(group, arrived)
            results += self._close(group, list(group.windows.values()))
        return _items(sorted(results))

    # --- forgetting

    def _is_quiet(self, group: Group, now: int) -> bool:
        """Whether no tuple of a group has come for so long that it is forgotten."""
        if self._bound.forget_us is None or now <= group.arrived + self._bound.forget_us:
            return False
        return not self._running(self._preview(group))

    def _is_forgotten(self, group: Group, arrived: Arrived) -> bool:
        """Whether a tuple comes so far after the one before that its group begins anew."""
        if self._bound.forget is None or group.last is None or group.windows:
            return False
        return arrived.value > group.last.value + self._bound.forget

    # --- the order

    def _order_value(self, tuple: Tuple, key: Key) -> Number | None:
        if self._box.order.on == TUP:
            return self._groups[key].count if key in self._groups else 0
        return to_units(tuple.values[self._box.order.on], self._bound.order_type)

    def _arrive(self, group: Group, tuple: Tuple, value: Number, now: int) -> list[Result]:
        group.slack.add(value)
        group.waiting.append(Arrived(value, group.count, tuple, now, self._position(value)))
        group.count += 1
        if self._box.order.by_progress:
            return self._release_up_to(group, self._mark)
        if self._bound.slack is not None:
            return self._release_up_to(group, group.slack.passed)
        return self._release(group, min(group.waiting)) if len(group.waiting) > self._box.order.count else []

    def _position(self, value: Number) -> Number:
        """Where an order value lies along the windows."""
        return value if self._clock is None else self._clock.reading(int(value))

    def _release_up_to(self, group: Group, passed: Number | None) -> list[Result]:
        """Release the waiting tuples at or below what has been passed, in order."""
        due = sorted(each for each in group.waiting if passed is not None and each.value <= passed)
        return [result for each in due for result in self._release(group, each)]

    def _release(self, group: Group, arrived: Arrived) -> list[Result]:
        """Release the least waiting tuple: it closes windows, then it is put into those that contain it."""
        group.waiting.remove(arrived)
        results = self._close_up_to(group, arrived.place)
        if self._is_forgotten(group, arrived):
            group.begin_anew()
        self._place(group, arrived)
        group.last, group.gap_next = arrived, None
        if self._is_ignored(group, arrived):
            self.ignored += 1
        if self._box.order.on == TUP:
            results += self._close_up_to(group, arrived.place + 1)
        return results

    # --- windows

    def _place(self, group: Group, arrived: Arrived) -> None:
        """Put a tuple into every window that contains it, including those that it opens."""
        if self._box.session is not None:
            self._extend(group, arrived)
            return
        if group.first_start is None and not self._box.align:
            group.first_start, group.first_known = arrived.place, arrived.arrival
        if self._is_before_first_start(group, arrived):
            return
        for window in self._opened(group, arrived):
            group.windows.setdefault(window.extent.start, window)
        for window in group.windows.values():
            if arrived.place in window.extent and not window.timed_out:
                window.held.append(arrived)

    def _extend(self, group: Group, arrived: Arrived) -> None:
        """Put a tuple into the sessions that contain it, which then last a gap longer, or begin one."""
        start, end = arrived.place, arrived.place + self._bound.size
        sessions = [window for window in group.windows.values() if arrived.place in window.extent]
        if not sessions:
            sessions = [Window(Extent(start, end), arrived.arrival)]
            group.windows[start] = sessions[0]
        for window in sessions:
            window.extent = Extent(window.extent.start, end)
            if not window.timed_out:
                window.held.append(arrived)

    def _opened(self, group: Group, arrived: Arrived) -> list[Window]:
        """The windows that must exist once a tuple is released."""
        size, advance, order_type = self._bound.size, self._bound.advance, self._bound.order_type
        if advance is not None:
            steps = Steps(group.first_start, size, advance, self._bound.origin)
            extents = steps.containing(arrived.place)
            return [Window(e, group.first_known) for e in extents if is_value(e.start, order_type)]
        if arrived.place == group.first_start or self._holds(arrived):
            return [Window(Extent(arrived.place, arrived.place + size), arrived.arrival)]
        return []

    def _holds(self, arrived: Arrived) -> bool:
        assert self._bound.advance_when is not None
        return evaluate(self._bound.advance_when, arrived.tuple.values, self._timezone) is True

    def _is_before_first_start(self, group: Group, arrived: Arrived) -> bool:
        return group.first_start is not None and arrived.place < group.first_start

    def _is_ignored(self, group: Group, arrived: Arrived) -> bool:
        """Whether no window holds a released tuple, because the window that contains it has timed out."""
        containing = [window for window in group.windows.values() if arrived.place in window.extent]
        held = any(arrived in window.held for window in containing)
        timed_out = any(window.timed_out for window in containing)
        return not held and (timed_out or self._is_before_first_start(group, arrived))

    def _close_up_to(self, group: Group, value: Number) -> list[Result]:
        due = [window for window in group.windows.values() if window.extent.end <= value]
        return sorted([*self._close(group, due), *self._empty(group, value)])

    def _empty(self, group: Group, value: Number) -> list[Result]:
        """The windows that start after the last tuple of a group and end at or before a value."""
        if not self._box.empty or group.last is None or self._bound.advance is None:
            return []
        steps = Steps(group.first_start, self._bound.size, self._bound.advance, self._bound.origin)
        last = steps.last_number(group.last.place)
        number = last + 1 if group.gap_next is None else group.gap_next
        if self._bound.forget is not None:
            value = min(value, self._position(group.last.value + self._bound.forget))
        results = []
        while steps.extent(number).end <= value and number <= last + EMPTY_MOST:
            window = Window(steps.extent(number), None)
            if self._exists(window):
                results.append(self._result(group, window))
            number += 1
        group.gap_next = number
        return results

    def _exists(self, window: Window) -> bool:
        """Whether a window has a start and instants: clocks may skip a whole window."""
        start, end = window.extent.start, window.extent.end
        if self._clock is not None:
            return self._clock.instant(int(start)) < self._clock.instant(int(end))
        return is_value(start, self._bound.order_type)

    def _close(self, group: Group, windows: list[Window]) -> list[Result]:
        """Remove windows, and emit those that have not timed out."""
        for window in windows:
            del group.windows[window.extent.start]
        return sorted(self._result(group, w) for w in windows if w.held and not w.timed_out)

    def _time_out(self, group: Group, now: int) -> list[Result]:
        """Emit the windows that are due, with all their tuples that have arrived, including waiting ones."""
        if self._bound.timeout is None:
            return []
        preview = self._preview(group)
        due = [w for w in self._running(preview) if now > w.begin + self._bound.timeout]
        for window in due:
            window.timed_out = True
            group.windows[window.extent.start] = window
            group.first_start, group.first_known = preview.first_start, preview.first_known
        return [self._result(group, window) for window in due]

    def _preview(self, group: Group) -> Group:
        """A group as if its waiting tuples were released now, without closing anything."""
        preview = group.preview()
        for arrived in sorted(group.waiting):
            self._place(preview, arrived)
        return preview

    def _running(self, group: Group) -> list[Window]:
        """The windows of a group that will be emitted."""
        return [window for window in group.windows.values() if window.held and not window.timed_out]

    def _result(self, group: Group, window: Window) -> Result:
        return Result(window.extent.start, group.place, self._tuples(group, window))

    def _tuples(self, group: Group, window: Window) -> list[Tuple]:
        """What a window emits."""
        tuples = [each.tuple for each in window.held]
        rows = [each.values for each in tuples]
        values = dict(group.attributes)
        if self._box.order.on != TUP:
            values = {self._box.order.on: self._shown_start(window), **values}
        values |= window_values(self._bound.functions, rows, self._timezone)
        if not tuples and group.last is not None:
            tuples = [group.last.tuple]
        return [Tuple(values, oldest(tuples))]

    def _shown_start(self, window: Window) -> Value:
        """The start of a window as a value of the ordered attribute."""
        start = window.extent.start
        if self._clock is not None:
            start = self._clock.instant(int(start))
        return from_units(start, self._bound.order_type)


def _items(results: list[Result]) -> list[Item]:
    return [(0, each) for result in results for each in result.tuples]
