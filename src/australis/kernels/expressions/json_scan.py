"""Compiled loops that find a value in JSON texts: bytes in, the places of values out.

A text must begin with a JSON value, as Spark reads it: strings may be in single quotes and have control
characters, and what follows the value does not matter. A place of -1 means that there is none.
"""

from __future__ import annotations

import numpy as np

from australis.kernels.compiled import njit
from australis.kernels.expressions.json_numbers import plain_stop

DEPTH_MAX = 1_000
"""How deep containers may be nested, and how many digits a number may have, before Spark refuses them."""
_QUOTE, _APOSTROPHE, _BACKSLASH = 34, 39, 92
_BRACE, _BRACKET, _COLON, _COMMA = 123, 91, 58, 44
_ESCAPED_U = 117
_TRUE, _FALSE, _NULL = tuple(b"true"), tuple(b"false"), tuple(b"null")


@njit(inline=True)
def blank(data, place, end):  # type: ignore[no-untyped-def]
    """The first place from `place` on that is no space, tab or line break."""
    while place < end and (data[place] == 32 or data[place] == 10 or data[place] == 13 or data[place] == 9):
        place += 1
    return place


@njit(inline=True)
def is_quote(sign):  # type: ignore[no-untyped-def]
    return sign in (_QUOTE, _APOSTROPHE)


@njit(inline=True)
def hex_digit(sign):  # type: ignore[no-untyped-def]
    """The value of a hexadecimal digit, or -1."""
    if 48 <= sign <= 57:
        return sign - 48
    if 97 <= sign <= 102:
        return sign - 87
    return sign - 55 if 65 <= sign <= 70 else -1


@njit(inline=True)
def string_end(data, place, end):  # type: ignore[no-untyped-def]
    """The place after the string whose quote is at a place."""
    quote = data[place]
    place += 1
    while place < end:
        sign = data[place]
        if sign == quote:
            return place + 1
        if sign == _BACKSLASH:
            place = _escape_end(data, place + 1, end)
            if place < 0:
                return -1
        else:
            place += 1
    return -1


@njit()
def _escape_end(data, place, end):  # type: ignore[no-untyped-def]
    """The place after the escape whose letter is at a place."""
    if place >= end:
        return -1
    sign = data[place]
    if sign == _ESCAPED_U:
        if place + 4 >= end:
            return -1
        for i in range(1, 5):
            if hex_digit(data[place + i]) < 0:
                return -1
        return place + 5
    # One of b t n f r " ' / and the backslash.
    known = sign in (98, 116, 110, 102, 114, _QUOTE, _APOSTROPHE, 47, _BACKSLASH)
    return place + 1 if known else -1


@njit(inline=True)
def _digits_end(data, place, end):  # type: ignore[no-untyped-def]
    while place < end and 48 <= data[place] <= 57:
        place += 1
    return place


@njit(inline=True)
def _number_end(data, place, end):  # type: ignore[no-untyped-def]
    """The place after a number; a whole part of 0 does not count among its digits."""
    first = place + 1 if data[place] == 45 else place
    place = _digits_end(data, first, end)
    if place == first or (data[first] == 48 and place > first + 1):
        return -1
    digits = 0 if data[first] == 48 else place - first
    if place < end and data[place] == 46:
        after = _digits_end(data, place + 1, end)
        if after == place + 1:
            return -1
        digits += after - place - 1
        place = after
    if place < end and (data[place] == 101 or data[place] == 69):
        power = place + 1
        if power < end and (data[power] == 43 or data[power] == 45):
            power += 1
        place = _digits_end(data, power, end)
        if place == power:
            return -1
        digits += place - power
    return place if digits <= DEPTH_MAX else -1


@njit()
def _word_end(data, place, end):  # type: ignore[no-untyped-def]
    """The place after true, false or null, if no letter or digit follows."""
    sign = data[place]
    if sign == 116 and _are(data, place, end, _TRUE):
        after = place + 4
    elif sign == 102 and _are(data, place, end, _FALSE):
        after = place + 5
    elif is_null(data, place, end):
        after = place + 4
    else:
        return -1
    if after < end:
        sign = data[after]
        if 48 <= sign <= 57 or 65 <= sign <= 90 or 97 <= sign <= 122 or sign == 95 or sign >= 127:
            return -1
    return after


@njit()
def is_null(data, place, end):  # type: ignore[no-untyped-def]
    """Whether the word null is at a place."""
    return _are(data, place, end, _NULL)


