"""Compiled loops that write values of JSON texts: bare strings, and anything else as compact JSON."""

from __future__ import annotations

import numpy as np

from australis.kernels.compiled import njit
from australis.kernels.expressions.json_numbers import number_stop, plain_stop
from australis.kernels.expressions.json_scan import blank, escape, is_quote, put_code, string_end

NO_TEXT, NEEDS_FLOATS = -1, -2
"""Instead of the end of a text: a surrogate is alone in it; it has numbers whose text is not known yet."""
_QUOTE, _BACKSLASH = 34, 92


@njit()
def _put_hex(out, to, code):  # type: ignore[no-untyped-def]
    r"""Write \uXXXX."""
    out[to], out[to + 1] = _BACKSLASH, 117
    for i in range(4):
        digit = code >> (12 - 4 * i) & 15
        out[to + 2 + i] = 48 + digit if digit < 10 else 55 + digit
    return to + 6


@njit()
def _put_escaped(out, to, code):  # type: ignore[no-untyped-def]
    """Write a character inside a string of JSON."""
    if code in (_QUOTE, _BACKSLASH):
        out[to], out[to + 1] = _BACKSLASH, code
        return to + 2
    if code < 32:
        letter = 0
        if code == 8:
            letter = 98
        elif code == 9:
            letter = 116
        elif code == 10:
            letter = 110
        elif code == 12:
            letter = 102
        elif code == 13:
            letter = 114
        if letter:
            out[to], out[to + 1] = _BACKSLASH, letter
            return to + 2
        return _put_hex(out, to, code)
    if code >= 0x10000:
        to = _put_hex(out, to, 0xD800 + ((code - 0x10000) >> 10))
        return _put_hex(out, to, 0xDC00 + (code & 0x3FF))
    if 0xD800 <= code < 0xE000:
        return _put_hex(out, to, code)
    return put_code(out, to, code)


@njit()
def _put_string(data, place, stop, out, to):  # type: ignore[no-untyped-def]
    """Write the string between two places, with its quotes."""
    out[to] = _QUOTE
    to += 1
    while place < stop:
        sign = data[place]
        if sign == _BACKSLASH:
            code, place = escape(data, place, stop)
            to = _put_escaped(out, to, code)
        elif sign >= 0xF0:
            code = np.int64(sign & 7) << 18 | np.int64(data[place + 1] & 63) << 12
            code |= np.int64(data[place + 2] & 63) << 6 | np.int64(data[place + 3] & 63)
            to = _put_escaped(out, to, code)
            place += 4
        elif sign < 32 or sign == _QUOTE:
            to = _put_escaped(out, to, np.int64(sign))
            place += 1
        else:
            out[to] = sign
            to += 1
            place += 1
    out[to] = _QUOTE
    return to + 1


@njit()
def _put_bare(data, place, stop, out, to):  # type: ignore[no-untyped-def]
    """Write the characters of the string between two places."""
    while place < stop:
        sign = data[place]
        if sign == _BACKSLASH:
            code, place = escape(data, place, stop)
            if 0xD800 <= code < 0xE000:
                return NO_TEXT
            to = put_code(out, to, code)
        else:
            out[to] = sign
            to += 1
            place += 1
    return to


@njit()
def _put_bytes(data, place, stop, out, to):  # type: ignore[no-untyped-def]
    for i in range(place, stop):
        out[to] = data[i]
        to += 1
    return to


@njit()
def _put_value(data, place, stop, out, to, floats, starts, ends, number):  # type: ignore[no-untyped-def]
    """Write the value between two places; `number` is that of its first text among those of floats."""
    if is_quote(data[place]):
        return _put_bare(data, place + 1, stop - 1, out, to)
    while place < stop:
        sign = data[place]
        if is_quote(sign):
            end = string_end(data, place, stop)
            to = _put_string(data, place + 1, end - 1, out, to)
            place = end
        elif sign == 45 or 48 <= sign <= 57:
            end = number_stop(data, place, stop)
            last = plain_stop(data, place, end)
            if last >= 0:
                to = _put_bytes(data, place, last, out, to)
            elif sign == 45 and end == place + 2:
                # -0 is a whole number, and 0.
                to = _put_bytes(data, place + 1, end, out, to)
            elif number < 0:
                return NEEDS_FLOATS
            else:
                to = _put_bytes(floats, starts[number], ends[number], out, to)
                number += 1
            place = end
        else:
            out[to] = sign
            to += 1
            place += 1
        place = blank(data, place, stop)
    return to


@njit()
def write_all(data, firsts, lasts, out, offsets, floats, starts, ends, numbers):  # type: ignore[no-untyped-def]
    """Write the value of each row from its offset on; returns where each ends, or why there is none.

    Row i takes the texts of floats from number numbers[i] on, unless that is -1.
    """
    stops = np.empty(len(firsts), np.int64)
    for row in range(len(firsts)):
        stops[row] = _put_value(
            data, firsts[row], lasts[row], out, offsets[row], floats, starts, ends, numbers[row]
        )
    return stops


@njit()
def floats_in(data, firsts, lasts, rows, starts, ends):  # type: ignore[no-untyped-def]
    """Where the numbers of some rows lie that Java may write in another way; returns how many each row has.

    Without room in starts and ends, they are only counted.
    """
    counts = np.zeros(len(rows), np.int64)
    found = 0
    for i in range(len(rows)):
        place, stop = firsts[rows[i]], lasts[rows[i]]
        while place < stop:
            sign = data[place]
            if is_quote(sign):
                place = string_end(data, place, stop)
            elif sign == 45 or 48 <= sign <= 57:
                end = number_stop(data, place, stop)
                if plain_stop(data, place, end) < 0 and not (sign == 45 and end == place + 2):
                    if len(starts):
                        starts[found], ends[found] = place, end
                    found += 1
                    counts[i] += 1
                place = end
            else:
                place += 1
    return counts


@njit()
def java_texts(digits, exponents, negative, out):  # type: ignore[no-untyped-def]
    """Write doubles, given as digits without a sign times a power of ten, as Java does, 32 bytes for each.

    Returns where each ends: with an exponent below 0.001 and from ten million on.
    """
    stops = np.empty(len(digits), np.int64)
    room = np.empty(20, np.uint8)
    for row in range(len(digits)):
        number, exponent, to = digits[row], exponents[row], 32 * row
        if negative[row]:
            out[to] = 45
            to += 1
        while number != 0 and number % 10 == 0:
            number //= 10
            exponent += 1
        count = 0
        while number != 0:
            room[count] = 48 + number % 10
            number //= 10
            count += 1
        if count == 0:
            room[0], count, exponent = 48, 1, 0
        # The digits are in the room from the last to the first, and the point comes after this many of them.
        point = count + exponent
        power = point - 1
        is_plain = -2 <= point <= 7
        if not is_plain:
            point = 1
        # Zeros fill the places before the first digit, and those between the last one and the point.
        for i in range(min(0, point - 1), max(count, point + 1)):
            if i == point:
                out[to] = 46
                to += 1
            out[to] = room[count - 1 - i] if 0 <= i < count else 48
            to += 1
        if not is_plain:
            out[to] = 69
            to += 1
            if power < 0:
                out[to] = 45
                to += 1
                power = -power
            to = _put_whole(out, to, power)
        stops[row] = to
    return stops


@njit()
def _put_whole(out, to, number):  # type: ignore[no-untyped-def]
    """Write a number below 1000."""
    if number >= 100:
        out[to] = 48 + number // 100
        to += 1
    if number >= 10:
        out[to] = 48 + number // 10 % 10
        to += 1
    out[to] = 48 + number % 10
    return to + 1
