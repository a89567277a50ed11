"""Timeouts of an Aggregate: windows that are emitted early, with all their tuples that have arrived.

A window begins when the first of its tuples arrives, even if that tuple still waits for its slack. The
windows of the waiting tuples are determined as if they were released now, on copies of the state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.kernels.arrays import Indexes, Mask, column, numbers, rows_of, stacked
from australis.kernels.expressions import arrow, truths
from australis.kernels.kernel import State
from australis.kernels.windows.layout import (
    ARRIVED,
    BEGAN,
    END,
    FIRST_KNOWN,
    FIRST_START,
    GROUP,
    NUMBER,
    START,
    TAKEN,
    TIMED_OUT,
    Layout,
)
from australis.kernels.windows.open_windows import (
    OpenWindows,
    WindowResults,
    blank_window,
    group_marks,
    groups_of,
    in_order,
    rest_of,
)


@dataclass(frozen=True)
class Preview:
    """The windows as if all waiting tuples were released now, and the pairs that this would add."""

    windows: OpenWindows
    slots: Indexes
    rows: Indexes

    def running(self) -> Indexes:
        """The windows that have not timed out."""
        slots = np.arange(self.windows.count)
        return slots[self.windows.lives(slots)]


@dataclass(frozen=True)
class Fired:
    """The result of timeouts: the next state, and the windows emitted."""

    state: State
    results: WindowResults


def deadline(layout: Layout, state: State) -> int | None:
    """The earliest local time at which a window is due; None if none ever is."""
    _, rows, times = deadlines(layout, state)
    return int(times.min()) if len(rows) else None


def deadlines(layout: Layout, state: State) -> tuple[Indexes, Indexes, Indexes]:
    """The groups of all windows that will time out; which of the times is that of each; these."""
    nothing = np.empty(0, np.int64)
    if layout.timeout is None or not (state["windows"].num_rows or state["waiting"].num_rows):
        return nothing, nothing, nothing
    preview = _preview(layout, state)
    running = preview.running()
    times = preview.windows.begin(running) + layout.timeout + 1
    return preview.windows.slots.group[running], np.arange(len(running)), times


def running_groups(layout: Layout, state: State) -> Mask:
    """Which groups have a window that will be emitted, with tuples that were released or that wait."""
    preview = _preview(layout, state)
    found: Mask = np.zeros(state["groups"].num_rows, np.bool_)
    found[preview.windows.slots.group[preview.running()]] = True
    return found


def fire(layout: Layout, state: State, now: int) -> Fired | None:
    """Time out the windows that are due; None if there are none."""
    if layout.timeout is None or not _may_be_due(state, now - layout.timeout):
        return None
    preview = _preview(layout, state)
    running = preview.running()
    due = running[preview.windows.begin(running) < now - layout.timeout]
    if not len(due):
        return None
    results = preview.windows.results(due, np.full(len(due), -1))
    return Fired(_after(layout, state, preview, due), results)


def _may_be_due(state: State, latest: int) -> bool:
    """Whether anything began before `latest`; cheap, since it is checked at every event."""
    windows, waiting = state["windows"], state["waiting"]
    began = numbers(column(windows, BEGAN))[~truths(column(windows, TIMED_OUT))]
    arrived = numbers(column(waiting, ARRIVED))
    return bool((began < latest).any() or (arrived < latest).any())


def _preview(layout: Layout, state: State) -> Preview:
    groups = groups_of(state["groups"], state["groups"].num_rows)
    windows = OpenWindows(layout, state["windows"], state["waiting"], groups)
    released = in_order(state["waiting"])
    slots, rows, laid = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    while laid < len(released.row):
        chunk = windows.lay(rest_of(released, laid))
        slots.append(chunk.slots)
        rows.append(chunk.rows)
        laid += chunk.releases
    return Preview(windows, np.concatenate(slots), np.concatenate(rows))


def _after(layout: Layout, state: State, preview: Preview, due: Indexes) -> State:
    is_due = np.zeros(preview.windows.count, np.bool_)
    is_due[due] = True
    taken = truths(column(state["waiting"], TAKEN)).copy()
    taken[preview.rows[is_due[preview.slots]]] = True
    return {
        "groups": _begun(state["groups"], preview, due),
        "waiting": _with_column(state["waiting"], TAKEN, arrow(taken, pa.bool_())),
        "windows": _timed_out(layout, state, preview, is_due),
    }


def _begun(groups: pa.Table, preview: Preview, due: Indexes) -> pa.Table:
    """The groups, with the first starts of those that have a due window settled."""
    before, after = groups_of(groups, groups.num_rows), preview.windows.groups
    settled = before.begun.copy()
    settled[preview.windows.slots.group[due]] = True
    marks = group_marks(after, settled, groups.schema.field(FIRST_START).type)
    for name, values in zip((FIRST_START, FIRST_KNOWN), marks, strict=True):
        groups = _with_column(groups, name, values)
    return groups


def _timed_out(layout: Layout, state: State, preview: Preview, is_due: Mask) -> pa.Table:
    """The windows of the state, with those that are due marked as timed out and emptied."""
    known, slots = state["windows"].num_rows, preview.windows.slots
    kept = np.flatnonzero(is_due | (np.arange(len(is_due)) < known))
    kept = kept[np.lexsort((slots.start[kept], slots.group[kept]))]
    blank = blank_window(layout, state["waiting"], preview.windows.groups)
    windows = rows_of(stacked([state["windows"], blank]), np.where(is_due[kept], known, kept))
    identity = {GROUP: slots.group, NUMBER: slots.number, START: slots.start, END: slots.end}
    for name, values in identity.items():
        if name not in windows.column_names:
            continue
        windows = _with_column(windows, name, arrow(values[kept], windows.schema.field(name).type))
    for name, values in _accumulated(layout, state, np.where(is_due[kept], known, kept)).items():
        windows = _with_column(windows, name, values)
    timed_out = is_due[kept] | truths(column(windows, TIMED_OUT))
    return _with_column(windows, TIMED_OUT, arrow(timed_out, pa.bool_()))


def _accumulated(layout: Layout, state: State, slots: Indexes) -> dict[str, pa.Array]:
    """What is accumulated in some windows of a state, after which there is one without tuples.

    Windows may share what they hold, so a window cannot be emptied by itself.
    """
    nothing = state["waiting"].slice(0, 0)
    groups = groups_of(state["groups"], state["groups"].num_rows)
    windows = OpenWindows(layout, state["windows"], nothing, groups)
    windows.lay(in_order(nothing), blanks=1)
    return windows.accumulated(slots)


def _with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)