@njit(inline=True)
def _are(data, place, end, word):  # type: ignore[no-untyped-def]
    """Whether the bytes of a word are at a place."""
    if place + len(word) > end:
        return False
    for i in range(len(word)):
        if data[place + i] != word[i]:
            return False
    return True


@njit(inline=True)
def _scalar_end(data, place, end, is_root):  # type: ignore[no-untyped-def]
    sign = data[place]
    if is_quote(sign):
        return string_end(data, place, end)
    if not (sign == 45 or 48 <= sign <= 57):
        return _word_end(data, place, end)
    after = _number_end(data, place, end)
    if is_root and 0 <= after < end and blank(data, after, after + 1) == after:
        return -1
    return after


@njit(inline=True)
def _after_colon(data, place, end):  # type: ignore[no-untyped-def]
    """The place of a field's value, where the place is after its name."""
    place = blank(data, place, end)
    if place >= end or data[place] != _COLON:
        return -1
    return blank(data, place + 1, end)


@njit(inline=True)
def _after_name(data, place, end):  # type: ignore[no-untyped-def]
    """The place of a field's value, where the place is that of its name."""
    if place >= end or not is_quote(data[place]):
        return -1
    place = string_end(data, place, end)
    return -1 if place < 0 else _after_colon(data, place, end)


@njit()
def value_end(data, place, end, depth, open_signs):  # type: ignore[no-untyped-def]
    """The place after the value at a place, inside `depth` containers; `open_signs` is room for more."""
    outside = depth
    while True:
        if place >= end:
            return -1
        sign = data[place]
        if sign in (_BRACE, _BRACKET):
            depth += 1
            if depth > DEPTH_MAX:
                return -1
            open_signs[depth] = sign
            place = blank(data, place + 1, end)
            if place >= end:
                return -1
            # A closing bracket is two after its opening one in ASCII.
            if data[place] != sign + 2:
                if sign == _BRACE:
                    place = _after_name(data, place, end)
                    if place < 0:
                        return -1
                continue
            depth -= 1
            place += 1
        else:
            place = _scalar_end(data, place, end, depth == 0)
            if place < 0:
                return -1
        while depth > outside:
            place = blank(data, place, end)
            if place >= end:
                return -1
            if data[place] == open_signs[depth] + 2:
                depth -= 1
                place += 1
                continue
            if data[place] != _COMMA:
                return -1
            place = blank(data, place + 1, end)
            if open_signs[depth] == _BRACE:
                place = _after_name(data, place, end)
                if place < 0:
                    return -1
            break
        if depth == outside:
            return place


@njit()
def escape(data, place, end):  # type: ignore[no-untyped-def]
    """The code point of the escape whose backslash is at a place, and what follows it; pairs are joined."""
    sign = data[place + 1]
    if sign == _ESCAPED_U:
        code = _code(data, place + 2)
        follows = place + 11 < end and data[place + 6] == _BACKSLASH and data[place + 7] == _ESCAPED_U
        if 0xD800 <= code < 0xDC00 and follows:
            low = _code(data, place + 8)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, place + 12
        return code, place + 6
    if sign == 98:
        return 8, place + 2
    if sign == 116:
        return 9, place + 2
    if sign == 110:
        return 10, place + 2
    if sign == 102:
        return 12, place + 2
    if sign == 114:
        return 13, place + 2
    return np.int64(sign), place + 2


@njit()
def _code(data, place):  # type: ignore[no-untyped-def]
    """The number of four hexadecimal digits."""
    number = np.int64(0)
    for i in range(4):
        number = number * 16 + hex_digit(data[place + i])
    return number


@njit()
def put_code(out, to, code):  # type: ignore[no-untyped-def]
    """Write a code point as UTF-8; returns the place after it."""
    if code < 0x80:
        out[to] = code
        return to + 1
    if code < 0x800:
        out[to] = 0xC0 | code >> 6
        out[to + 1] = 0x80 | code & 0x3F
        return to + 2
    if code < 0x10000:
        out[to] = 0xE0 | code >> 12
        out[to + 1] = 0x80 | code >> 6 & 0x3F
        out[to + 2] = 0x80 | code & 0x3F
        return to + 3
    out[to] = 0xF0 | code >> 18
    out[to + 1] = 0x80 | code >> 12 & 0x3F
    out[to + 2] = 0x80 | code >> 6 & 0x3F
    out[to + 3] = 0x80 | code & 0x3F
    return to + 4


