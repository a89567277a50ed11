"""The evaluation of a typed tree: every node becomes an array, or a scalar if it is the same in all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.algebra.expr import Attribute, Call, Case, Cast, Expr, Literal, UserCall
from australis.algebra.user_functions import row_function
from australis.errors import AlgebraError, Problem
from australis.kernels.expressions import (
    arithmetic,
    arrays_of_text,
    casts,
    comparison,
    digests,
    hashes,
    json_access,
    logic,
    mathematics,
    regular,
    search,
    strings,
    time_formats,
    times,
)
from australis.kernels.expressions.arrays import CallSite, Datum, Implementation, is_scalar, spread

FUNCTIONS: dict[str, Implementation] = {
    **arithmetic.FUNCTIONS,
    **comparison.FUNCTIONS,
    **logic.FUNCTIONS,
    **mathematics.FUNCTIONS,
    **strings.FUNCTIONS,
    **search.FUNCTIONS,
    **regular.FUNCTIONS,
    **arrays_of_text.FUNCTIONS,
    **json_access.FUNCTIONS,
    **hashes.FUNCTIONS,
    **digests.FUNCTIONS,
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

Table: TypeAlias = pa.Table | pa.RecordBatch


def evaluate(expr: Expr, table: Table, timezone: str = "UTC") -> pa.Array:
    """The value of an expression for every row of a table, as one array of the expression's Arrow type.

    >>> from australis.algebra.types import LONG
    >>> twice = Call("*", (Attribute("pos", LONG), Literal(2, LONG)), LONG)
    >>> evaluate(twice, pa.table({"pos": [1, None, 3]})).to_pylist()
    [2, None, 6]
    """
    # Doubles have infinities and NaNs on purpose, and the value under a NULL is arbitrary.
    with np.errstate(all="ignore"):
        return spread(_value(expr, table, timezone), table.num_rows)


def evaluate_all(exprs: Sequence[Expr], table: Table, timezone: str = "UTC") -> list[pa.Array]:
    """The values of several expressions over one table, whose chunks are combined only once."""
    if isinstance(table, pa.Table):
        table = table.combine_chunks()
    return [evaluate(expr, table, timezone) for expr in exprs]


def _value(expr: Expr, table: Table, timezone: str) -> Datum:
    match expr:
        case Literal(value=value, type=type):
            return pa.scalar(value, type.arrow)
        case Attribute():
            return _column(expr, table)
        case Call(function=function, args=args, type=type):
            return _call(function, [_value(arg, table, timezone) for arg in args], CallSite(type, timezone))
        case Cast(arg=arg, type=type):
            return _apply(casts.cast, [_value(arg, table, timezone)], CallSite(type, timezone))
        case Case():
            return _case(expr, table, timezone)
        case UserCall():
            return _user_call(expr, table, timezone)


def _column(attribute: Attribute, table: Table) -> pa.Array:
    index = table.schema.get_field_index(attribute.column)
    if index < 0:
        names = ", ".join(table.schema.names)
        raise AlgebraError(Problem("", f"no column {attribute.column!r}", f"one of {names}"))
    column = table.column(index)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column if column.type == attribute.type.arrow else column.cast(attribute.type.arrow)


def _call(function: str, args: list[Datum], site: CallSite) -> Datum:
    if function not in SEES_NULLS and any(is_scalar(arg) and not arg.is_valid for arg in args):
        return pa.scalar(None, site.type.arrow)
    return _apply(FUNCTIONS[function], args, site)


def _apply(implementation: Implementation, args: list[Datum], site: CallSite) -> Datum:
    """Apply an implementation, which needs an array among its arguments; constants become one row."""
    if all(map(is_scalar, args)):
        return implementation(site, *(spread(arg, 1) for arg in args))[0]
    return implementation(site, *args)


def _case(expr: Case, table: Table, timezone: str) -> Datum:
    """The branches from the last to the first, each overriding those after it."""
    value = _value(expr.otherwise, table, timezone)
    for condition, branch in reversed(expr.branches):
        value = pc.if_else(
            logic.certain(_value(condition, table, timezone)), _value(branch, table, timezone), value
        )
    return value


def _user_call(expr: UserCall, table: Table, timezone: str) -> pa.Array:
    arrays = [spread(_value(arg, table, timezone), table.num_rows) for arg in expr.args]
    return row_function(expr.name).apply(arrays, table.num_rows)
