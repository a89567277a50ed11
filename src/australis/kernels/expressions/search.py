"""Finding a string in another: tests, positions, replacing, splitting and LIKE.

A constant needle is searched by Arrow's own kernels, a column of needles by compiled loops over bytes: a
UTF-8 text occurs in another exactly where its bytes do.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.compiled import njit
from australis.kernels.expressions.arrays import (
    CallSite,
    Datum,
    Implementation,
    Numbers,
    arrow,
    either,
    is_scalar,
    length,
    nulls,
    raw,
    spread,
)
from australis.kernels.expressions.code_points import Texts, gather, points_before, strings_of, texts


def starts_with(_: CallSite, value: Datum, needle: Datum) -> pa.Array:
    if is_scalar(needle):
        return pc.starts_with(value, needle.as_py())
    held, sought = _both(value, needle)
    there = _same(held.data, held.starts, held.ends, sought.data, sought.starts, sought.ends)
    return arrow(there, pa.bool_(), nulls(value, needle))


def ends_with(_: CallSite, value: Datum, needle: Datum) -> pa.Array:
    if is_scalar(needle):
        return pc.ends_with(value, needle.as_py())
    held, sought = _both(value, needle)
    tails = np.maximum(held.ends - (sought.ends - sought.starts), held.starts)
    there = _same(held.data, tails, held.ends, sought.data, sought.starts, sought.ends)
    return arrow(there, pa.bool_(), nulls(value, needle))


def contains(_: CallSite, value: Datum, needle: Datum) -> pa.Array:
    if is_scalar(needle):
        return pc.match_substring(value, needle.as_py())
    return arrow(_first(value, needle) >= 0, pa.bool_(), nulls(value, needle))


def place(_: CallSite, value: Datum, needle: Datum) -> pa.Array:
    """The code point, counted from 1, at which the needle first occurs, else 0."""
    at = np.array(np.broadcast_to(_first(value, needle), (length(value, needle),)))
    if pc.all(pc.string_is_ascii(value)).as_py() is False:
        at = np.where(at < 0, at, points_before(texts(value, len(at)), at))
    return arrow(at + 1, pa.int32(), nulls(value, needle))


def replace(_: CallSite, value: Datum, old: Datum, new: Datum) -> pa.Array:
    rows = length(value, old, new)
    if is_scalar(old) and is_scalar(new):
        return pc.replace_substring(value, old.as_py(), new.as_py()) if old.as_py() else spread(value, rows)
    held, sought, put = texts(value, rows), texts(old, rows), texts(new, rows)
    sizes = _replaced_sizes(
        held.data, held.starts, held.ends, sought.data, sought.starts, sought.ends, put.starts, put.ends
    )
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    data = _replaced(
        held.data, held.starts, held.ends, sought.data, sought.starts, sought.ends,
        put.data, put.starts, put.ends, offsets,
    )  # fmt: skip
    return strings_of(data, offsets, nulls(value, old, new))


def split_part(_: CallSite, value: Datum, delimiter: Datum, part: Datum) -> pa.Array:
    """The part with that number, counted from 1, or from the last if negative; NULL for 0."""
    rows = length(value, delimiter, part)
    held, sought = texts(value, rows), texts(delimiter, rows)
    number = np.ascontiguousarray(np.broadcast_to(raw(part), (rows,)))
    starts, ends = _parts(held.data, held.starts, held.ends, sought.data, sought.starts, sought.ends, number)
    null = either(nulls(value, delimiter, part), number == 0)
    return gather(held.data, starts, ends, null)


def like(_: CallSite, value: pa.Array, pattern: Datum) -> pa.Array:
    wanted = pattern if is_scalar(pattern) else pattern[0]
    return _like(value, _pieces(wanted.as_py()))


def _like(value: pa.Array, pieces: list[str]) -> pa.Array:
    """LIKE; patterns with % only at their ends have faster kernels than a regular expression."""
    match pieces:
        case []:
            return pc.equal(value, "")
        case [text] if text[0] == "=":
            return pc.equal(value, text[1:])
        case ["%"]:
            return pc.equal(value, value)
        case [text, "%"] if text[0] == "=":
            return pc.starts_with(value, text[1:])
        case ["%", text] if text[0] == "=":
            return pc.ends_with(value, text[1:])
        case ["%", text, "%"] if text[0] == "=":
            return pc.match_substring(value, text[1:])
    wild = {"%": ".*", "_": "."}
    body = "".join(wild.get(piece) or re.escape(piece[1:]) for piece in pieces)
    return pc.match_substring_regex(value, rf"(?s)\A{body}\z")


def _pieces(pattern: str) -> list[str]:
    r"""A pattern as its wildcards and, marked with =, the texts between them.

    >>> _pieces(r"a\%b%_")
    ['=a%b', '%', '_']
    """
    pieces: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if character in "%_":
            pieces.append(character)
            continue
        plain = next(characters, "") if character == "\\" else character
        if pieces and pieces[-1][0] == "=":
            pieces[-1] += plain
        else:
            pieces.append("=" + plain)
    return pieces


def _both(value: Datum, needle: Datum) -> tuple[Texts, Texts]:
    rows = length(value, needle)
    return texts(value, rows), texts(needle, rows)


def _first(value: Datum, needle: Datum) -> Numbers:
    """The byte at which the needle first occurs in each value, counted from the value's start, else -1."""
    if is_scalar(needle):
        return raw(pc.find_substring(value, needle.as_py())).astype(np.int64)
    held, sought = _both(value, needle)
    found: Numbers = _found(held.data, held.starts, held.ends, sought.data, sought.starts, sought.ends)
    return found