@njit()
def _is_name(data, place, stop, names, first, last, room):  # type: ignore[no-untyped-def]
    """Whether the string between two places is the name at names[first:last]."""
    while place < stop:
        width = 1
        if data[place] == _BACKSLASH:
            code, place = escape(data, place, stop)
            if 0xD800 <= code < 0xE000:
                return False
            width = put_code(room, 0, code)
        else:
            room[0] = data[place]
            place += 1
        for i in range(width):
            if first >= last or names[first] != room[i]:
                return False
            first += 1
    return first == last


@njit()
def _found(data, place, end, names, starts, stops, indexes, open_signs, counts, room):  # type: ignore[no-untyped-def]
    """Where the value lies to which a path leads: see `find_all`."""
    begin, stop, level = np.int64(-1), np.int64(-1), 0
    at_value, at_member = True, False
    place = blank(data, place, end)
    while True:
        if at_value:
            at_value = False
            if place >= end:
                return np.int64(-1), np.int64(-1)
            wanted = -1
            if level < len(indexes):
                wanted = _BRACE if indexes[level] < 0 else _BRACKET
            if data[place] == wanted:
                place = blank(data, place + 1, end)
                if place >= end:
                    return np.int64(-1), np.int64(-1)
                if data[place] == wanted + 2:
                    place += 1
                else:
                    counts[level] = 0
                    level += 1
                    at_member = True
            else:
                start = place
                place = value_end(data, place, end, level, open_signs)
                if place < 0:
                    return np.int64(-1), np.int64(-1)
                if level == len(indexes):
                    begin, stop = start, place
        elif at_member:
            at_member = False
            matches = bool(begin < 0)
            step = level - 1
            if indexes[step] < 0:
                if place >= end or not is_quote(data[place]):
                    return np.int64(-1), np.int64(-1)
                name = place + 1
                place = string_end(data, place, end)
                if place < 0:
                    return np.int64(-1), np.int64(-1)
                if matches:
                    matches = _is_name(data, name, place - 1, names, starts[step], stops[step], room)
                place = _after_colon(data, place, end)
                if place < 0:
                    return np.int64(-1), np.int64(-1)
                matches = matches and not is_null(data, place, end)
            else:
                matches = matches and bool(counts[step] == indexes[step])
                counts[step] += 1
            if matches:
                at_value = True
            else:
                place = value_end(data, place, end, level, open_signs)
                if place < 0:
                    return np.int64(-1), np.int64(-1)
        else:
            if level == 0:
                return begin, stop
            place = blank(data, place, end)
            if place >= end:
                return np.int64(-1), np.int64(-1)
            closing = 125 if indexes[level - 1] < 0 else 93
            if data[place] == closing:
                level -= 1
                place += 1
            elif data[place] == _COMMA:
                place = blank(data, place + 1, end)
                at_member = True
            else:
                return np.int64(-1), np.int64(-1)


@njit(inline=True)
def _narrowed(data, first, last):  # type: ignore[no-untyped-def]
    """The part of a text that is the result for the value between two places, and whether there is none."""
    sign = data[first]
    if is_quote(sign):
        for place in range(first + 1, last - 1):
            if data[place] == _BACKSLASH:
                return first, last, True
        return first + 1, last - 1, False
    if sign in (_BRACE, _BRACKET):
        return first, last, True
    if not (sign == 45 or 48 <= sign <= 57):
        return first, last, False
    stop = plain_stop(data, first, last)
    return first, last if stop < 0 else stop, stop < 0


@njit()
def find_all(data, begins, ends, names, starts, stops, indexes):  # type: ignore[no-untyped-def]
    """The first and last place of the result to which a path leads in each text, and which are to be written.

    A step of the path is an index, or -1 and a name at names[start:stop]. The whole value that a text begins
    with must be JSON. Of fields with one name, the first counts that leads to a value; a null leads nowhere.
    Where the result is no part of the text, because of escapes or blanks, the places are those of the value.
    """
    firsts, lasts = np.empty(len(begins), np.int64), np.empty(len(begins), np.int64)
    others = np.zeros(len(begins), np.bool_)
    open_signs = np.zeros(DEPTH_MAX + 2, np.uint8)
    counts = np.zeros(len(indexes) + 1, np.int64)
    room = np.zeros(4, np.uint8)
    for row in range(len(begins)):
        first, last = _found(
            data, begins[row], ends[row], names, starts, stops, indexes, open_signs, counts, room
        )
        if first >= 0:
            first, last, is_other = _narrowed(data, first, last)
            others[row] = is_other
        firsts[row], lasts[row] = first, last
    return firsts, lasts, others
