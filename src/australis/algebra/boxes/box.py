"""What every box has in common, and the pieces that several families share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from australis.algebra.expr import Expr, WindowCall, parse, parse_window
from australis.algebra.guards import guard, shown
from australis.algebra.schema import Field, Schema
from australis.algebra.types import BOOLEAN
from australis.errors import AlgebraError, ExpressionError, Problem

NamedTexts = tuple[tuple[str, str], ...]
"""Names of output attributes, each with the text that computes it, in their order."""
Made = TypeVar("Made")


class Box(ABC):
    """An operator: a frozen value that knows its ports and, given the schemas of its inputs, its outputs'."""

    kind: ClassVar[str]
    """The name of the box in the JSON form and in pictures."""
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    """The least and the greatest number of inputs; None is any."""
    ordered: ClassVar[bool] = False
    """Whether the box is order-sensitive (Aurora 5.2.2) and so keeps state."""
    keeps_schema: ClassVar[bool] = False
    """Whether every output has the attributes of the first input."""
    system: ClassVar[bool] = False
    """Whether only Australis itself may put the box into a network."""

    @property
    def core(self) -> Box:
        """The core box that does the work: the box itself, unless it is composed."""
        return self

    @property
    def outputs(self) -> int:
        """The number of output ports."""
        return 1

    @abstractmethod
    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        """The schema of each output port; raises AlgebraError if the inputs do not fit."""

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        """What is allowed but probably not meant."""
        return ()


@contextmanager
def at(path: str) -> Iterator[None]:
    """Put `path` before the path of every problem raised inside."""
    try:
        yield
    except AlgebraError as error:
        raise error.under(path) from None


def named_texts(value: Mapping[str, str] | Iterable[tuple[str, str]], path: str) -> NamedTexts:
    """A mapping from names to texts as a tuple of pairs, so that a box stays a hashable value."""
    guard(value, Iterable, path, "a mapping from names to expressions")
    pairs: tuple[Any, ...] = tuple(value.items() if isinstance(value, Mapping) else value)
    if not pairs:
        raise AlgebraError(Problem(path, "is empty", "at least one 'name: expression'"))
    found: dict[str, str] = {}
    for index, pair in enumerate(pairs):
        name, text = _named_text(pair, path, index)
        if name in found:
            raise AlgebraError(Problem(f"{path}.{name}", "occurs twice", "a name once"))
        found[name] = text
    return tuple(found.items())


def _named_text(pair: Any, path: str, index: int) -> tuple[str, str]:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise AlgebraError(Problem(f"{path}[{index}]", f"is {shown(pair)}", "a name and an expression"))
    name, text = pair
    guard(name, str, f"{path}[{index}]", "a text as a name")
    guard(text, str, f"{path}.{name}", "an expression as a text")
    return name, text


def syntax_checked(texts: NamedTexts, path: str, parser: Callable[[str], Any]) -> None:
    """Refuse a text that is no expression already when the box is made."""
    for name, text in texts:
        with at(f"{path}.{name}"):
            parser(text)


def predicate(text: str, scope: Schema | Mapping[str, Schema], path: str) -> Expr:
    """A typed boolean expression."""
    with at(path):
        bound = parse(text).bind(scope)
        if bound.type != BOOLEAN:
            raise ExpressionError(Problem("", f"the predicate is a {bound.type}", "a boolean", text, 0))
        return bound


def window_calls(
    functions: NamedTexts, schema: Schema, *, interpolation: bool = False
) -> dict[str, WindowCall]:
    """The typed window functions of a box, by the name of the attribute each computes."""
    calls = {}
    for name, text in functions:
        with at(f"functions.{name}"):
            calls[name] = parse_window(text).bind(schema, interpolation=interpolation)
    return calls


def call_fields(calls: Mapping[str, WindowCall]) -> tuple[Field, ...]:
    """The attributes that window functions add to an output."""
    return tuple(Field(name, call.type, call.nullable) for name, call in calls.items())
