"""Aggregate: window functions over windows of each group (Aurora 5.2.2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.boxes import Aggregate, BoundAggregate
from australis.algebra.expr import WindowCall
from australis.algebra.order import SortKey
from australis.algebra.schema import TS, TUP, Schema
from australis.algebra.types import DataType
from australis.kernels.arrays import (
    GroupCodes,
    Indexes,
    Mask,
    Numbered,
    Numbers,
    PortKeys,
    by_group,
    column,
    encode,
    first_times,
    frozen,
    grown,
    lower_to_least,
    numbers,
    rows_of,
    stacked,
    without_keys,
)
from australis.kernels.compiled import njit
from australis.kernels.expressions import arrow, evaluate, truths
from australis.kernels.functions import combined_keys, computed
from australis.kernels.kernel import NEVER_DUE, Due, Kernel, LocalTimes, State, Step, causes_of, empty_output
from australis.kernels.marks import NO_MARKS, Marks
from australis.kernels.ordering import (
    NOTHING,
    Placed,
    Released,
    from_sort_keys,
    in_time,
    late_tuples,
    order_array,
    passed_array,
    passed_keys,
    place,
    release,
    release_by_length,
    release_by_marks,
    sort_keys,
)
from australis.kernels.windows import (
    GROUP,
    LAST_ARRIVED,
    OLDEST,
    PASSED,
    VALUE,
    Eras,
    Groups,
    Layout,
    LocalClock,
    Openings,
    OpenWindows,
    Releases,
    Sessions,
    Steps,
    Tails,
    WindowResults,
    closed_between,
    closed_by_mark,
    deadline,
    deadlines,
    eras_of,
    existing,
    fire,
    following,
    group_marks,
    groups_of,
    in_order,
    joined_results,
    known_until,
    last_values,
    local_clock,
    no_eras,
    quiet_groups,
    running_groups,
    tails_of,
)

_LEAST_START = {"int": -(2**31), "long": 2 - 2**63, "timestamp": 2 - 2**63}
"""The least start of a window by type; with 64 bits it is that of an order value less a size, plus 1."""
_LEAST_DOUBLE_NUMBER = -(2**52)
"""Doubles are at most 2^50 advances from 0, so no window that contains one has a lesser number."""


class AggregateKernel(Kernel):
    """Releases the tuples of each group as BSort would, and adds them to windows.

    The state: `groups` in the order of their first arrivals, with what each has passed and where its windows
    begin; `waiting`, the tuples in the buffers in order of arrival; `windows`, those that are open.
    """

    def __init__(self, box: Aggregate, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)[:1]
        self._order = box.order
        self._bound = box.bind(schema)
        self._timezone = timezone
        self._clock = clock_of(self._bound, box, schema, timezone)
        windows = windows_of(self._bound, box)
        # By progress the mark tells what has been passed. A group of which nothing is open is then known only
        # by where its windows begin, or by its next empty one.
        begins_anywhere = isinstance(windows, Sessions) or (isinstance(windows, Steps) and windows.aligned)
        self._forgets = box.order.by_progress and bool(box.order.group_by)
        self._forgets = self._forgets and begins_anywhere and not box.empty
        self._layout = Layout(
            self.calls(),
            windows,
            self._bound.timeout,
            self._clock,
            box.empty,
            None if self._forgets else self._bound.forget,
            self._bound.forget_us,
        )
        keys = pa.schema([pa.field(name, schema[name].type.arrow) for name in box.order.group_by])
        self._groups_schema = self._layout.groups_schema(keys)
        self._no_arrivals = self._nothing_late = empty_output(schema)
        self.progress_on = {0: box.order.on} if box.order.by_progress else {}
        followers = {"waiting": GROUP, "windows": GROUP}
        self._numbered = Numbered("groups", box.order.group_by, box.order.group_by, followers)

    def calls(self) -> tuple[WindowCall, ...]:
        """What is accumulated in each window."""
        return self._bound.functions.calls

    # --- events

    def start(self) -> State:
        return {
            "groups": self._groups_schema.empty_table(),
            "waiting": self._layout.rows_schema.empty_table(),
            "windows": self._layout.windows_schema.empty_table(),
        }

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        fired = self.tick(state, now)
        if not batch.num_rows:
            return fired
        arrived = self._arrive(fired.state, batch, np.full(batch.num_rows, now))
        return _both(fired, arrived)

    def step_at(self, state: State, port: int, batch: pa.Table, times: Indexes) -> Step:
        return self._arrive(state, batch, times)

    def advance(
        self, state: State, batches: Mapping[int, pa.Table], now: LocalTimes, marks: Mapping[int, Marks]
    ) -> tuple[tuple[int, Step], ...]:
        fired, risen = self.tick(state, now.first), marks.get(0, NO_MARKS)
        if not batches and not len(risen.causes):
            return ((0, fired),)
        batch = batches.get(0, self._no_arrivals)
        arrived = self._arrive(fired.state, batch, now.of(causes_of(batch)), risen)
        return ((0, _both(fired, arrived)),)

    def tick(self, state: State, now: int) -> Step:
        fired = fire(self._layout, state, now)
        after = state if fired is None else fired.state
        kept = without_keys(after, self._numbered, quiet_groups(self._layout, after, now))
        if fired is None:
            return Step(kept, self.nothing())
        results = self._together(fired.results, after["groups"])
        return Step(kept, (self._output(results, after["groups"], results.releases),))

    def flush(self, state: State, now: int) -> Step:
        fired = self.tick(state, now)
        groups, waiting = fired.state["groups"], fired.state["waiting"]
        eras = self._eras(groups, groups.num_rows, in_order(waiting))
        windows = OpenWindows(self._layout, fired.state["windows"], waiting, groups_of(groups, eras.count))
        closed, ignored = windows.run(eras.releases)
        gaps, _ = self._gaps(groups, windows, eras, waiting, None)
        groups = rows_of(groups, eras.owner) if eras.count > groups.num_rows else groups
        still_open = np.arange(windows.count)
        still_open = still_open[windows.lives(still_open)]
        rest = windows.results(still_open, np.full(len(still_open), -1))
        results = self._together(joined_results([closed, rest, *gaps]), groups)
        ended = self._output(results, groups, np.full(len(results.group), -1))
        return Step(self.start(), (stacked([*fired.outputs, ended]),), ignored=ignored)

    def deadline(self, state: State) -> int | None:
        return deadline(self._layout, state)

    def awaits_marks(self, state: State) -> bool:
        known = state["groups" if self._layout.empty else "windows"].num_rows
        return bool(self.progress_on) and bool(state["waiting"].num_rows or known)

    @property
    def separated_by(self) -> PortKeys:
        return (self._order.group_by,)

    def due(self, state: State) -> Due | None:
        if not self.progress_on and self._layout.timeout is None and self._layout.forget_us is None:
            return None
        groups, layout = state["groups"], self._layout
        times, quiet = np.full(groups.num_rows, NEVER_DUE), np.zeros(groups.num_rows, np.bool_)
        lower_to_least(times, *deadlines(layout, state))
        marks = self._due_marks(state) if self.progress_on else np.full(len(times), np.inf)
        if layout.forget is not None:
            quiet = np.isinf(marks)
            marks[quiet] = last_values(groups, layout.forget)[quiet]
        if layout.forget_us is not None:
            quiet = ~running_groups(layout, state)
            times[quiet] = numbers(column(groups, LAST_ARRIVED))[quiet] + layout.forget_us + 1
        return Due(marks, times, quiet)

    def _due_marks(self, state: State) -> npt.NDArray[np.float64]:
        """The least mark at which a tuple of each group is released, or a window closed."""
        groups, waiting = state["groups"], state["waiting"]
        windows = OpenWindows(self._layout, state["windows"], waiting, groups_of(groups, groups.num_rows))
        ends, owners = windows.slots.end, windows.slots.group
        if self._layout.empty and isinstance(self._layout.windows, Steps):
            tails = tails_of(groups, groups.num_rows)
            emitting, until = following(self._layout.windows, tails, windows.groups.first_start)
            if self._layout.forget is not None:
                known = until <= last_values(groups, self._layout.forget, self._clock)[emitting]
                emitting, until = emitting[known], until[known]
            ends, owners = np.append(ends, until), np.append(owners, emitting)
        if self._clock is not None:
            ends = self._clock.instants(ends)
        marks = np.full(groups.num_rows, np.inf)
        np.minimum.at(marks, owners, ends)
        np.minimum.at(marks, numbers(column(waiting, GROUP)), numbers(column(waiting, VALUE)))
        return marks

    def kept_by(self, keys: PortKeys) -> tuple[Numbered, ...]:
        return (by_group("groups", self._order.group_by, keys[0], {"waiting": GROUP, "windows": GROUP}),)

    # --- arrivals

    def _arrive(self, state: State, batch: pa.Table, times: Indexes, marks: Marks | None = None) -> Step:
        placed, late = self._placed(batch), self._nothing_late
        state = self._awake(state, placed.batch, times[placed.rows])
        groups, waiting = state["groups"], state["waiting"]
        if marks is not None:
            whole = placed
            placed, rows_late = in_time(whole, marks)
            late = late_tuples(whole, rows_late, causes_of(whole.batch))
        found = encode(groups.select(list(self._order.group_by)), groups.num_rows, placed.batch)
        passed = grown(passed_keys(column(groups, PASSED)), found.count, NOTHING)
        values = placed.values if self._order.on != TUP else _numbered(found.codes, passed.copy())
        rows = stacked([waiting, self._rows(placed.batch, found.codes, values, times[placed.rows])])
        codes, keys = numbers(column(rows, GROUP)), sort_keys(numbers(column(rows, VALUE)))
        released = self._released(codes, keys, waiting.num_rows, passed, placed, marks)
        order = from_sort_keys(released.keys, self._layout.number_type.to_pandas_dtype())
        releases = Releases(*map(frozen, (released.rows, released.groups, order)))
        eras = self._eras(groups, found.count, releases)
        names = rows_of(found.keys, eras.owner) if eras.count > found.count else found.keys
        arrived = self._arrived(groups, found, times[placed.rows])
        windows = OpenWindows(self._layout, state["windows"], rows, groups_of(groups, eras.count))
        results, ignored = windows.run(eras.releases)
        clock = self._clock
        last = None if marks is None else _reading(marks.last, clock)
        gaps, tails = self._gaps(groups, windows, eras, rows, last)
        if marks is None:
            results = _in_sequence([results, *gaps]) if gaps else results
            causes = placed.rows[released.causes[results.releases]]
        else:
            parts = [results, *gaps] if last is None else [results, *gaps, windows.close_up_to(last)]
            results = joined_results(parts)
            causes = marks.reaching(results.end if clock is None else clock.instants(results.end))
            order = np.lexsort((self._places(results, names), results.start, causes))
            results, causes = results.taken(order), causes[order]
        after: State = {
            "groups": self._groups(names, released.passed[eras.owner], windows.groups, tails, eras, arrived),
            "waiting": eras.renumbered(rows_of(rows, released.waiting)),
            "windows": windows.table(),
        }
        late_count = late.num_rows + released.late
        if released.late and self._order.late:
            late = late_tuples(placed, released.late_rows(waiting.num_rows, len(codes)), placed.rows)
        outputs = (self._output(results, after["groups"], causes),)
        lates = late if self._order.late else None
        if marks is not None:
            after = self._remembered(after, eras, marks.last)
        return Step(after, outputs, placed.rejected, late_count, ignored, late_tuples=lates)

    def _released(
        self,
        codes: Indexes,
        keys: Indexes,
        waiting: int,
        passed: Indexes,
        placed: Placed,
        marks: Marks | None,
    ) -> Released:
        """Release rows as the order says: by count, by length or by progress."""
        if marks is not None:
            values = from_sort_keys(keys, marks.values.dtype)
            released = release_by_marks(codes, values, waiting, causes_of(placed.batch), marks)
            return replace(released, passed=passed)
        if self._bound.slack is not None:
            slack = self._bound.slack
            return release_by_length(codes, keys, waiting, passed, slack, drop_late=True)
        return release(codes, keys, waiting, passed, self._order.count, drop_late=True)

    def _placed(self, batch: pa.Table) -> Placed:
        if self._order.on != TUP:
            return place(batch, self._order.on, self._bound.resolution)
        return Placed(batch, np.empty(0, np.int64), np.arange(batch.num_rows), None)

    def _rows(self, batch: pa.Table, codes: Indexes, values: Numbers, times: Indexes) -> pa.Table:
        """The tuples of a batch in the form in which they wait, with their arguments evaluated."""
        columns = [
            pa.array(codes),
            arrow(values, self._layout.number_type),
            column(batch, TS).view(pa.int64()),
        ]
        if self._bound.advance_when is not None:
            opens = truths(evaluate(self._bound.advance_when, batch, self._timezone))
            columns.append(arrow(opens, pa.bool_()))
        if self._bound.timeout is not None:
            columns.append(pa.array(times))
            columns.append(arrow(np.zeros(len(codes), np.bool_), pa.bool_()))
        columns += [evaluate(arg, batch, self._timezone) for arg in self._layout.args]
        return pa.Table.from_arrays(columns, schema=self._layout.rows_schema)

    def _gaps(
        self,
        groups: pa.Table,
        windows: OpenWindows,
        eras: Eras,
        rows: pa.Table,
        mark: int | float | None,
    ) -> tuple[list[WindowResults], Tails | None]:
        """The results of empty windows that were closed, and the groups' tails; none without `empty`."""
        steps = self._layout.windows
        if not self._layout.empty or not isinstance(steps, Steps):
            return [], None
        first_starts, clock, released = windows.groups.first_start, self._clock, eras.releases
        values = released.value if clock is None else clock.readings(released.value)
        ts = numbers(column(rows, OLDEST))[released.row]
        tails = tails_of(groups, len(first_starts))
        found, tails = closed_between(steps, tails, released.group, values, ts, first_starts)
        parts = [found]
        if mark is not None or self._layout.forget is not None:
            marks, concerned = self._known_until(eras, mark, first_starts.dtype)
            found, tails = closed_by_mark(steps, tails, marks, first_starts, concerned)
            parts.append(found)
        if clock is not None:
            parts = [existing(steps, part, first_starts, clock) for part in parts]
        return [windows.empty(part) for part in parts if len(part.group)], tails

    def _groups(
        self,
        keys: pa.Table,
        passed: Indexes,
        groups: Groups,
        tails: Tails | None,
        eras: Eras,
        arrived: Indexes | None,
    ) -> pa.Table:
        marks = [passed_array(passed, self._bound.order_type)]
        marks += group_marks(groups, groups.begun, self._layout.number_type)
        marks += [] if tails is None else tails.columns()
        marks += [] if self._layout.forget is None else [eras.column(self._layout.number_type)]
        marks += [] if arrived is None else [pa.array(arrived)]
        columns = [column(keys, name) for name in keys.column_names]
        return pa.Table.from_arrays([*columns, *marks], schema=self._groups_schema)

    # --- forgetting

    def _eras(self, groups: pa.Table, count: int, released: Releases) -> Eras:
        if self._layout.forget is None:
            return no_eras(count, released)
        return eras_of(self._layout, groups, count, released)

    def _known_until(
        self, eras: Eras, mark: int | float | None, dtype: np.dtype[np.generic]
    ) -> tuple[Numbers, Mask]:
        """Up to where each era has empty windows, and which of them have no more tuples before that."""
        every, forget = np.ones(eras.count, np.bool_), self._layout.forget
        if forget is None:
            return np.full(eras.count, mark, dtype), every
        until = known_until(eras.last, forget, self._clock)
        return (until, eras.over) if mark is None else (np.minimum(until, until.dtype.type(mark)), every)

    def _awake(self, state: State, batch: pa.Table, times: Indexes) -> State:
        """A state without the groups that are forgotten before the first of their tuples in a batch."""
        groups = state["groups"]
        if self._layout.forget_us is None or not len(times):
            return state
        if not (numbers(column(groups, LAST_ARRIVED)) < times[-1] - self._layout.forget_us).any():
            return state
        codes = encode(groups.select(list(self._order.group_by)), groups.num_rows, batch).codes
        began = first_times(codes, times, groups.num_rows)
        return without_keys(state, self._numbered, quiet_groups(self._layout, state, began))

    def _arrived(self, groups: pa.Table, found: GroupCodes, times: Indexes) -> Indexes | None:
        """When the last tuple of each group arrived, if that matters."""
        if self._layout.forget_us is None:
            return None
        arrived = np.array(grown(numbers(column(groups, LAST_ARRIVED)), found.count))
        arrived[found.codes] = times
        return arrived

    def _remembered(self, state: State, eras: Eras, mark: int | float | None) -> State:
        """A state without the groups of which nothing is open and nothing will be asked."""
        if mark is None or not (self._forgets or self._layout.forget is not None):
            return state
        idle = np.ones(state["groups"].num_rows, np.bool_)
        for name in self._numbered.followers:
            idle[numbers(column(state[name], GROUP))] = False
        if self._layout.forget is not None:
            idle &= eras.over | (mark > eras.last + self._layout.forget)
        return without_keys(state, self._numbered, idle)

    # --- results

    def _together(self, results: WindowResults, groups: pa.Table) -> WindowResults:
        """Results of several groups that come together: by start, then by the attributes grouped by."""
        return results.taken(np.lexsort((self._places(results, groups), results.start)))

    def _places(self, results: WindowResults, groups: pa.Table) -> Indexes:
        """Whole numbers that compare as the attributes grouped by do; NULL is last."""
        keys = [SortKey(name) for name in self._order.group_by]
        if not keys:
            return np.zeros(len(results.group), np.int64)
        found = rows_of(groups.select([key.name for key in keys]), results.group)
        return combined_keys([column(found, key.name) for key in keys], keys)

    def _output(self, results: WindowResults, groups: pa.Table, causes: Indexes) -> pa.Table:
        starts = results.start if self._clock is None else self._clock.instants(results.start)
        start = [] if self._order.on == TUP else [order_array(starts, self._bound.order_type)]
        found = rows_of(groups.select(list(self._order.group_by)), results.group)
        keys = [column(found, name) for name in found.column_names]
        schema = self.nothing()[0].schema
        hidden = [arrow(results.oldest, schema.field(TS).type), pa.array(causes, pa.int64())]
        values = computed(self._bound.functions, results.values, self._timezone)
        return pa.Table.from_arrays([*start, *keys, *values, *hidden], schema=schema)


