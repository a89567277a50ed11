"""Timestamps as text."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import Numbers, nulls, raw
from australis.kernels.expressions.times import SECOND_US, clock
from australis.kernels.expressions.zones import DAY_S, zone


def timestamp_text(value: pa.Array, timezone: str) -> pa.Array:
    """Local times of a zone as text, with as many digits of the fraction as needed.

    >>> stamps = pa.array([0, 1_500_000], pa.timestamp("us", tz="UTC"))
    >>> timestamp_text(stamps, "Europe/Helsinki").to_pylist()
    ['1970-01-01 02:00:00', '1970-01-01 02:00:01.5']
    """
    shown = clock(raw(value), zone(timezone))
    micros = raw(value) % SECOND_US
    parts = [_dates(shown.day), _times_of_day().take(pa.array(shown.second))]
    if micros.any():
        parts.append(_fractions(micros))
    texts = pc.binary_join_element_wise(*parts, "")
    null = nulls(value)
    return texts if null is None else pc.if_else(pa.array(null), pa.scalar(None, pa.string()), texts)


def _dates(days: Numbers) -> pa.Array:
    """Days since 1970 as text; the tuples of a train lie on few days."""
    coded = pa.array(days).dictionary_encode()
    distinct = raw(coded.dictionary)
    first = distinct.astype("M8[D]").astype("M8[M]")
    month = first.astype(np.int64) + 1970 * 12
    day = distinct - first.astype("M8[D]").astype(np.int64) + 1
    texts = pc.binary_join_element_wise(years(month // 12), _two(month % 12 + 1), _two(day), "-")
    return texts.take(coded.indices)


def _two(numbers: Numbers) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 2, "0")


def years(years: Numbers) -> pa.Array:
    """Four digits, and a sign before 0 and after 9999."""
    size = pc.utf8_lpad(pa.array(np.abs(years)).cast(pa.string()), 4, "0")
    sign = pa.array(["-", "", "+"]).take(pa.array(np.where(years < 0, 0, np.where(years > 9999, 2, 1))))
    return pc.binary_join_element_wise(sign, size, "")


def _fractions(micros: Numbers) -> pa.Array:
    """A point and the microseconds without trailing zeros, or nothing."""
    digits = pc.utf8_slice_codeunits(pa.array(micros + SECOND_US).cast(pa.string()), 1)
    return pc.utf8_rtrim(pc.utf8_rtrim(pc.binary_join_element_wise(".", digits, ""), "0"), ".")


@lru_cache(maxsize=1)
def _times_of_day() -> pa.Array:
    """The text of every second of a day."""
    seconds = np.arange(DAY_S)
    return pc.binary_join_element_wise(
        " ", _two(seconds // 3600), ":", _two(seconds // 60 % 60), ":", _two(seconds % 60), ""
    )
