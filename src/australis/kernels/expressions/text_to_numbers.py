"""Text to numbers and booleans, NULL where a text is neither.

A regular expression decides which texts are valid; those are rewritten into a form that Arrow reads
correctly.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import Numbers, arrow, either, nulls, raw
from australis.kernels.expressions.code_points import gather, texts
from australis.kernels.expressions.fixed_point import decimals as decimals_of
from australis.kernels.expressions.fixed_point import rescaled, roomy, unscaled

_SHORT_WHOLE = r"\A-?\d{1,18}\z"
_SHORT_DECIMAL = r"\A-?\d{1,18}(\.\d{1,18})?\z"
_WHOLE = r"\A(?P<sign>[+-]?)(?:0*(?P<digits>[1-9]\d*)(?:\.\d*)?|0+(?:\.\d*)?|\.\d*)\z"
_DOUBLE = r"\A[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\z"
_HEXADECIMAL = r"\A[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+\z"
_DECIMAL = (
    r"\A(?P<sign>[+-]?)(?:(?P<whole>\d+)(?:\.(?P<part>\d*))?|\.(?P<fraction>\d+))"
    r"(?:[eE](?P<power>[+-]?)0*(?P<exponent>\d{1,10}))?\z"
)
_NAMED = {
    "inf": np.inf,
    "+inf": np.inf,
    "infinity": np.inf,
    "+infinity": np.inf,
    "-inf": -np.inf,
    "-infinity": -np.inf,
}
# Arrays are made only where they are used: with the first one of a process, pyarrow loads pandas.
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
BLANKS = "".join(map(chr, range(33)))
CONTROLS = BLANKS + "\x7f"
_DIGITS_MAX = 38


def integers(value: pa.Array, type: pa.DataType) -> pa.Array:
    """Whole numbers with an optional sign and a fraction, which is truncated."""
    if pc.all(pc.match_substring_regex(value, _SHORT_WHOLE)).as_py() is not False:
        return _within(value.cast(pa.int64()), type)
    parts = pc.extract_regex(pc.utf8_trim(value, CONTROLS), _WHOLE)
    digits = pc.if_else(pc.equal(parts.field("digits"), ""), "0", parts.field("digits"))
    # Twenty digits never fit; fewer are read as a decimal, which shows what fits.
    sized = pc.if_else(pc.less(pc.binary_length(digits), 20), digits, pa.scalar(None, pa.string()))
    size = unscaled(sized.cast(pa.decimal128(19, 0))).astype(object)
    negative = raw(pc.equal(parts.field("sign"), "-").cast(pa.int32())).astype(bool)
    number = np.where(negative, -size, size)
    wrong = (number > 2**63 - 1) | (number < -(2**63))
    longs = np.where(wrong, 0, number).astype(np.int64)
    return _within(arrow(longs, pa.int64(), either(nulls(parts, sized), wrong.astype(bool))), type)


def doubles(value: pa.Array) -> pa.Array:
    """Decimal and hexadecimal numbers with an optional suffix d or f, infinities and NaN."""
    common = _common_doubles(value)
    if common is not None:
        return common
    trimmed = pc.utf8_trim(value, BLANKS)
    bare = pc.replace_substring_regex(trimmed, r"[dDfF]\z", "")
    plain = pc.match_substring_regex(bare, _DOUBLE)
    read = pc.if_else(plain, bare, pa.scalar(None, pa.string())).cast(pa.float64())
    if pc.all(plain).as_py() is not False:
        return read
    return pc.coalesce(read, _named(trimmed), _hexadecimal(bare))


def decimals(value: pa.Array, type: pa.DataType) -> pa.Array:
    """Numbers with an optional exponent, rounded half up to the scale of the type."""
    if pc.all(pc.match_substring_regex(value, _SHORT_DECIMAL)).as_py() is not False:
        return _common_decimals(value, type)
    parts = pc.extract_regex(pc.utf8_trim(_ascii_digits(value), BLANKS), _DECIMAL)
    fraction = pc.binary_join_element_wise(parts.field("part"), parts.field("fraction"), "")
    written = pc.binary_join_element_wise(parts.field("whole"), fraction, "")
    digits = pc.utf8_ltrim(written, "0")
    exponent = _exponent(parts) - _sizes(fraction)
    kept = _sizes(digits) + np.clip(exponent + type.scale, -10_000, 10_000)
    wrong = (np.abs(exponent) > 2**31 - 1) | ((kept > _DIGITS_MAX) & (_sizes(digits) > 0))
    size = _rounded(digits, np.where(wrong | (_sizes(digits) == 0), 0, kept))
    negative = raw(pc.equal(parts.field("sign"), "-").cast(pa.int32())).astype(bool)
    return decimals_of(np.where(negative, -size, size), type, either(nulls(parts), wrong))


def _common_doubles(value: pa.Array) -> pa.Array | None:
    """Arrow's result, which is much faster, if it reads all texts as finite: its special names differ."""
    try:
        read = value.cast(pa.float64())
    except pa.ArrowInvalid:
        # The slower way reads them.
        return None
    return read if np.isfinite(raw(read)).all() else None


