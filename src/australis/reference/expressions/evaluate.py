"""The walk over a typed tree for one tuple."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from australis.algebra.expr import Attribute, Call, Case, Cast, Expr, Literal, UserCall, Value
from australis.algebra.user_functions import row_function
from australis.reference.expressions import (
    arrays_of_text,
    casts,
    comparison,
    hashes,
    json_access,
    numbers,
    regular,
    strings,
    time_formats,
    times,
)
from australis.reference.expressions.site import CallSite, Function

FUNCTIONS: dict[str, Function] = {
    **numbers.FUNCTIONS,
    **comparison.FUNCTIONS,
    **strings.FUNCTIONS,
    **regular.FUNCTIONS,
    **arrays_of_text.FUNCTIONS,
    **json_access.FUNCTIONS,
    **hashes.FUNCTIONS,
    **times.FUNCTIONS,
    **time_formats.FUNCTIONS,
}
"""Every function and operator of the typed tree by its name."""

SEES_NULLS = frozenset(
    {
        "and",
        "or",
        "is_null",
        "isnan",
        "<=>",
        "in",
        "coalesce",
        "greatest",
        "least",
        "nanvl",
        "size",
        "xxhash64",
    }
)
"""The functions that are not simply NULL when an argument is."""


def evaluate(expr: Expr, row: Mapping[str, Value], timezone: str = "UTC") -> Value:
    """The value of an expression for one tuple.

    >>> from australis.algebra.types import LONG
    >>> evaluate(Call("*", (Attribute("pos", LONG), Literal(2, LONG)), LONG), {"pos": 3})
    6
    """
    match expr:
        case Literal(value=value):
            return value
        case Attribute():
            return row[expr.column]
        case Call(function=function, args=args):
            values = [evaluate(arg, row, timezone) for arg in args]
            if function not in SEES_NULLS and None in values:
                return None
            return FUNCTIONS[function](_site(expr, args, timezone), *values)
        case Cast(arg=arg):
            return casts.cast(_site(expr, (arg,), timezone), evaluate(arg, row, timezone))
        case Case(branches=branches, otherwise=otherwise):
            for condition, branch in branches:
                if evaluate(condition, row, timezone) is True:
                    return evaluate(branch, row, timezone)
            return evaluate(otherwise, row, timezone)
        case UserCall():
            return _user_call(expr, row, timezone)


def _site(expr: Call | Cast, args: tuple[Expr, ...], timezone: str) -> CallSite:
    return CallSite(expr.type, tuple(arg.type for arg in args), timezone)


def _user_call(expr: UserCall, row: Mapping[str, Value], timezone: str) -> Value:
    """A registered function takes Arrow arrays, so it gets arrays of one value."""
    arrays = [pa.array([evaluate(arg, row, timezone)], arg.type.arrow) for arg in expr.args]
    return plain(row_function(expr.name).apply(arrays, 1))


def plain(single: pa.Array) -> Value:
    """The only value of an array; a timestamp is whole microseconds."""
    if pa.types.is_timestamp(single.type):
        single = single.cast(pa.int64())
    value: Value = single[0].as_py()
    return value
