"""The syntax tree of an expression, before its schema is known: names without types, sugar expanded.

Every node knows its position in the text, and how deep, high and large it is. All three are limited: an
untrusted text must not exhaust the stack, nor grow without bounds where sugar repeats a part (BETWEEN,
NULLIF, CASE x WHEN). Casts do not count: binding inserts more of them, and the text of the bound tree must
parse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from australis.algebra.expr.tree import Value
from australis.algebra.types import DataType

DEPTH_MAX = 32
"""How deep operations may be nested; a chain such as a + b - c is one level, and AND and OR are balanced."""
HEIGHT_MAX = 150
"""How many operations may follow each other in a chain."""
SIZE_MAX = 10_000
"""How many operations and operands an expression may have."""
CHAINED = frozenset({"+", "-", "*", "/", "%", "div"})
"""Operators whose chains are written, and read, without nesting."""


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """A node at a position of the text."""

    position: int
    depth: int = field(init=False, repr=False, compare=False)
    height: int = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.parts()
        object.__setattr__(self, "depth", self._depth(parts))
        object.__setattr__(self, "height", self._level() + max((part.height for part in parts), default=0))
        object.__setattr__(self, "size", 1 + sum(part.size for part in parts))

    def parts(self) -> tuple[Syntax, ...]:
        """The nodes directly inside this one."""
        return ()

    def _level(self) -> int:
        return 1

    def _depth(self, parts: tuple[Syntax, ...]) -> int:
        return self._level() + max((part.depth for part in parts), default=0)


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

    def _depth(self, parts: tuple[Syntax, ...]) -> int:
        if self.function in CHAINED and is_chain(parts[0]):
            return max(parts[0].depth, 1 + max(part.depth for part in parts[1:]))
        return super()._depth(parts)


@dataclass(frozen=True)
class UserApply(Syntax):
    """A registered function by its name `module:function`."""

    name: str
    args: tuple[Syntax, ...]

    def parts(self) -> tuple[Syntax, ...]:
        return self.args


@dataclass(frozen=True)
class Choice(Syntax):
    """CASE: the value of the first condition that is true, else `otherwise`."""

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

    def _level(self) -> int:
        return 0


def is_chain(node: Syntax) -> bool:
    """Whether a node is an operation that a chain can continue from."""
    while isinstance(node, Convert):
        node = node.arg
    return isinstance(node, Apply) and node.function in CHAINED


def names(node: Syntax) -> Iterator[Name]:
    """The attributes that a node mentions."""
    if isinstance(node, Name):
        yield node
    for part in node.parts():
        yield from names(part)
