"""What every box has in common, and the pieces that several families share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any, ClassVar, TypeVar, final

from australis.algebra.expr import (
    Expr,
    UserCall,
    WindowCall,
    WindowExpression,
    WindowFunctions,
    attributes,
    combined,
    parse,
    parse_window,
    walk,
)
from australis.algebra.guards import Gathering, guard, shown
from australis.algebra.order import Order, is_orderable
from australis.algebra.progress import Passing
from australis.algebra.schema import Field, Schema
from australis.algebra.spans import microseconds
from australis.algebra.types import BOOLEAN
from australis.errors import AlgebraError, ExpressionError, Problem

NamedTexts = tuple[tuple[str, str], ...]
"""Names of output attributes, each with the text that computes it, in their order."""
Names = frozenset[str]
"""Names of attributes."""
Passings = Mapping[str, tuple[Passing, ...]]
"""The marks of a stream: for each attribute with a mark, what it comes from; it is the least of these."""
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
    def emits_late(self) -> bool:
        """Whether a tuple that comes too late is emitted among the others: it is counted, but not lost."""
        return False

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

    @property
    def forget_us(self) -> int | None:
        """The microseconds of local time after which a quiet group is forgotten; None for never."""
        return None

    @property
    def remembers_groups(self) -> bool:
        """Whether something is kept of every group for ever, though `forget` could prevent it."""
        return False

    def holds_us(self, *schemas: Schema) -> int:
        """How long a result's oldest tuple has been held, in microseconds, where parameters say so.

        Such as the length of a window over time that is full of tuples; 0 if nothing can be said.
        """
        return 0

    @abstractmethod
    def partition_keys(self, port: int) -> Sequence[str]:
        """The attributes at an input port whose values make groups of tuples that the box keeps apart.

        It treats each group as if the others did not exist: removing some groups does not change what it
        emits for the rest. Empty if that does not hold, or if it keeps no state.
        """

    def equated(self, *schemas: Schema) -> Sequence[tuple[str, str]]:
        """The attributes of two streams that must be equal for tuples of both to meet, pair by pair."""
        return ()

    @property
    def orders(self) -> Mapping[int, Order]:
        """The order that it expects at an input port, for those that have one."""
        return {}

    @final
    @property
    def late_ports(self) -> tuple[int, ...]:
        """The input ports whose late tuples leave by an output of their own: the last outputs, in order."""
        return tuple(port for port, order in sorted(self.orders.items()) if order.late)

    @final
    def with_late(self, results: Schema, *inputs: Schema) -> tuple[Schema, ...]:
        """The schema of its results, and those of its late outputs."""
        return (results, *(inputs[port] for port in self.late_ports))

    @final
    def but_late(
        self, origins: Sequence[Mapping[str, str]], *inputs: Schema
    ) -> tuple[Mapping[str, str], ...]:
        """Origins of its results, without names that late tuples have for something else."""
        return tuple(
            {
                name: source
                for name, source in names.items()
                if all(late == port and name == source for late in self.late_ports if name in inputs[late])
            }
            for port, names in enumerate(origins)
        )

    @final
    def with_wanted_late(self, read: Sequence[Names], wanted: Sequence[Names]) -> tuple[Names, ...]:
        """What it reads of each input port, with what is wanted of late tuples: they leave as they came."""
        late = dict(zip(self.late_ports, wanted[1:], strict=True))
        return tuple(names | late.get(port, Names()) for port, names in enumerate(read))

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        """The marks of each output port, if all inputs have the marks that they come from.

        The late outputs have none and may be left out. Marks may not depend on what the box keeps. A tuple
        that it has not emitted yet when a mark comes must not be below the mark that it makes of it.
        """
        return ({},) * self.outputs

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
            yield from call.inputs

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
    def forget_us(self) -> int | None:
        return self.core.forget_us

    @property
    def remembers_groups(self) -> bool:
        return self.core.remembers_groups

    def holds_us(self, *schemas: Schema) -> int:
        return self.core.holds_us(*schemas)

    @property
    def copies_tuples(self) -> bool:
        return self.core.copies_tuples

    @property
    def pairs_inputs(self) -> bool:
        return self.core.pairs_inputs

    @property
    def orders(self) -> Mapping[int, Order]:
        return self.core.orders

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return self.core.passings(*schemas)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.core.partition_keys(port)

    def equated(self, *schemas: Schema) -> Sequence[tuple[str, str]]:
        return self.core.equated(*schemas)

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


def forgets_after(forget: object, group_by: Sequence[str]) -> int | None:
    """The microseconds of local time after which a box forgets a quiet group; None if it does not."""
    if forget is None:
        return None
    with at("forget"):
        if not group_by:
            raise AlgebraError(Problem("", "is given, but there are no groups", "attributes to group by"))
        return microseconds(forget)  # type: ignore[arg-type]


def unchanged(*schemas: Schema) -> tuple[Mapping[str, str], ...]:
    """The origins of a box that passes on every tuple of every input unchanged."""
    return tuple({name: name for name in schema.names} for schema in schemas)


def passed_on(schema: Schema, ports: int = 1) -> Passings:
    """The marks of a stream that has the tuples of some inputs unchanged, each as soon as it arrives."""
    return {
        field.name: tuple(Passing(port, field.name) for port in range(ports))
        for field in schema
        if is_orderable(field.type)
    }


@contextmanager
def at(path: str) -> Iterator[None]:
    """Put `path` before the path of every problem raised inside."""
    try:
        yield
    except AlgebraError as error:
        raise error.under(path) from None


def constant_text(value: Any) -> Any:
    """A number, True or False as the text of an expression; anything else stays as it is.

    >>> constant_text(1), constant_text(True), constant_text(0.5), constant_text("pos + 1")
    ('1', 'true', '0.5', 'pos + 1')
    """
    if isinstance(value, bool):
        return str(value).lower()
    is_number = isinstance(value, int) or (isinstance(value, float) and isfinite(value))
    return repr(value) if is_number else value


def named_texts(
    value: Mapping[str, str] | Iterable[tuple[str, str]], path: str, *, constants: bool = False
) -> NamedTexts:
    """A mapping from names to texts as a tuple of pairs, so that a box stays a hashable value.

    With `constants`, a number, True or False is the text of itself.
    """
    guard(value, Iterable, path, "a mapping from names to expressions")
    pairs: tuple[Any, ...] = tuple(value.items() if isinstance(value, Mapping) else value)
    if not pairs:
        raise AlgebraError(Problem(path, "is empty", "at least one 'name: expression'"))
    found: dict[str, str] = {}
    with Gathering() as gathering:
        for index, pair in enumerate(pairs):
            with gathering.at():
                name, text = _named_text(pair, path, index, constants)
                if name in found:
                    raise AlgebraError(Problem(f"{path}.{name}", "occurs twice", "each name only once"))
                found[name] = text
    return tuple(found.items())


def _named_text(pair: Any, path: str, index: int, constants: bool) -> tuple[str, str]:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise AlgebraError(Problem(f"{path}[{index}]", f"is {shown(pair)}", "a name and an expression"))
    name, text = pair[0], constant_text(pair[1]) if constants else pair[1]
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


def window_calls(functions: NamedTexts, schema: Schema, *, interpolation: bool = False) -> WindowFunctions:
    """The typed window functions of a box, and the attributes that are computed from their results."""
    expressions: dict[str, WindowExpression] = {}
    with Gathering() as found:
        for name, text in functions:
            with found.at(f"functions.{name}"):
                expressions[name] = parse_window(text).bind(schema, interpolation=interpolation)
    return combined(expressions)


def call_fields(functions: WindowFunctions) -> tuple[Field, ...]:
    """The attributes that window functions add to an output."""
    return tuple(Field(name, value.type, value.nullable) for name, value in functions.values.items())
