"""Three-valued logic."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.expressions.arrays import CallSite, Datum, Implementation, is_scalar


def and_(_: CallSite, first: Datum, *rest: Datum) -> Datum:
    for other in rest:
        first = pc.and_kleene(first, other)
    return first


def or_(_: CallSite, first: Datum, *rest: Datum) -> Datum:
    for other in rest:
        first = pc.or_kleene(first, other)
    return first


def not_(_: CallSite, value: Datum) -> Datum:
    return pc.invert(value)


def certain(condition: Datum) -> Datum:
    """A condition that holds only where it is true, not where it is NULL."""
    if is_scalar(condition):
        return pa.scalar(bool(condition.as_py()))
    return condition.fill_null(False) if condition.null_count else condition


FUNCTIONS: dict[str, Implementation] = {"and": and_, "or": or_, "not": not_}
