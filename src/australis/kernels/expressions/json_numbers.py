"""Compiled loops over the numbers of JSON texts: which of them Java writes as they are."""

from __future__ import annotations

from australis.kernels.compiled import njit


@njit(inline=True)
def number_stop(data, place, stop):  # type: ignore[no-untyped-def]
    """The place after a number that was checked before."""
    while place < stop:
        sign = data[place]
        # Digits, + - . e E
        if not (48 <= sign <= 57 or sign in (43, 45, 46) or sign | 32 == 101):
            break
        place += 1
    return place


@njit(inline=True)
def plain_stop(data, place, stop):  # type: ignore[no-untyped-def]
    """Where a number ends if Java would write it without its last zeros and otherwise alike, else -1.

    That is so for whole numbers but -0, and for others of at most 15 digits, without an exponent, from 0.001
    up to ten million.
    """
    first = place + 1 if data[place] == 45 else place
    point = -1
    for i in range(first, stop):
        sign = data[i]
        if sign == 46:
            point = i
        elif sign > 57:
            return -1
    if point < 0:
        return -1 if first > place and data[first] == 48 else stop
    while stop > point + 2 and data[stop - 1] == 48:
        stop -= 1
    if point - first > 7 or stop - first > 16:
        return -1
    # Below 1, one of the first three digits after the point must count.
    is_small = data[first] == 48 and stop - point > 2 and data[point + 1] == 48 and data[point + 2] == 48
    return -1 if is_small and (stop - point < 4 or data[point + 3] == 48) else stop
