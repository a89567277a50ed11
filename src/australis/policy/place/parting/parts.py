"""Window functions in parts: what two copies compute, and how their results combine (Aurora* 5.1).

agg({x1, ..., xn}) = combine(agg({x1, ..., xk}), agg({xk+1, ..., xn})): for count it is sum, for sum, min and
max it is the function itself, and avg is a sum divided by a count. First, last, median, stddev and distinct
counts cannot be combined from parts, and a user's function has no box that would combine its states.
"""

from __future__ import annotations

from dataclasses import dataclass

from australis.algebra.boxes import NamedTexts
from australis.algebra.expr import Attribute, Cast, Expr, WindowCall, WindowFunctions, text_of
from australis.algebra.types import DOUBLE, LONG, DataType
from australis.errors import PolicyError, Problem

_DIGITS_MOST = 18
"""The most digits of a decimal whose sum of sums still has a type: each sum adds ten digits, up to 38."""


@dataclass(frozen=True)
class Parted:
    """Functions of the copies, of the box that combines, and of the Map that computes the results."""

    copies: NamedTexts
    combined: NamedTexts
    shown: NamedTexts


def parted(functions: NamedTexts, bound: WindowFunctions, *, rounding: bool) -> Parted:
    """All functions of a box in parts; refuses the first one that cannot be split.

    `rounding`: whether doubles may differ in the last digits, since they are added in another order.
    """
    taken = {name for name, _ in functions}
    found = [_parted(name, text, bound.call(name), taken, rounding=rounding) for name, text in functions]
    return Parted(
        tuple(pair for each in found for pair in each.copies),
        tuple(pair for each in found for pair in each.combined),
        tuple(pair for each in found for pair in each.shown),
    )


def _parted(name: str, text: str, call: WindowCall | None, taken: set[str], *, rounding: bool) -> Parted:
    if call is None:
        what = f"{text} is computed from the results of window functions"
        raise PolicyError(Problem(f"functions.{name}", what, "the functions alone, and a Map after the box"))
    if not rounding and call.function in ("sum", "avg", "min", "max") and not _is_exact(call):
        what = f"{text} adds or compares doubles: in parts it may differ in the last digit"
        raise PolicyError(
            Problem(f"functions.{name}", what, "whole numbers, or permission to round (rounding)")
        )
    match call.function:
        case "count":
            return _alike(name, text, "sum", f"coalesce({_read(name, LONG)}, 0L)")
        case "min" | "max" as function:
            return _alike(name, text, function, _read(name, call.type))
        case "sum" if not call.type.is_decimal:
            return _alike(name, text, "sum", _read(name, call.type))
        case "sum" if call.args[0].type.precision <= _DIGITS_MOST:
            return _alike(name, text, "sum", f"CAST({_read(name, call.type)} AS {call.type})")
        case "avg" if not call.type.is_decimal and call.where is None:
            return _average(name, call, taken)
    what = f"{text} cannot be computed in parts"
    expected = "count, sum, min or max, avg of whole numbers; or a predicate that keeps groups whole"
    raise PolicyError(Problem(f"functions.{name}", what, expected))


def _is_exact(call: WindowCall) -> bool:
    """Whether parts give exactly the result of the whole; not with doubles, which round."""
    if call.function == "avg":
        return _summed(call).type.name == "int"
    return call.args[0].type != DOUBLE


def _alike(name: str, text: str, combine: str, shown: str) -> Parted:
    combined = f"{combine}({_read(name, LONG)})"
    return Parted(((name, text),), ((name, combined),), ((name, shown),))


def _average(name: str, call: WindowCall, taken: set[str]) -> Parted:
    whole, number = _new(f"{name}_sum", taken), _new(f"{name}_count", taken)
    argument = text_of(_summed(call))
    return Parted(
        ((whole, f"sum({argument})"), (number, f"count({argument})")),
        tuple((each, f"sum({_read(each, LONG)})") for each in (whole, number)),
        ((name, f"{_read(whole, LONG)} / {_read(number, LONG)}"),),
    )


def _summed(call: WindowCall) -> Expr:
    """The argument of an average, before it becomes a double."""
    argument = call.args[0]
    is_whole = isinstance(argument, Cast) and argument.arg.type.is_integral
    return argument.arg if isinstance(argument, Cast) and is_whole else argument


def _new(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


def _read(name: str, type_: DataType) -> str:
    return text_of(Attribute(name, type_))
