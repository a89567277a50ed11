"""Timestamps as text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import Numbers, nulls, raw
from australis.kernels.expressions.times import SECOND_US, clock
from australis.kernels.expressions.zones import zone


def timestamp_text(value: pa.Array, timezone: str) -> pa.Array:
    """What the clocks of a zone show, with as many parts of seconds as there are.

    >>> stamps = pa.array([0, 1_500_000], pa.timestamp("us", tz="UTC"))
    >>> timestamp_text(stamps, "Europe/Helsinki").to_pylist()
    ['1970-01-01 02:00:00', '1970-01-01 02:00:01.5']
    """
    shown = clock(raw(value), zone(timezone))
    month = shown.month
    first = shown.day.astype("M8[D]").astype("M8[M]").astype("M8[D]").astype(np.int64)
    texts = pc.binary_join_element_wise(
        _year(month // 12),
        "-", _two(month % 12 + 1), "-", _two(shown.day - first + 1),
        " ", _two(shown.second // 3600), ":", _two(shown.second // 60 % 60), ":", _two(shown.second % 60),
        _fraction(raw(value) % SECOND_US), "",
    )  # fmt: skip
    null = nulls(value)
    return texts if null is None else pc.if_else(pa.array(null), pa.scalar(None, pa.string()), texts)


def _two(numbers: Numbers) -> pa.Array:
    return _TWO.take(pa.array(numbers))


def _year(years: Numbers) -> pa.Array:
    """Four digits, and a sign before 0 and after 9999."""
    size = pc.utf8_lpad(pa.array(np.abs(years)).cast(pa.string()), 4, "0")
    sign = pa.array(["-", "", "+"]).take(pa.array(np.where(years < 0, 0, np.where(years > 9999, 2, 1))))
    return pc.binary_join_element_wise(sign, size, "")


def _fraction(micros: Numbers) -> pa.Array:
    """A point and the microseconds without the zeros at their end, or nothing."""
    if not micros.any():
        return pa.repeat("", len(micros))
    digits = pc.utf8_rtrim(pc.utf8_lpad(pa.array(micros).cast(pa.string()), 6, "0"), "0")
    return pc.if_else(pc.equal(digits, ""), "", pc.binary_join_element_wise(".", digits, ""))


_TWO = pa.array([f"{number:02}" for number in range(60)])
