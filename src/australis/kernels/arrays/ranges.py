"""Ranges along an order: which tuples lie within a distance of which, for all groups at once.

Tuples are laid out by (group code, order value, arrival). All tuples near a value then lie in one range. The
search for it starts where the group's last search ended, which is not far away, because a stream is nearly in
order. A difference of two order values fits 64 bits, and is rounded once if they are doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from australis.kernels.compiled import njit

INSERTION_STEPS_MAX = 8
"""Steps per tuple after which an insertion sort switches to a merge sort."""


@njit(nogil=True)
def arrange(codes: Any, values: Any, groups: int) -> tuple[Any, Any]:
    """Where the rows of each code start, and the rows by code, value and row, omitting codes below 0."""
    starts, rows, _ = lay_out(codes, values, groups)
    return starts, rows


@njit(nogil=True)
def lay_out(codes: Any, values: Any, groups: int) -> tuple[Any, Any, Any]:
    """What `arrange` returns, and the values of these rows.

    Values move along with their rows, so that a sort reads only what lies together.
    """
    starts = np.zeros(groups + 1, np.int64)
    for code in codes:
        if code >= 0:
            starts[code + 1] += 1
    for group in range(groups):
        starts[group + 1] += starts[group]
    free = starts[:-1].copy()
    rows, laid = np.empty(starts[groups], np.int64), np.empty(starts[groups], values.dtype)
    for row in range(len(codes)):
        code = codes[row]
        if code >= 0:
            place = np.uint64(free[np.uint64(code)])
            rows[place], laid[place] = row, values[row]
            free[np.uint64(code)] += 1
    for group in range(groups):
        if starts[group + 1] - starts[group] > 1:
            _sort(rows[starts[group] : starts[group + 1]], laid[starts[group] : starts[group + 1]])
    return starts, rows, laid


@njit(nogil=True)
def _sort(rows: Any, values: Any) -> None:
    """Sort rows and their values, stably: by insertion while they are nearly in order, else by merging."""
    steps = 0
    for at in range(1, len(rows)):
        value = values[at]
        if values[at - 1] <= value:
            continue
        row, to = rows[at], at
        while to > 0 and values[to - 1] > value:
            rows[to], values[to] = rows[to - 1], values[to - 1]
            to -= 1
        rows[to], values[to] = row, value
        steps += at - to
        if steps > INSERTION_STEPS_MAX * len(rows):
            # Insertion has kept rows of equal values in order, so a stable sort may continue from here.
            order = np.argsort(values, kind="mergesort")
            rows[:], values[:] = rows[order], values[order]
            return


@njit(nogil=True)
def first_near(codes: Any, values: Any, starts: Any, laid_out: Any, size: Any) -> Any:
    """For each value, the first place in its group that is at most `size` before it.

    `laid_out` are the values by group, ascending from `starts[code]` on. If there is none, it is the end of
    the group; for codes without a group it is 0.
    """
    places, guesses = np.zeros(len(codes), np.int64), starts[:-1].copy()
    for row in range(len(codes)):
        code = codes[row]
        if 0 <= code < len(guesses):
            found = seek_near(laid_out, starts[code], starts[code + 1], guesses[code], values[row], size)
            places[row] = guesses[code] = found
    return places


@njit(nogil=True)
def first_beyond(codes: Any, values: Any, starts: Any, laid_out: Any, size: Any) -> Any:
    """For each value, the first place in its group that is more than `size` after it; see `first_near`."""
    places, guesses = np.zeros(len(codes), np.int64), starts[:-1].copy()
    for row in range(len(codes)):
        code = codes[row]
        if 0 <= code < len(guesses):
            found = seek_beyond(laid_out, starts[code], starts[code + 1], guesses[code], values[row], size)
            places[row] = guesses[code] = found
    return places


@njit(nogil=True)
def seek_near(values: Any, first: int, last: int, guess: int, value: Any, size: Any) -> int:
    """The first place in [first, last) that is at most `size` before a value, searched from a guess."""
    step = 1
    if guess < last and value - values[guess] > size:
        low = guess + 1
        while low + step < last and value - values[low + step] > size:
            low, step = low + step + 1, step * 2
        high = min(low + step, last)
    else:
        high = guess
        while high - step >= first and value - values[high - step] <= size:
            high, step = high - step, step * 2
        low = max(high - step, first)
    while low < high:
        middle = (low + high) // 2
        if value - values[middle] > size:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True)
def seek_beyond(values: Any, first: int, last: int, guess: int, value: Any, size: Any) -> int:
    """The first place in [first, last) that is more than `size` after a value, searched from a guess."""
    step = 1
    if guess < last and values[guess] - value <= size:
        low = guess + 1
        while low + step < last and values[low + step] - value <= size:
            low, step = low + step + 1, step * 2
        high = min(low + step, last)
    else:
        high = guess
        while high - step >= first and values[high - step] - value > size:
            high, step = high - step, step * 2
        low = max(high - step, first)
    while low < high:
        middle = (low + high) // 2
        if values[middle] - value > size:
            high = middle
        else:
            low = middle + 1
    return low


@njit(nogil=True)
def members(lows: Any, ends: Any, begin: int, stop: int) -> tuple[Any, Any]:
    """The members from `begin` to `stop` of all ranges concatenated, each with its range.

    `lows` has the start of each range, `ends` the number of members up to its end.
    """
    owners, places = np.empty(stop - begin, np.int64), np.empty(stop - begin, np.int64)
    owner = np.searchsorted(ends, begin, side="right")
    number = begin
    while number < stop:
        past = min(ends[owner], stop)
        base = lows[owner] - (ends[owner - 1] if owner else 0)
        for member in range(number, past):
            owners[member - begin] = owner
            places[member - begin] = base + member
        number = max(number, past)
        owner += 1
    return owners, places
