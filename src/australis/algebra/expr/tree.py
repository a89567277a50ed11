"""The typed tree of an expression: the one thing that every evaluator reads.

All coercions are explicit `Cast`s, sugar is expanded (BETWEEN is two comparisons, CASE x WHEN is CASE WHEN),
and operators are calls by their sign, so an evaluator is a table from function names to implementations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from australis.algebra.types import DataType

Value = bool | int | float | Decimal | str | None
"""A value in plain Python. Timestamps and intervals are whole microseconds, timestamps since 1970 in UTC."""


@dataclass(frozen=True)
class Literal:
    """A constant."""

    value: Value
    type: DataType

    @property
    def nullable(self) -> bool:
        return self.value is None


@dataclass(frozen=True)
class Attribute:
    """An attribute of the tuple, or of the `left` or `right` tuple of a pair."""

    name: str
    type: DataType
    nullable: bool = True
    side: str | None = None

    @property
    def column(self) -> str:
        """The name of the Arrow column that holds it: `pos`, or `left.pos` in a pair."""
        return self.name if self.side is None else f"{self.side}.{self.name}"


@dataclass(frozen=True)
class Call:
    """A whitelisted function or operator, by its name in the function table."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool = True


@dataclass(frozen=True)
class Case:
    """The value of the first condition that is true, else `otherwise`."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr
    type: DataType
    nullable: bool = True


@dataclass(frozen=True)
class Cast:
    """A conversion, written by the user or inserted where two types differ."""

    arg: Expr
    type: DataType
    nullable: bool = True


@dataclass(frozen=True)
class UserCall:
    """A registered Python function, by its name `module:function`."""

    name: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool = True


Expr = Literal | Attribute | Call | Case | Cast | UserCall


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    match expr:
        case Call(args=args) | UserCall(args=args):
            return args
        case Case(branches=branches, otherwise=otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case Cast(arg=arg):
            return (arg,)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it, parents first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def attributes(expr: Expr) -> frozenset[str]:
    """The columns of the attributes that an expression reads."""
    return frozenset(node.column for node in walk(expr) if isinstance(node, Attribute))
