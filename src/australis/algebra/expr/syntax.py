"""The tree of an expression's text before its schema is known: names without types, sugar already gone.

Every node knows its position in the text, its depth and its size. Both are limited: a text of a stranger must
not exhaust the stack, nor grow without bounds where sugar writes a part twice (BETWEEN, NULLIF, CASE x WHEN).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from australis.algebra.expr.tree import Value
from australis.algebra.types import DataType

DEPTH_MAX = 100
"""How deep expressions may be nested; a + b + c is nested twice."""
SIZE_MAX = 10_000
"""How many nodes an expression may have."""


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """A node at a position of the text."""

    position: int
    depth: int = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.parts()
        object.__setattr__(self, "depth", 1 + max((part.depth for part in parts), default=0))
        object.__setattr__(self, "size", 1 + sum(part.size for part in parts))

    def parts(self) -> tuple[Syntax, ...]:
        """The nodes directly inside this one."""
        return ()


@dataclass(frozen=True)
class Constant(Syntax):
    """A literal."""

    value: Value
    type: DataType


@dataclass(frozen=True)
class Name(Syntax):
    """An attribute by its name, with `left` or `right` before it in a pair."""

    name: str
    side: str | None

    @property
    def column(self) -> str:
        return self.name if self.side is None else f"{self.side}.{self.name}"


@dataclass(frozen=True)
class Apply(Syntax):
    """A function or operator by its name in the function table."""

    function: str
    args: tuple[Syntax, ...]

    def parts(self) -> tuple[Syntax, ...]:
        return self.args


@dataclass(frozen=True)
class UserApply(Syntax):
    """A registered function by its name `module:function`."""

    name: str
    args: tuple[Syntax, ...]

    def parts(self) -> tuple[Syntax, ...]:
        return self.args


@dataclass(frozen=True)
class Choice(Syntax):
    """CASE: the value behind the first condition that is true, else `otherwise`."""

    branches: tuple[tuple[Syntax, Syntax], ...]
    otherwise: Syntax

    def parts(self) -> tuple[Syntax, ...]:
        return (*(part for branch in self.branches for part in branch), self.otherwise)


@dataclass(frozen=True)
class Convert(Syntax):
    """CAST."""

    arg: Syntax
    type: DataType

    def parts(self) -> tuple[Syntax, ...]:
        return (self.arg,)


def names(node: Syntax) -> Iterator[Name]:
    """The attributes that a node mentions."""
    if isinstance(node, Name):
        yield node
    for part in node.parts():
        yield from names(part)