def _both(fired: Step, arrived: Step) -> Step:
    """Two steps as one."""
    return replace(arrived, outputs=(stacked([*fired.outputs, *arrived.outputs]),))


def clock_of(bound: BoundAggregate, box: Aggregate, schema: Schema, timezone: str) -> LocalClock | None:
    """The clock along which the windows of a box lie; None if that is the order itself."""
    if bound.advance is None or not box.is_local(schema):
        return None
    return local_clock(timezone, int(bound.advance))


def _reading(mark: int | float | None, clock: LocalClock | None) -> int | float | None:
    """Where a mark lies along the windows."""
    if mark is None or clock is None:
        return mark
    found: int = clock.readings(np.array([mark]))[0].item()
    return found


def _in_sequence(parts: list[WindowResults]) -> WindowResults:
    """Results by the release that closed each, then by start."""
    results = joined_results(parts)
    return results.taken(np.lexsort((results.start, results.releases)))


def windows_of(bound: BoundAggregate, box: Aggregate) -> Steps | Openings | Sessions:
    """Where the windows of a box are."""
    size, advance, lead = bound.size, bound.advance, int(box.order.on == TUP)
    if box.session is not None:
        return Sessions(size)
    if advance is None:
        return Openings(size, lead)
    widest = -(-size // advance) if isinstance(size, int) else int(min(size / advance, 2.0**62)) + 2
    least = _least_number(bound.order_type, advance, bound.origin) if box.align else 0
    rest = math.fmod(size, advance) if isinstance(size, float) else size % advance
    # No value is 2^52 advances after the start of a window, so a longer window never ends.
    whole = round(min((size - rest) / advance, 2.0**52)) if isinstance(size, float) else size // advance
    return Steps(size, advance, int(whole), rest, box.align, bound.origin, least, lead, int(widest))


def _least_number(order_type: DataType, advance: int | float, origin: int | float) -> int:
    """The number of the first aligned window whose start is a value of a type."""
    if order_type.name == "double":
        return _LEAST_DOUBLE_NUMBER
    least = 1 - 10**order_type.precision if order_type.is_decimal else _LEAST_START[order_type.name]
    return int(-((origin - least) // advance))


@njit(nogil=True)
def _numbered(codes: Indexes, passed: Indexes) -> Indexes:
    """The numbers of tuples in their groups, from 0; `passed` has each group's last number so far."""
    found = np.empty(codes.shape[0], np.int64)
    for row in range(codes.shape[0]):
        group = codes[row]
        passed[group] = 0 if passed[group] == NOTHING else passed[group] + 1
        found[row] = passed[group]
    return found
