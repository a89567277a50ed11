"""The window functions and how their calls are typed: `sum(pos)`, `count(*)`, `percentile(pos, 0.9)`.

They are called by the boxes that have windows (Aggregate, Tumble, Resample), over any row expression. NULLs
are ignored except by count(*), first and last.
"""

from __future__ import annotations

from dataclasses import dataclass

from australis.algebra.expr.binding import (
    Args,
    Mismatch,
    Rule,
    Signature,
    bounded,
    cast_refused,
    check_count,
    convert,
    literal_int,
    meeting_of,
    numbers,
    takes,
)
from australis.algebra.expr.text import text_of
from australis.algebra.expr.tree import Expr, Literal
from australis.algebra.types import DOUBLE, LONG, NULL, STRING, TEXTS, DataType

ACCURACY = 0.01
"""The relative error of `percentile_sketch` where none is given."""
LIST_MOST = 1_000
"""How many values `collect_list` and `collect_set` may show."""
SORT_KEYS_MOST = 3
"""How many keys `first` and `last` may have."""


@dataclass(frozen=True)
class WindowCall:
    """A window function over typed arguments, by its name in `WINDOW_FUNCTIONS` or as `module:function`."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool = True
    parameters: tuple[float, ...] = ()
    """Numbers that are the same for all tuples, such as the share of a percentile.

    Those of `first_ordered` and `last_ordered` say of each key whether it descends.
    """
    where: Expr | None = None
    """FILTER (WHERE ...): the call sees only the tuples on which this holds."""

    @property
    def is_user(self) -> bool:
        """Whether it is a registered aggregate."""
        return ":" in self.function

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """The expressions that are evaluated on each tuple: the arguments, then the filter."""
        return self.args if self.where is None else (*self.args, self.where)


def typed(
    function: str, rule: Rule, args: Args, where: Expr | None, descending: tuple[bool, ...] = ()
) -> WindowCall:
    """The call of a function; raises `Mismatch` if its arguments do not fit.

    `descending` are the directions of the keys that follow the first argument of `first` and `last`.
    """
    signature = rule(args)
    first = PARAMETERS.get(function, len(signature.args))
    literals = [arg.value for arg in signature.args[first:] if isinstance(arg, Literal)]
    parameters = tuple(float(value) for value in (*literals, *descending) if value is not None)
    return WindowCall(function, signature.args[:first], signature.type, signature.nullable, parameters, where)


def _count(args: Args) -> Signature:
    check_count(args, 0, 1)
    return Signature(meeting_of(args), LONG, False)


def _count_distinct(args: Args) -> Signature:
    check_count(args, 1, 1)
    return Signature(meeting_of(args), LONG, False)


def _sum(args: Args) -> Signature:
    check_count(args, 1, 1)
    found = numbers(args)
    if found.is_decimal:
        return Signature(args, bounded(found.precision + 10, found.scale), True)
    type_ = LONG if found.is_integral else DOUBLE
    return Signature((convert(args[0], type_),), type_, True)


def _avg(args: Args) -> Signature:
    check_count(args, 1, 1)
    found = numbers(args)
    if found.is_decimal:
        return Signature(args, bounded(found.precision + 4, found.scale + 4), True)
    return Signature((convert(args[0], DOUBLE),), DOUBLE, True)


def _same(args: Args) -> Signature:
    check_count(args, 1, 1)
    met = meeting_of(args)
    return Signature(met, met[0].type, True)


def _by(args: Args) -> Signature:
    check_count(args, 2, 2)
    return _ordered(args)


def _ordered(args: Args) -> Signature:
    """A value, and the keys by which its tuple is chosen; each key has a type of its own."""
    value, *keys = (_alone(args, index) for index in range(len(args)))
    return Signature((value, *keys), value.type, True)


def _alone(args: Args, index: int) -> Expr:
    """An argument whose type need not fit those of the others."""
    try:
        return meeting_of(args[index : index + 1])[0]
    except Mismatch as mismatch:
        raise Mismatch(index, mismatch.what, mismatch.expected) from None


def _collected(args: Args) -> Signature:
    """A string, and how many of them there may be; the array may be empty, but is never NULL."""
    if len(args) != 2:
        raise Mismatch(
            None, f"{len(args)} arguments", "a string and the most that are kept, as in (name, 10)"
        )
    if args[0].type not in (STRING, NULL):
        instead = cast_refused(args[0].type, STRING) or f"CAST({text_of(args[0])} AS string)"
        raise Mismatch(0, f"{args[0].type} instead of string", f"a string: {instead}")
    literal_int(args, 1, range(1, LIST_MOST + 1))
    return Signature((convert(args[0], STRING), args[1]), TEXTS, False)


def _percentile(args: Args) -> Signature:
    check_count(args, 2, 2)
    _check_number(args, 1, 0.0, 1.0)
    return Signature((*_NUMBER(args[:1]).args, args[1]), DOUBLE, True)


def _percentile_sketch(args: Args) -> Signature:
    check_count(args, 2, 3)
    _check_number(args, 1, 0.0, 1.0)
    if len(args) > 2:
        _check_number(args, 2, 0.0001, 0.25)
    accuracy = args[2:] or (Literal(ACCURACY, DOUBLE),)
    return Signature((*_NUMBER(args[:1]).args, args[1], *accuracy), DOUBLE, True)


def _check_number(args: Args, index: int, least: float, most: float) -> None:
    """Refuse an argument that is no literal number in a range."""
    arg = args[index]
    value = arg.value if isinstance(arg, Literal) and arg.type.is_numeric else None
    if value is None or not least <= float(value) <= most:
        raise Mismatch(index, "not a literal in the allowed range", f"a number from {least:g} to {most:g}")


_NUMBER = takes(DOUBLE, returns=DOUBLE, may_be_null=True)

WINDOW_FUNCTIONS: dict[str, Rule] = {
    "count": _count,
    "count_distinct": _count_distinct,
    "approx_count_distinct": _count_distinct,
    "sum": _sum,
    "avg": _avg,
    "min": _same,
    "max": _same,
    "min_by": _by,
    "max_by": _by,
    "first": _same,
    "last": _same,
    "first_ordered": _ordered,
    "last_ordered": _ordered,
    "collect_list": _collected,
    "collect_set": _collected,
    "stddev": _NUMBER,
    "stddev_pop": _NUMBER,
    "variance": _NUMBER,
    "var_samp": _NUMBER,
    "var_pop": _NUMBER,
    "corr": takes(DOUBLE, DOUBLE, returns=DOUBLE, may_be_null=True),
    "median": _NUMBER,
    "percentile": _percentile,
    "percentile_sketch": _percentile_sketch,
}
"""Every window function, with the rule that types it."""

WRITTEN = {
    "count_distinct": "count(DISTINCT x)",
    "first_ordered": "first(x ORDER BY y)",
    "last_ordered": "last(x ORDER BY y)",
}
"""How the functions are written that have a syntax of their own."""

PARAMETERS = {"percentile": 1, "percentile_sketch": 1, "collect_list": 1, "collect_set": 1}
"""Where the literals of a function begin among its arguments."""

INTERPOLATIONS: dict[str, Rule] = {"linear": _NUMBER, "nearest": _same, "last_value": _same}
"""Functions that only Resample has: the value at a time between tuples."""

_LISTED = ", ".join(WRITTEN.get(name, name) for name in WINDOW_FUNCTIONS)
KNOWN = f"one of {_LISTED}, or a registered `module:function`"
"""What may be called, for messages."""
