"""Where windows start: at a0 + k · advance, for whole numbers k."""

from __future__ import annotations

from australis.reference.order import Number


def starts_containing(
    value: Number, first_start: Number | None, size: Number, advance: Number
) -> list[Number]:
    """The starts of the windows [start, start + size) that contain a value, ascending.

    Windows start at `first_start` and every `advance` behind it; without one, at all multiples of `advance`.

    >>> starts_containing(7, 1, size=4, advance=2), starts_containing(2, 1, size=4, advance=2)
    ([5, 7], [1])
    >>> starts_containing(1, None, size=4, advance=2)
    [-2, 0]
    """
    origin = 0 if first_start is None else first_start
    number = _last_number(value, origin, advance)
    starts: list[Number] = []
    while value < _start(origin, number, advance) + size and (first_start is None or number >= 0):
        starts.insert(0, _start(origin, number, advance))
        number -= 1
    return starts


def _start(origin: Number, number: int, advance: Number) -> Number:
    """The start of window number k. With doubles the product and the sum are each rounded once."""
    return origin + number * advance


def _last_number(value: Number, origin: Number, advance: Number) -> int:
    """The number of the last window that starts at or before a value.

    With doubles the quotient is only near it, since it is rounded otherwise than the starts are.
    """
    number = int((value - origin) // advance)
    while _start(origin, number, advance) > value:
        number -= 1
    while _start(origin, number + 1, advance) <= value:
        number += 1
    return number
