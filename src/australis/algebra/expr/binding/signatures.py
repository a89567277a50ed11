"""Signature rules: from the types of a call's arguments to the casts inserted and the result's type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from australis.algebra.expr.binding.coerce import (
    convert,
    literal_as_decimal,
    wider,
    widest,
)
from australis.algebra.expr.tree import Expr, Literal
from australis.algebra.types import (
    BOOLEAN,
    DOUBLE,
    INT,
    INTERVAL,
    LONG,
    NULL,
    STRING,
    TEXTS,
    TIMESTAMP,
    DataType,
)

Args = tuple[Expr, ...]


@dataclass(frozen=True)
class Signature:
    """A call that fits: its arguments with the casts they need, its type, and whether it may be NULL."""

    args: Args
    type: DataType
    nullable: bool


Rule = Callable[[Args], Signature]


class Mismatch(Exception):
    """A call that does not fit; `index` is the offending argument, or None for the call as a whole."""

    def __init__(self, index: int | None, what: str, expected: str) -> None:
        super().__init__(what)
        self.index, self.what, self.expected = index, what, expected


def takes(*types: DataType, returns: DataType, optional: int = 0, may_be_null: bool = False) -> Rule:
    """A function of fixed argument types, the last `optional` of which may be omitted."""

    def rule(args: Args) -> Signature:
        check_count(args, len(types) - optional, len(types))
        fitted = tuple(fitting(args, index, type_) for index, type_ in enumerate(types[: len(args)]))
        return Signature(fitted, returns, may_be_null or any_nullable(fitted))

    return rule


def strings(args: Args) -> Signature:
    """CONCAT: one or more strings."""
    check_count(args, 1, None)
    fitted = tuple(fitting(args, index, STRING) for index in range(len(args)))
    return Signature(fitted, STRING, any_nullable(fitted))


def nan_test(args: Args) -> Signature:
    """ISNAN: a NULL is not a NaN."""
    signature = takes(DOUBLE, returns=BOOLEAN)(args)
    return Signature(signature.args, BOOLEAN, False)


def hashing(args: Args) -> Signature:
    """XXHASH64: one or more values of any types but decimals; never NULL."""
    check_count(args, 1, None)
    for index, arg in enumerate(args):
        if arg.type.is_decimal or arg.type in (INTERVAL, TEXTS):
            raise Mismatch(index, f"{arg.type} cannot be hashed", "another type: CAST(... AS string)")
    typed = tuple(convert(arg, INT) if arg.type == NULL else arg for arg in args)
    return Signature(typed, LONG, False)


def sha2(args: Args) -> Signature:
    """SHA2: a string and the number of bits, which must be 256."""
    signature = takes(STRING, INT, returns=STRING)(args)
    if args[1] != Literal(256, INT):
        raise Mismatch(1, "not the literal 256", "SHA-256, the only one: sha2(x, 256)")
    return signature


def fitting(args: Args, index: int, type_: DataType) -> Expr:
    """An argument in the type that a function takes there, if the conversion loses nothing."""
    found = args[index].type
    if found != NULL and (wider(found, type_) != type_ and not (type_ == DOUBLE and found.is_numeric)):
        raise Mismatch(index, f"{found} instead of {type_}", f"{type_}; {cast_hint(found, type_)}")
    return convert(args[index], type_)


def cast_hint(found: DataType, wanted: DataType) -> str:
    """What to write where two types have no common type."""
    if wanted == TIMESTAMP and found == STRING:
        return "write TIMESTAMP '...' or CAST(... AS timestamp)"
    return f"write CAST(... AS {wanted})"


def check_count(args: Args, least: int, most: int | None) -> None:
    """Refuse a wrong number of arguments."""
    if len(args) < least or (most is not None and len(args) > most):
        wanted = str(least) if most == least else f"{least} or more" if most is None else f"{least} to {most}"
        raise Mismatch(None, f"{len(args)} arguments", wanted)


def any_nullable(args: Args) -> bool:
    """NULL in, NULL out."""
    return any(arg.nullable for arg in args)


# --- operators


def comparison(never_null: bool = False) -> Rule:
    """Two values of one ordered type."""

    def rule(args: Args) -> Signature:
        check_count(args, 2, 2)
        met = meeting_of(args, compares=True)
        return Signature(met, BOOLEAN, not never_null and any_nullable(met))

    return rule


def meeting_of(args: Args, compares: bool = False) -> Args:
    """The arguments converted to their common type."""
    types = [arg.type for arg in args]
    for index, type_ in enumerate(types):
        if type_ == INTERVAL:
            raise Mismatch(
                index, "an interval", "an interval only where it is added to or subtracted from a timestamp"
            )
        if type_ == TEXTS:
            raise Mismatch(index, "an array", "one of its elements, as in split(...)[0]")
        if widest(types[: index + 1]) is None:
            before = widest(types[:index]) or types[0]
            raise Mismatch(
                index, f"{before} and {type_} have no common type", f"one type; {cast_hint(type_, before)}"
            )
    if compares and any(type_.is_decimal for type_ in types) and DOUBLE not in types:
        types = [literal_as_decimal(arg).type for arg in args]
    # Two NULLs become booleans: every type has a NULL, so any would do.
    meeting = widest(types)
    return tuple(convert(arg, BOOLEAN if meeting in (NULL, None) else meeting) for arg in args)


def common(least: int) -> Rule:
    """Any number of values of one type, which is the result's; NULL only if all are NULL."""

    def rule(args: Args) -> Signature:
        check_count(args, least, None)
        met = meeting_of(args)
        return Signature(met, met[0].type, all(arg.nullable for arg in met))

    return rule