@njit()
def _is_at(data, place, end, sought, start, stop):  # type: ignore[no-untyped-def]
    """Whether the bytes sought[start:stop] are at a place, before the end."""
    if place + stop - start > end:
        return False
    for i in range(stop - start):
        if data[place + i] != sought[start + i]:
            return False
    return True


@njit()
def _find(data, place, end, sought, start, stop):  # type: ignore[no-untyped-def]
    """The first place from `place` on at which sought[start:stop] is found, else -1."""
    for i in range(place, end - (stop - start) + 1):
        if _is_at(data, i, end, sought, start, stop):
            return i
    return -1


@njit()
def _same(data, starts, ends, sought, begins, stops):  # type: ignore[no-untyped-def]
    there = np.empty(len(starts), np.bool_)
    for row in range(len(starts)):
        there[row] = _is_at(data, starts[row], ends[row], sought, begins[row], stops[row])
    return there


@njit()
def _found(data, starts, ends, sought, begins, stops):  # type: ignore[no-untyped-def]
    found = np.empty(len(starts), np.int64)
    for row in range(len(starts)):
        at = _find(data, starts[row], ends[row], sought, begins[row], stops[row])
        found[row] = at - starts[row] if at >= 0 else -1
    return found


@njit()
def _replaced_sizes(data, starts, ends, sought, begins, stops, put_starts, put_ends):  # type: ignore[no-untyped-def]
    sizes = np.empty(len(starts), np.int64)
    for row in range(len(starts)):
        size = ends[row] - starts[row]
        width = stops[row] - begins[row]
        at = _find(data, starts[row], ends[row], sought, begins[row], stops[row]) if width else -1
        while at >= 0:
            size += put_ends[row] - put_starts[row] - width
            at = _find(data, at + width, ends[row], sought, begins[row], stops[row])
        sizes[row] = size
    return sizes


@njit()
def _replaced(data, starts, ends, sought, begins, stops, put, put_starts, put_ends, offsets):  # type: ignore[no-untyped-def]
    out = np.empty(offsets[-1], np.uint8)
    for row in range(len(starts)):
        place, to = starts[row], offsets[row]
        width, grown = stops[row] - begins[row], put_ends[row] - put_starts[row]
        at = _find(data, place, ends[row], sought, begins[row], stops[row]) if width else -1
        while at >= 0:
            out[to : to + at - place] = data[place:at]
            to += at - place
            out[to : to + grown] = put[put_starts[row] : put_ends[row]]
            to += grown
            place = at + width
            at = _find(data, place, ends[row], sought, begins[row], stops[row])
        out[to : to + ends[row] - place] = data[place : ends[row]]
    return out


@njit()
def _parts(data, starts, ends, sought, begins, stops, numbers):  # type: ignore[no-untyped-def]
    """Where the part of each row lies; an empty range if it has no part of that number."""
    first, last = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    for row in range(len(starts)):
        width = stops[row] - begins[row]
        number = numbers[row]
        if number < 0:
            number += 1 + _count(data, starts[row], ends[row], sought, begins[row], stops[row]) + 1
        place, here = starts[row], 1
        at = _find(data, place, ends[row], sought, begins[row], stops[row]) if width else -1
        while at >= 0 and here < number:
            place, here = at + width, here + 1
            at = _find(data, place, ends[row], sought, begins[row], stops[row])
        exists = here == number
        first[row] = place if exists else ends[row]
        last[row] = at if exists and at >= 0 else ends[row]
    return first, last


@njit()
def _count(data, start, end, sought, begin, stop):  # type: ignore[no-untyped-def]
    """How often sought[begin:stop] occurs without overlap."""
    if stop == begin:
        return 0
    count, at = 0, _find(data, start, end, sought, begin, stop)
    while at >= 0:
        count, at = count + 1, _find(data, at + stop - begin, end, sought, begin, stop)
    return count


FUNCTIONS: dict[str, Implementation] = {
    "startswith": starts_with,
    "endswith": ends_with,
    "contains": contains,
    "instr": place,
    "replace": replace,
    "split_part": split_part,
    "like": like,
}
