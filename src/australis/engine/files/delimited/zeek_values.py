"""The values of Zeek logs: epoch seconds, T and F, escaped characters, and the word for an empty text."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.types import TIMESTAMP
from australis.engine.files.texts import Converted, parse_value

_ESCAPED = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|(\\))")
_SECONDS = pa.decimal128(18, 6)
_MILLION = Decimal(1_000_000), pa.decimal128(7, 0)
"""A scalar of Arrow when it is needed: the first one that is made loads pandas."""
_EPOCH_MAX = Decimal(10) ** 12
"""Seconds that have more digits are no time that a timestamp can hold."""


def epoch_times(texts: pa.Array, timezone: str) -> Converted:
    """Times as seconds since 1970, with a fraction; digits after the microsecond are cut off.

    >>> epoch_times(pa.array(["1713484795.943239", "x", None]), "UTC").bad_rows
    (1,)
    """
    try:
        micros = pc.multiply(texts.cast(_SECONDS), pa.scalar(*_MILLION)).cast(pa.int64())
        return Converted(micros.cast(TIMESTAMP.arrow))
    except pa.ArrowInvalid:
        # Some are no such numbers, or have more digits: take each distinct text by itself.
        return _by_text(texts, TIMESTAMP.arrow, lambda text: _epoch_us(text, timezone))


def _epoch_us(text: str, timezone: str) -> object:
    """Microseconds since 1970; logs can also be configured to have ISO 8601."""
    try:
        seconds = Decimal(text.strip())
    except InvalidOperation:
        # It may be another way of writing a time.
        return parse_value(text, TIMESTAMP, timezone)
    if not seconds.is_finite() or abs(seconds) >= _EPOCH_MAX:
        raise ValueError(text)
    return int((seconds * 1_000_000).to_integral_value("ROUND_FLOOR"))


def truths(texts: pa.Array) -> pa.Array:
    """T and F as the texts true and false; others stay, and are refused later."""
    false = pc.if_else(pc.equal(texts, "F"), "false", texts)
    return pc.if_else(pc.equal(texts, "T"), "true", false)


def plain_texts(texts: pa.Array, empty: str) -> pa.Array:
    r"""Strings without their escapes, such as \x2d for a single dash; `empty` is the empty text.

    >>> plain_texts(pa.array(["a\\x09b", "(empty)", "x"]), "(empty)").to_pylist()
    ['a\tb', '', 'x']
    """
    found = pc.if_else(pc.equal(texts, empty), "", texts) if empty else texts
    if not pc.any(pc.match_substring(found, "\\")).as_py():
        return found
    return _by_text(found, pa.string(), _unescaped).column


def _unescaped(text: str) -> str:
    """The text without escapes; as it is if they stand for bytes that are no UTF-8."""
    try:
        return _ESCAPED.sub(_character, text.encode()).decode()
    except UnicodeDecodeError:
        # The log itself is UTF-8: its escapes tell more than a rejected row would.
        return text


def _character(match: re.Match[bytes]) -> bytes:
    return b"\\" if match[2] else bytes([int(match[1], 16)])


def _by_text(texts: pa.Array, type_: pa.DataType, convert: Callable[[str], object]) -> Converted:
    """Convert each distinct text once."""
    encoded = texts.dictionary_encode()
    values: list[object] = []
    bad = []
    for index, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(convert(text))
        except ValueError:
            # The caller reports the row.
            values.append(None)
            bad.append(index)
    column = pa.array(values, type_).take(encoded.indices)
    is_bad = np.isin(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), bad)
    return Converted(column, tuple(np.flatnonzero(is_bad).tolist()))
