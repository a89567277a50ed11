"""Progress: what an input promises about its order, and how boxes pass such promises on.

A mark of an attribute is a promise on an arc: no later tuple has a lesser value of it. Marks are numbers in
the units of the attribute's type, and only rise. Inputs make them; a box derives those of its outputs from
those of its inputs alone, never from its state, so the marks of every arc follow from those of the inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType

from australis.algebra.expr import Attribute, Call, Cast, Expr, Literal
from australis.algebra.guards import Gathering, guard
from australis.algebra.order import is_orderable, lookup
from australis.algebra.schema import Schema
from australis.algebra.spans import Span, microseconds, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class Progress:
    """How an input makes marks of the attribute `on`.

    After each tuple the mark is the greatest value so far less `slack`, a length; with `promise` it is the
    greatest value so far of that attribute, in which the source itself promises what will not come any more.
    With `idle`, the mark of an input without tuples for that long follows the local clock, less the slack.

    >>> print(Progress("at", slack="10 s", idle="30 s"))
    on at, slack 10 s, idle 30 s
    """

    on: str
    slack: Span | None = None
    promise: str | None = None
    idle: str | None = None

    def __post_init__(self) -> None:
        guard(self.on, str, "on", "the name of an attribute")
        guard(self.slack, (int, float, str, NoneType), "slack", "a length such as '10 s'")
        guard(self.promise, (str, NoneType), "promise", "the name of an attribute")
        guard(self.idle, (str, NoneType), "idle", "a length of time such as '30 s'")
        if self.slack is not None and self.promise is not None:
            raise AlgebraError(
                Problem("promise", "the source makes its own promises, so slack has no use", "one of the two")
            )
        if self.idle is not None:
            try:
                microseconds(self.idle)
            except AlgebraError as error:
                raise error.under("idle") from None

    def __str__(self) -> str:
        given = {"slack": self.slack, "promise": self.promise, "idle": self.idle}
        parts = [f"{name} {value}" for name, value in given.items() if value is not None]
        return ", ".join([f"on {self.on}", *parts])

    def bind(self, schema: Schema) -> BoundProgress:
        """The marks of an input of a schema."""
        with Gathering() as found:
            if self.promise is not None and self.on not in schema:
                with found.at():
                    lookup(schema, self.promise, "promise")
            # Without a type of the marks there is nothing that their lengths could be compared with.
            order_type = _ordered(schema, self.on, "on")
            if self.promise is not None:
                with found.at():
                    _same_type(schema, self.promise, order_type)
            slack: int | float = 0
            if self.slack is not None:
                with found.at("slack"):
                    slack = units(self.slack, order_type, zero=True)
            with found.at("idle"):
                self._check_idle(order_type)
        idle = None if self.idle is None else microseconds(self.idle)
        return BoundProgress(self.on, self.promise or self.on, order_type, slack, idle)

    def _check_idle(self, order_type: DataType) -> None:
        if self.idle is not None and order_type.name != "timestamp":
            what = f"{self.on!r} is a {order_type}, which does not follow the clock"
            raise AlgebraError(Problem("", what, "idle only for a timestamp"))


@dataclass(frozen=True)
class BoundProgress:
    """The marks of an input, with their type and with lengths in its units and in microseconds."""

    on: str
    read: str
    """The attribute whose values tell the mark."""
    order_type: DataType
    slack: int | float
    idle: int | None


def _ordered(schema: Schema, name: str, path: str) -> DataType:
    found = lookup(schema, name, path)
    if not is_orderable(found):
        raise AlgebraError(
            Problem(path, f"{name!r} is a {found} and cannot be an order", "a number or a timestamp")
        )
    return found


def _same_type(schema: Schema, name: str, wanted: DataType) -> None:
    found = lookup(schema, name, "promise")
    if found != wanted:
        raise AlgebraError(Problem("promise", f"{name!r} is a {found}", f"a {wanted}, as the order"))


# --- how boxes pass marks on


@dataclass(frozen=True)
class Same:
    """The mark itself."""


@dataclass(frozen=True)
class Shift:
    """The mark moved by a number of units; with doubles it is rounded down."""

    by: int | float


@dataclass(frozen=True)
class Starts:
    """The least start of a window that ends after the mark, for windows at `origin` + k * `advance`.

    They may lie along the clocks of the network's time zone.
    """

    size: int | float
    advance: int | float
    origin: int | float = 0
    local: bool = False


@dataclass(frozen=True)
class Through:
    """The value of an expression of the marked attribute, which never falls while the attribute rises."""

    expr: Expr
    attribute: str
    source: DataType
    target: DataType


MarkFunction = Same | Shift | Starts | Through


@dataclass(frozen=True)
class Passing:
    """Where a mark comes from: an attribute at an input port, and what becomes of its mark."""

    port: int
    attribute: str
    by: MarkFunction = Same()


def rises_with(expr: Expr) -> str | None:
    """The attribute with which a typed expression rises, never falling; None if that is not known.

    >>> from australis.algebra.expr import parse
    >>> from australis.algebra.schema import parse_schema
    >>> schema = parse_schema("at timestamp, n long")
    >>> [rises_with(parse(text).bind(schema)) for text in ("at + INTERVAL 5 SECONDS", "n * 2", "-n", "n * n")]
    ['at', None, None, None]
    """
    if isinstance(expr, Attribute):
        return expr.name if expr.side is None else None
    if isinstance(expr, Cast):
        return rises_with(expr.arg) if _keeps_order(expr.arg.type, expr.type) else None
    if not isinstance(expr, Call):
        return None
    varying = [arg for arg in expr.args if not isinstance(arg, Literal)]
    if len(varying) != 1 or not _rises(expr, varying[0]):
        return None
    return rises_with(varying[0])


def _keeps_order(source: DataType, target: DataType) -> bool:
    """Whether a cast keeps the order of values, as far as they have one in both types."""
    return source == target or (source.name, target.name) in _ORDERLY_CASTS


def _rises(call: Call, varying: Expr) -> bool:
    """Whether a call rises with its only argument that is not a constant."""
    if call.function in _RISING:
        return True
    first, constants = call.args[0] is varying, [arg for arg in call.args if isinstance(arg, Literal)]
    if call.function in ("+", "-"):
        # An int or a decimal could wrap around or become NULL; order values leave room in 64 bits.
        return call.type.name in _ROOMY and len(call.args) == 2 and (first or call.function == "+")
    if call.function == "*":
        return call.type.name == "double" and _is_positive(constants[0])
    return call.function in ("/", "div") and first and _is_positive(constants[0])


_ROOMY = frozenset({"long", "double", "timestamp"})
_RISING = frozenset(
    {"floor", "ceil", "round", "greatest", "least"}
    | {f"unix_{unit}" for unit in ("seconds", "millis", "micros")}
    | {f"timestamp_{unit}" for unit in ("seconds", "millis", "micros")}
)
_ORDERLY_CASTS = frozenset(
    {("int", "long"), ("int", "double"), ("long", "double"), ("timestamp", "long"), ("timestamp", "double")}
    | {("long", "timestamp"), ("int", "timestamp")}
)
"""Casts between types that cannot wrap around."""


def _is_positive(literal: Literal) -> bool:
    value = literal.value
    return value is not None and not isinstance(value, str | bool) and value > 0