def _common_decimals(value: pa.Array, type: pa.DataType) -> pa.Array:
    """Short decimals without an exponent, which Arrow reads exactly at the scale of the longest fraction."""
    point = raw(pc.find_substring(value, "."))
    decimals_found = np.where(point < 0, 0, _sizes(value) - point - 1)
    scale = int(decimals_found.max(initial=0))
    read = value.cast(pa.decimal128(38, scale))
    return decimals_of(rescaled(unscaled(read), scale, type.scale), type, nulls(value))


def truths(value: pa.Array) -> pa.Array:
    """t, true, y, yes, 1 and their opposites, in any case."""
    word = pc.ascii_lower(pc.utf8_trim(value, CONTROLS))
    true, false = (pc.is_in(word, value_set=pa.array(words)) for words in (_TRUE, _FALSE))
    return pc.if_else(pc.or_(true, false), true, pa.scalar(None, pa.bool_()))


def _within(longs: pa.Array, type: pa.DataType) -> pa.Array:
    if type == pa.int64():
        return longs
    values = raw(longs)
    short = values.astype(np.int32)
    return arrow(short, type, either(nulls(longs), short != values))


def _named(trimmed: pa.Array) -> pa.Array:
    """Infinities in any case, and NaN, which has a sign only if written in Java's way."""
    word = pc.ascii_lower(trimmed)
    place = pc.index_in(word, value_set=pa.array(_NAMED))
    infinite = pa.array(list(_NAMED.values())).take(place)
    nan = pc.or_(pc.equal(word, "nan"), pc.is_in(trimmed, value_set=pa.array(["+NaN", "-NaN"])))
    return pc.if_else(nan, np.nan, infinite)


def _hexadecimal(bare: pa.Array) -> pa.Array:
    """Hexadecimal doubles: Arrow reads none, so Python reads the distinct ones, which are rare."""
    fits = pc.match_substring_regex(bare, _HEXADECIMAL)
    coded = pc.if_else(fits, bare, pa.scalar(None, pa.string())).dictionary_encode()
    read = pa.array([_from_hexadecimal(text) for text in coded.dictionary.to_pylist()], pa.float64())
    return read.take(coded.indices)


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        # Too large for a double, as in Java.
        return -np.inf if text.startswith("-") else np.inf


def _ascii_digits(value: pa.Array) -> pa.Array:
    """The texts with digits of other scripts converted to ASCII, by Python, as Arrow does not know them."""
    plain = pc.string_is_ascii(value)
    if pc.all(plain).as_py() is not False:
        return value
    coded = pc.if_else(plain, pa.scalar(None, pa.string()), value).dictionary_encode()
    made = [
        "".join(str(int(c)) if c.isdecimal() else c for c in text) for text in coded.dictionary.to_pylist()
    ]
    return pc.coalesce(pa.array(made, pa.string()).take(coded.indices), value)


def _exponent(parts: pa.Array) -> Numbers:
    digits = parts.field("exponent")
    size = raw(pc.if_else(pc.equal(digits, ""), "0", digits).cast(pa.int64()))
    return np.where(raw(pc.equal(parts.field("power"), "-").cast(pa.int32())) != 0, -size, size)


def _rounded(digits: pa.Array, kept: Numbers) -> Numbers:
    """The first digits of each text as a number: padded with zeros if there are fewer, rounded if more."""
    held = texts(digits, len(digits))
    sizes = held.ends - held.starts
    cut = np.clip(kept, 0, sizes)
    whole = gather(held.data, held.starts, held.starts + cut, None)
    zeros = pc.binary_repeat("0", pa.array(np.clip(kept - sizes, 0, _DIGITS_MAX)))
    number = unscaled(pc.binary_join_element_wise("0", whole, zeros, "").cast(pa.decimal128(38, 0)))
    follows = np.append(held.data, np.uint8(0))[held.starts + cut]
    up = (kept >= 0) & (cut < sizes) & (follows >= ord("5"))
    return roomy(number, 10**_DIGITS_MAX if number.dtype == object else 0) + up


def _sizes(strings: pa.Array) -> Numbers:
    return raw(pc.binary_length(strings)).astype(np.int64)
