"""The text of a typed tree: it parses and binds to an equal tree."""

from __future__ import annotations

import math
from decimal import Decimal

from australis.algebra.expr.functions import OPERATORS
from australis.algebra.expr.literals import decimal_type_of, interval_text, timestamp_text
from australis.algebra.expr.parsing import CHAINED, RESERVED
from australis.algebra.expr.tree import Attribute, Call, Case, Cast, Expr, Literal, UserCall
from australis.algebra.types import DataType

_QUOTED_WORDS = RESERVED | {"INTERVAL", "TIMESTAMP"}
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\0": r"\0", "\n": r"\n", "\r": r"\r"})


def text_of(expr: Expr) -> str:
    """The text of a typed tree, with parentheses around every operator but inside a chain such as a + b - c.

    >>> from australis.algebra.expr.parse import parse
    >>> from australis.algebra.schema import parse_schema
    >>> text_of(parse("pos between 3 and 5").bind(parse_schema("pos double")))
    '((pos >= 3.0D) AND (pos <= 5.0D))'
    """
    match expr:
        case Literal():
            return _literal(expr)
        case Attribute():
            return _attribute(expr)
        case Call(function=function, args=args):
            texts = [text_of(arg) for arg in args]
            return _call(function, [_chained(function, args[0], texts[0]), *texts[1:]])
        case Case():
            return _case(expr)
        case Cast(arg=arg, type=type_):
            return f"CAST({text_of(arg)} AS {type_})"
        case UserCall(name=name, args=args):
            return f"`{name}`({', '.join(map(text_of, args))})"


def _chained(function: str, first: Expr, text: str) -> str:
    """The text of a first operand, without the parentheses that a chain of operators does not need."""
    if (
        isinstance(first, Call)
        and first.function in CHAINED
        and _tightness(first.function) >= _tightness(function)
    ):
        return text[1:-1]
    return text


def _tightness(function: str) -> int:
    """How tightly an operator of a chain binds; anything else binds more tightly than any of them."""
    return 1 if function in ("+", "-") else 2 if function in CHAINED else 3


def _call(function: str, args: list[str]) -> str:
    match function:
        case "negate":
            return f"(- ({args[0]}))"
        case "not":
            return f"(NOT {args[0]})"
        case "is_null":
            return f"({args[0]} IS NULL)"
        case "in":
            return f"({args[0]} IN ({', '.join(args[1:])}))"
        case "timestampdiff":
            return f"timestampdiff({args[0][1:-1]}, {', '.join(args[1:])})"
    if function in OPERATORS:
        return f"({args[0]} {function.upper()} {args[1]})"
    return f"{function}({', '.join(args)})"


def _attribute(expr: Attribute) -> str:
    name = f"`{expr.name}`" if expr.name.upper() in _QUOTED_WORDS else expr.name
    return name if expr.side is None else f"{expr.side}.{name}"


def _case(expr: Case) -> str:
    branches = "".join(f" WHEN {text_of(when)} THEN {text_of(then)}" for when, then in expr.branches)
    return f"CASE{branches} ELSE {text_of(expr.otherwise)} END"


def _literal(expr: Literal) -> str:
    value = expr.value
    match expr.type.name:
        case "null":
            return "NULL"
        case _ if value is None:
            return f"CAST(NULL AS {expr.type})"
        case "boolean":
            return "TRUE" if value else "FALSE"
        case "string":
            return string_text(str(value))
        case "double":
            return _double(float(value))
        case "decimal":
            return _decimal(Decimal(value), expr.type)
        case "long":
            return f"{value}L"
        case "timestamp":
            return timestamp_text(int(value))
        case "interval":
            return interval_text(int(value))
        case _:
            return str(value)


def string_text(value: str) -> str:
    r"""The literal of a string.

    >>> print(string_text("it's 10\\%"))
    'it\'s 10\\%'
    """
    return f"'{value.translate(_ESCAPES)}'"


def _double(value: float) -> str:
    if math.isfinite(value):
        return f"{value!r}D"
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return f"CAST('{name}' AS double)"


def _decimal(value: Decimal, type_: DataType) -> str:
    digits = f"{value:.{type_.scale}f}"
    written = f"{digits}BD"
    return written if decimal_type_of(Decimal(digits)) == type_ else f"CAST({written} AS {type_})"
