"""Marks: the step function of an arc's promise, and what it releases, makes late and completes.

A mark of an attribute says that no later tuple has a lesser value (docs/semantics.md, "Progress"). It comes
after all tuples with its cause. An event hands a box the marks of its arcs together with their tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from australis.algebra.progress import BoundProgress
from australis.kernels.arrays import Indexes, Mask, Numbers

WAITS = -(2**63)
"""The cause of what no mark has reached yet."""


@dataclass(frozen=True)
class Marks:
    """The marks of one attribute during an event: the one that stood before it, and those that it brings."""

    before: int | float | None
    """None if there was none."""
    causes: Indexes
    """The cause of each mark, ascending."""
    values: Numbers
    """The marks, each greater than the one before it."""

    @property
    def last(self) -> int | float | None:
        """The mark that stands after the event."""
        return self.values[-1].item() if len(self.values) else self.before

    def late(self, values: Numbers, causes: Indexes) -> Mask:
        """Which tuples are below the mark that stood before their cause; causes ascend."""
        late: Mask = np.zeros(len(values), np.bool_) if self.before is None else values < self.before
        if len(self.causes):
            begins = np.searchsorted(causes, self.causes, side="right")
            standing = np.repeat(self.values, np.diff(begins, append=len(causes)))
            late[begins[0] :] |= values[begins[0] :] < standing
        return late

    def reaching_sorted(self, values: Numbers) -> Indexes:
        """The causes with which the first of some ascending values are reached; the others wait."""
        stood = 0 if self.before is None else int(np.searchsorted(values, self.before, side="right"))
        ends = np.searchsorted(values, self.values, side="right")
        return np.repeat(np.append(-1, self.causes), np.diff(ends, prepend=[0, stood]))

    def reaching(self, values: Numbers) -> Indexes:
        """The cause with which each value is reached: -1 if it was before, WAITS if it is not yet."""
        found = np.append(self.causes, WAITS)[np.searchsorted(self.values, values, side="left")]
        return found if self.before is None else np.where(values <= self.before, -1, found)

    def between(self, lo: int, hi: int) -> Marks:
        """The marks with causes from `lo` up to `hi`; those before `lo` have come already."""
        begin, end = np.searchsorted(self.causes, [lo, hi], side="left")
        before = self.values[begin - 1].item() if begin else self.before
        return Marks(before, self.causes[begin:end], self.values[begin:end])


NO_MARKS = Marks(None, np.empty(0, np.int64), np.empty(0, np.int64))
"""No marks yet."""


def rising(before: int | float | None, causes: Indexes, values: Numbers) -> Marks:
    """The marks among some values in the order of their causes: only what is greater than all before it.

    >>> rising(3, np.array([1, 2, 2, 5]), np.array([2, 4, 6, 5])).values.tolist()
    [6]
    """
    if not len(values):
        return Marks(before, causes, values)
    highest = np.maximum.accumulate(values)
    last_of_cause = np.append(causes[1:] != causes[:-1], True)
    causes, highest = causes[last_of_cause], highest[last_of_cause]
    rises = np.append(True, highest[1:] > highest[:-1])
    if before is not None:
        rises &= highest > before
    return Marks(before, causes[rises], highest[rises])


@dataclass(frozen=True)
class InputMark:
    """What an input has promised so far, and since when it is quiet; both unknown before its first event."""

    mark: int | float | None = None
    quiet_since: int | None = None


def begun(bound: BoundProgress, known: InputMark, now: int) -> InputMark:
    """The mark when an event begins at a local time: that of an idle input follows the clock."""
    quiet = now if known.quiet_since is None else known.quiet_since
    known = replace(known, quiet_since=quiet)
    if bound.idle is None or now - quiet <= bound.idle:
        return known
    return promised(known, now - bound.slack)


def promised(known: InputMark, mark: int | float) -> InputMark:
    """The mark after a promise."""
    return replace(known, mark=mark if known.mark is None else max(known.mark, mark))


def raised(
    bound: BoundProgress,
    known: InputMark,
    now: int,
    begin: int,
    *,
    arrivals: tuple[Indexes, Numbers] | None = None,
    promise: int | float | None = None,
) -> tuple[Marks, InputMark]:
    """The marks of an event of an input's log, and what is known after it.

    `begin` is the cause of what comes before its tuples. `arrivals` are causes of tuples and the marks that
    they raise; none where no tuples came, and empty where none of them counts.
    """
    after = begun(bound, known, now)
    if promise is not None:
        after = promised(after, promise)
    dtype = np.float64 if bound.order_type.name == "double" else np.int64
    causes, values = np.empty(0, np.int64), np.empty(0, dtype)
    if after.mark is not None and after.mark != known.mark:
        causes, values = np.array([begin]), np.array([after.mark], dtype)
    if arrivals is not None:
        causes, values = np.append(causes, arrivals[0]), np.append(values, arrivals[1])
        after = replace(after, quiet_since=now)
    marks = rising(known.mark, causes, values)
    return marks, replace(after, mark=marks.last)


def least(parts: list[Marks]) -> Marks:
    """The marks of a stream for which several have to be reached: the least of them at each cause."""
    if len(parts) == 1:
        return parts[0]
    causes = np.unique(np.concatenate([part.causes for part in parts]))
    known, lowest = np.ones(len(causes), np.bool_), None
    for part in parts:
        places = np.searchsorted(part.causes, causes, side="right")
        has = places > 0 if part.before is None else np.ones(len(causes), np.bool_)
        stored = np.append(part.values.dtype.type(0 if part.before is None else part.before), part.values)
        known &= has
        lowest = stored[places] if lowest is None else np.minimum(lowest, stored[places])
    assert lowest is not None, "a stream has at least one source of its marks"
    befores = [part.before for part in parts]
    before = None if any(each is None for each in befores) else min(b for b in befores if b is not None)
    return rising(before, causes[known], lowest[known])
