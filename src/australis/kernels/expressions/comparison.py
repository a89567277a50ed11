"""Comparisons, and what is built on them: IN, greatest, least, coalesce, nanvl.

Arrow compares doubles as IEEE 754 does. Here NaN equals NaN and is greater than every other double, so a
comparison that IEEE denies because a side is NaN is evaluated through its opposite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import CallSite, Datum, Implementation, is_scalar, length, spread


def equal(_: CallSite, left: Datum, right: Datum) -> pa.Array:
    same = pc.equal(left, right)
    if not _is_double(left) or _is_number(left) or _is_number(right):
        return same
    return pc.or_(same, pc.and_(pc.is_nan(left), pc.is_nan(right)))


def not_equal(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    return pc.invert(equal(site, left, right))


def less(_: CallSite, left: Datum, right: Datum) -> pa.Array:
    if not _is_double(left) or _is_number(right):
        return pc.less(left, right)
    # NaN on the right is above everything but NaN, which `>=` denies for every left side.
    below = pc.invert(pc.greater_equal(left, right))
    return below if _is_number(left) else pc.and_(below, pc.invert(pc.is_nan(left)))


def less_equal(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if not _is_double(left) or _is_number(right):
        return pc.less_equal(left, right)
    return pc.invert(less(site, right, left))


def greater(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    return less(site, right, left)


def greater_equal(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    return less_equal(site, right, left)


def equal_or_both_null(site: CallSite, left: Datum, right: Datum) -> pa.Array:
    if left.type == pa.null() or right.type == pa.null():
        return spread(pc.and_(pc.is_null(left), pc.is_null(right)), length(left, right))
    same = equal(site, left, right).fill_null(False)
    return pc.or_(same, pc.and_(pc.is_null(left), pc.is_null(right)))


def is_null(_: CallSite, value: Datum) -> pa.Array:
    return pc.is_null(value)


def is_nan(_: CallSite, value: Datum) -> pa.Array:
    return pc.is_nan(value).fill_null(False)


def nanvl(_: CallSite, value: Datum, instead: Datum) -> pa.Array:
    return pc.if_else(pc.is_nan(value), instead, value)


def is_in(site: CallSite, value: Datum, *members: Datum) -> pa.Array:
    """True if a member is equal; else NULL if either side of a comparison was NULL; else false."""
    if not is_scalar(value) and all(is_scalar(member) and _plain(member) for member in members):
        found = pc.is_in(value, value_set=pa.array([m.as_py() for m in members], value.type))
        return pc.if_else(pc.is_valid(value), found, pa.scalar(None, pa.bool_()))
    found = pa.scalar(False)
    for member in members:
        found = pc.or_kleene(found, equal(site, value, member))
    return spread(found, length(value, *members))


def coalesce(_: CallSite, *values: Datum) -> pa.Array:
    return pc.coalesce(*values)


def greatest(site: CallSite, *values: Datum) -> pa.Array:
    return _extreme(site, greater, values)


def least(site: CallSite, *values: Datum) -> pa.Array:
    return _extreme(site, less, values)


def _extreme(
    site: CallSite, better: Callable[[CallSite, Datum, Datum], pa.Array], values: tuple[Datum, ...]
) -> pa.Array:
    """The best of the values that are not NULL, from the left; only a better one replaces it."""
    rows = length(*values)
    best = spread(values[0], rows)
    for value in values[1:]:
        replace = pc.or_kleene(pc.is_null(best), better(site, value, best)).fill_null(False)
        best = pc.if_else(pc.and_(replace, pc.is_valid(value)), value, best)
    return best


def _is_double(datum: Datum) -> bool:
    return bool(datum.type == pa.float64())


def _is_number(datum: Datum) -> bool:
    """Whether a datum is one constant double that is not NaN."""
    return is_scalar(datum) and datum.is_valid and not np.isnan(datum.as_py())


def _plain(member: pa.Scalar) -> bool:
    """Whether Arrow's own set search is correct here: no NULLs, and no doubles, as 0.0 equals -0.0."""
    return bool(member.is_valid and member.type in (pa.int32(), pa.int64(), pa.string()))


FUNCTIONS: dict[str, Implementation] = {
    "=": equal,
    "<>": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
    "<=>": equal_or_both_null,
    "is_null": is_null,
    "isnan": is_nan,
    "nanvl": nanvl,
    "in": is_in,
    "coalesce": coalesce,
    "greatest": greatest,
    "least": least,
}