def membership(args: Args) -> Signature:
    """IN: a value and the members it may equal."""
    check_count(args, 2, None)
    met = meeting_of(args)
    return Signature(met, BOOLEAN, any_nullable(met))


# --- literals that must be known when the expression is read


def literal_int(args: Args, index: int, allowed: range) -> int:
    """The value of an argument that must be an integer literal."""
    arg = args[index]
    if isinstance(arg, Literal) and arg.type == INT and isinstance(arg.value, int) and arg.value in allowed:
        return arg.value
    raise Mismatch(
        index, "not a literal in the allowed range", f"an integer literal from {allowed[0]} to {allowed[-1]}"
    )


def with_literal_int(rule: Rule, index: int, allowed: range) -> Rule:
    """A rule whose argument `index` must be an integer literal."""

    def checked(args: Args) -> Signature:
        signature = rule(args)
        literal_int(args, index, allowed)
        return signature

    return checked


def with_unit(rule: Rule, units: tuple[str, ...]) -> Rule:
    """A rule whose first argument must be the literal name of a unit; it is written in upper case."""

    def checked(args: Args) -> Signature:
        signature = rule(args)
        unit = args[0]
        name = str(unit.value).upper() if isinstance(unit, Literal) else ""
        if name not in units:
            raise Mismatch(0, f"no unit {name!r}" if name else "not a literal", f"one of {', '.join(units)}")
        return Signature((Literal(name, STRING), *signature.args[1:]), signature.type, signature.nullable)

    return checked


def like(args: Args) -> Signature:
    r"""LIKE: a string and a literal pattern, in which a backslash may only precede %, _ or itself."""
    signature = takes(STRING, STRING, returns=BOOLEAN)(args)
    pattern = args[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise Mismatch(1, "the pattern is not a literal", "a string literal")
    rest = pattern.value.replace("\\\\", "").replace("\\%", "").replace("\\_", "")
    if "\\" in rest:
        raise Mismatch(1, "a backslash that escapes nothing", r"\%, \_ or \\ in the pattern")
    return signature


def null_test(args: Args) -> Signature:
    """IS NULL: anything."""
    check_count(args, 1, 1)
    if args[0].type in (INTERVAL, TEXTS):
        raise Mismatch(0, f"an {args[0].type}", "an attribute or a value of its type")
    return Signature((convert(args[0], BOOLEAN) if args[0].type == NULL else args[0],), BOOLEAN, False)
