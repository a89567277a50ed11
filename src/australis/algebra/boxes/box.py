"""What every box has in common, and the pieces that several families share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar, final

from australis.algebra.expr import Expr, UserCall, WindowCall, attributes, parse, parse_window, walk
from australis.algebra.guards import Gathering, guard, shown
from australis.algebra.schema import Field, Schema
from australis.algebra.types import BOOLEAN
from australis.errors import AlgebraError, ExpressionError, Problem

NamedTexts = tuple[tuple[str, str], ...]
"""Names of output attributes, each with the text that computes it, in their order."""
Names = frozenset[str]
"""Names of attributes."""
Made = TypeVar("Made")


class Box(ABC):
    """An operator: a frozen value that knows its ports and answers what others ask about it.

    Every box defines the abstract members, which rules, planners and policies rely on. They have no default,
    because any default would be wrong for some box and would change outputs silently; the defaults that do
    exist here promise nothing. Members that take schemas take one for each input port.
    """

    kind: ClassVar[str]
    """The name of the box in the JSON form and in pictures."""
    arity: ClassVar[tuple[int, int | None]] = (1, 1)
    """The least and the greatest number of inputs; None is any."""
    keeps_schema: ClassVar[bool] = False
    """Whether every output has the attributes of the first input."""
    emits_late: ClassVar[bool] = False
    """Whether a tuple that comes too late is emitted all the same: it is counted, but not lost."""
    system: ClassVar[bool] = False
    """Whether only Australis itself may put the box into a network."""

    # --- shape

    @property
    def core(self) -> Box:
        """The core box that does the work: the box itself, unless it is composed."""
        return self

    @property
    def outputs(self) -> int:
        """The number of output ports."""
        return 1

    @property
    def table_side(self) -> int | None:
        """The input port that reads a stored table, if there is one."""
        return None

    def lookup_keys(self, *schemas: Schema) -> Sequence[str]:
        """The attributes by which rows of the stored table can be looked up."""
        return ()

    @abstractmethod
    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        """The schema of each output port; raises AlgebraError if the inputs do not fit."""

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        """What is allowed but probably a mistake."""
        return ()

    # --- state and time

    @property
    @abstractmethod
    def ordered(self) -> bool:
        """Whether the box is order-sensitive (Aurora 5.2.2), and so keeps state.

        If not, what it makes of a tuple depends on that tuple alone.
        """

    @property
    @abstractmethod
    def keeps_tuples(self) -> bool:
        """Whether its state holds whole tuples, so that it only fits inputs with the same attributes."""

    @property
    @abstractmethod
    def timeout_us(self) -> int | None:
        """The microseconds after which it may emit without new input; None for never."""

    @abstractmethod
    def partition_keys(self, port: int) -> Sequence[str]:
        """The attributes at an input port whose values make groups of tuples that the box keeps apart.

        It treats each group as if the others did not exist: removing some groups does not change what it
        emits for the rest. Empty if that does not hold, or if it keeps no state.
        """

    # --- what it does to tuples

    @property
    @abstractmethod
    def copies_tuples(self) -> bool:
        """Whether it copies whole tuples, so that unread attributes cost something."""

    @property
    @abstractmethod
    def pairs_inputs(self) -> bool:
        """Whether a result needs a tuple of each input: half the tuples of both give a quarter of results."""

    @abstractmethod
    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        """The typed expressions that it evaluates, other than those in its window functions."""

    @abstractmethod
    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        """The typed window functions that it computes."""

    @abstractmethod
    def rejects(self, *schemas: Schema) -> bool:
        """Whether it may send a tuple to the quarantine, on any of its ports."""

    @abstractmethod
    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        """The attributes that it needs at each input port.

        `wanted` are those of each output port that are read. If any other attributes are missing, at any
        port, the box must still fit its inputs, decide the same and emit the wanted attributes unchanged.
        """

    @abstractmethod
    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        """For each input port, the output attributes by the input attribute that they copy unchanged.

        An attribute is listed if it has this value in every tuple of the port that contributes to a result,
        and in every output that has the attribute. (The two zeros of a double count as one.)
        """

    @final
    def is_pure(self, *schemas: Schema) -> bool:
        """Whether it calls no user function, whose side effects would be unknown."""
        called = any(isinstance(part, UserCall) for expr in self._evaluated(*schemas) for part in walk(expr))
        return not called and not any(call.is_user for call in self.window_functions(*schemas))

    @final
    def _evaluated(self, *schemas: Schema) -> Iterator[Expr]:
        """All expressions, the arguments of window functions included."""
        yield from self.expressions(*schemas)
        for call in self.window_functions(*schemas):
            yield from call.args

    @final
    def _used(self, *schemas: Schema) -> Names:
        """The columns that its expressions read."""
        return Names().union(*map(attributes, self._evaluated(*schemas)))


class Composed(Box):
    """A box that stands for another one under its own name; its core answers for it."""

    @property
    @abstractmethod
    def core(self) -> Box: ...

    @property
    def outputs(self) -> int:
        return self.core.outputs

    @property
    def table_side(self) -> int | None:
        return self.core.table_side

    def lookup_keys(self, *schemas: Schema) -> Sequence[str]:
        return self.core.lookup_keys(*schemas)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        return self.core.output_schemas(*inputs)

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        return self.core.warnings(*inputs)

    @property
    def ordered(self) -> bool:
        return self.core.ordered

    @property
    def keeps_tuples(self) -> bool:
        return self.core.keeps_tuples

    @property
    def timeout_us(self) -> int | None:
        return self.core.timeout_us

    @property
    def copies_tuples(self) -> bool:
        return self.core.copies_tuples

    @property
    def pairs_inputs(self) -> bool:
        return self.core.pairs_inputs

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.core.partition_keys(port)

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return self.core.expressions(*schemas)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return self.core.window_functions(*schemas)

    def rejects(self, *schemas: Schema) -> bool:
        return self.core.rejects(*schemas)

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return self.core.reads(*schemas, wanted=wanted)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return self.core.origins(*schemas)


def unchanged(*schemas: Schema) -> tuple[Mapping[str, str], ...]:
    """The origins of a box that passes on every tuple of every input unchanged."""
    return tuple({name: name for name in schema.names} for schema in schemas)


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
            raise AlgebraError(Problem(f"{path}.{name}", "occurs twice", "each name only once"))
        found[name] = text
    return tuple(found.items())


def _named_text(pair: Any, path: str, index: int) -> tuple[str, str]:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise AlgebraError(Problem(f"{path}[{index}]", f"is {shown(pair)}", "a name and an expression"))
    name, text = pair
    guard(name, str, f"{path}[{index}]", "a text as a name")
    guard(text, str, f"{path}.{name}", "an expression as a text")
    return name, text


def check_syntax(texts: NamedTexts, path: str, parser: Callable[[str], Any]) -> None:
    """Refuse a text that is not an expression as soon as the box is made."""
    with Gathering() as found:
        for name, text in texts:
            with found.at(f"{path}.{name}"):
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
    with Gathering() as found:
        for name, text in functions:
            with found.at(f"functions.{name}"):
                calls[name] = parse_window(text).bind(schema, interpolation=interpolation)
    return calls


def call_fields(calls: Mapping[str, WindowCall]) -> tuple[Field, ...]:
    """The attributes that window functions add to an output."""
    return tuple(Field(name, call.type, call.nullable) for name, call in calls.items())
