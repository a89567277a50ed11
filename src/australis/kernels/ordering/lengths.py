"""Slack by length: a group has passed its greatest value less the slack (docs/semantics.md, "Order")."""

from __future__ import annotations

import numpy as np

from australis.kernels.arrays import Indexes, Mask, Numbers, arrange, frozen
from australis.kernels.compiled import njit
from australis.kernels.ordering.order import NOTHING, Released, from_sort_keys, sort_keys


def passed_by_length(
    codes: Indexes, values: Numbers, passed: Indexes, slack: int | float
) -> tuple[Mask, Indexes, Indexes, Indexes]:
    """Which rows are late, which move what their group has passed, the sort keys of that, and all in the end.

    >>> late, movers, moved, _ = passed_by_length(
    ...     np.zeros(4, np.int64), np.array([20, 9, 15, 31]), np.array([NOTHING]), 10
    ... )
    >>> late.tolist(), movers.tolist(), moved.tolist()
    ([False, True, False, False], [0, 3], [10, 21])
    """
    keys, shifted = frozen(sort_keys(values)), frozen(sort_keys(values - slack))
    passed, late = passed.copy(), np.zeros(len(codes), np.bool_)
    movers = np.empty(len(codes), np.int64)
    count = _pass(frozen(codes), keys, shifted, passed, late, movers)
    return late, movers[:count], shifted[movers[:count]], passed


@njit(nogil=True)
def _pass(
    codes: Indexes, keys: Indexes, shifted: Indexes, passed: Indexes, late: Mask, movers: Indexes
) -> int:
    count = 0
    for row in range(codes.shape[0]):
        group = codes[row]
        if keys[row] < passed[group]:
            late[row] = True
        elif shifted[row] > passed[group]:
            passed[group] = shifted[row]
            movers[count] = row
            count += 1
    return count


def release_by_length(
    codes: Indexes, keys: Indexes, waiting: int, passed: Indexes, slack: int | float, *, drop_late: bool
) -> Released:
    """Release waiting and new rows up to what their groups have passed; as `release`, but by length."""
    values = from_sort_keys(keys, np.dtype(np.float64 if isinstance(slack, float) else np.int64))
    fresh = codes[waiting:]
    late, movers, moved, after = passed_by_length(fresh, values[waiting:], passed, slack)
    begins, order = arrange(frozen(fresh[movers]), frozen(moved), len(passed))
    causes = np.empty(len(codes), np.int64)
    _reach(codes, keys, waiting, passed, frozen(begins), movers[order], moved[order], causes)
    causes[waiting:][late] = -1 if drop_late else np.flatnonzero(late)
    _, rows = arrange(frozen(causes), frozen(keys), len(fresh))
    still = causes < 0
    still[waiting:] &= ~late
    return Released(
        rows, codes[rows], keys[rows], causes[rows], int(late.sum()), np.flatnonzero(still), after
    )


@njit(nogil=True)
def _reach(
    codes: Indexes,
    keys: Indexes,
    waiting: int,
    passed: Indexes,
    begins: Indexes,
    movers: Indexes,
    moved: Indexes,
    causes: Indexes,
) -> None:
    """Note the new row with which each row is released: -1 for none yet."""
    for row in range(codes.shape[0]):
        group, key = codes[row], keys[row]
        low, high = begins[group], begins[group + 1]
        while low < high:
            middle = (low + high) // 2
            if moved[middle] < key:
                low = middle + 1
            else:
                high = middle
        own = row - waiting
        if key <= passed[group]:
            causes[row] = own
        elif low < begins[group + 1]:
            causes[row] = max(own, movers[low])
        else:
            causes[row] = -1


__all__ = ["NOTHING", "passed_by_length", "release_by_length"]
