"""Signature rules of numbers: operators, rounding, and timestamps that move by intervals."""

from __future__ import annotations

from australis.algebra.expr.binding.coerce import (
    DECIMAL_MAX,
    bounded,
    convert,
    decimal_result,
    literal_as_decimal,
    widest,
)
from australis.algebra.expr.binding.signatures import (
    Args,
    Mismatch,
    Rule,
    Signature,
    any_nullable,
    cast_hint,
    check_count,
    literal_int,
)
from australis.algebra.types import DOUBLE, INT, INTERVAL, LONG, NULL, TIMESTAMP, DataType, decimal


def operation(sign: str) -> Rule:
    """Two numbers of one type; decimals keep their own types, which determine the result's."""

    def rule(args: Args) -> Signature:
        check_count(args, 2, 2)
        meeting = numbers(args)
        if meeting.is_decimal:
            one, other = map(literal_as_decimal, args)
            if sign in ("%", "pmod"):
                check_quotient(one.type, other.type)
            return Signature((one, other), decimal_result(sign, one.type, other.type), True)
        if sign == "/":
            meeting = DOUBLE
        one, other = (convert(arg, meeting) for arg in args)
        nullable = sign in ("/", "%", "pmod") or any_nullable((one, other))
        return Signature((one, other), meeting, nullable)

    return rule


def shifting(sign: str) -> Rule:
    """+ and -: numbers, or a timestamp and an interval."""
    plain = operation(sign)

    def rule(args: Args) -> Signature:
        types = tuple(arg.type for arg in args)
        if types == (INTERVAL, TIMESTAMP) and sign == "+":
            args = (args[1], args[0])
        elif types == (TIMESTAMP, TIMESTAMP):
            raise Mismatch(1, "timestamp - timestamp", "timestampdiff(MICROSECOND, start, end)")
        elif types[0] == TIMESTAMP and types[1].is_numeric:
            raise Mismatch(
                1, f"timestamp {sign} {types[1]}", f"an interval, as in t {sign} INTERVAL 1 SECOND"
            )
        elif types != (TIMESTAMP, INTERVAL):
            return plain(args)
        return Signature(args, TIMESTAMP, True)

    return rule


def whole_division(args: Args) -> Signature:
    """DIV: integers and decimals, a long."""
    check_count(args, 2, 2)
    meeting = numbers(args)
    if meeting == DOUBLE:
        raise Mismatch(None, "div of doubles", "int, long or decimal; or floor(a / b)")
    if meeting.is_decimal:
        one, other = map(literal_as_decimal, args)
        check_quotient(one.type, other.type)
        return Signature((one, other), LONG, True)
    return Signature(tuple(convert(arg, LONG) for arg in args), LONG, True)


def check_quotient(one: DataType, other: DataType) -> None:
    """Refuse a whole division whose quotient can have so many digits that Spark fails the job."""
    digits = one.precision - one.scale + other.scale
    if digits > DECIMAL_MAX:
        what = f"{one} by {other} can have a quotient of {digits} digits"
        raise Mismatch(None, what, f"at most {DECIMAL_MAX}; write CAST(... AS decimal(p,s)) with fewer")


def numbers(args: Args) -> DataType:
    """The common type of some numbers; a NULL alone counts as a double, as in Spark."""
    for index, arg in enumerate(args):
        if arg.type != NULL and not arg.type.is_numeric:
            raise Mismatch(
                index, f"{arg.type} instead of a number", f"a number; {cast_hint(arg.type, DOUBLE)}"
            )
    meeting = widest(arg.type for arg in args)
    return DOUBLE if meeting in (NULL, None) else meeting


def same(args: Args) -> Signature:
    """One number; the result has its type."""
    check_count(args, 1, 1)
    fitted = (convert(args[0], numbers(args)),)
    return Signature(fitted, fitted[0].type, any_nullable(fitted))


def whole(args: Args) -> Signature:
    """CEIL and FLOOR: a long, or a decimal without digits after the point."""
    check_count(args, 1, 1)
    found = numbers(args)
    arg = convert(args[0], LONG if found == INT else found)
    if not found.is_decimal:
        return Signature((arg,), LONG, arg.nullable)
    digits = found.precision - found.scale + (1 if found.scale else 0)
    return Signature((arg,), bounded(digits, 0), True)


def rounded(args: Args) -> Signature:
    """ROUND: the number's type, or a decimal with the digits asked for."""
    check_count(args, 1, 2)
    found = numbers(args[:1])
    digits = literal_int(args, 1, range(-18, 39)) if len(args) == 2 else 0
    fitted = (convert(args[0], found), *args[1:])
    if not found.is_decimal:
        return Signature(fitted, found, fitted[0].nullable)
    whole_digits = found.precision - found.scale + 1
    if digits < 0:
        return Signature(fitted, bounded(max(whole_digits, 1 - digits), 0), True)
    scale = min(found.scale, digits)
    return Signature(fitted, decimal(min(whole_digits + scale, 38), scale), True)


def instant(args: Args) -> Signature:
    """TIMESTAMP_SECONDS: any number of seconds."""
    check_count(args, 1, 1)
    found = numbers(args)
    if found.scale > 6:
        raise Mismatch(
            0, f"{found} seconds", "no more than 6 digits after the point; write CAST(... AS decimal(p,6))"
        )
    arg = convert(args[0], LONG if found == INT else found)
    return Signature((arg,), TIMESTAMP, True)
