"""Changes and Lag: boxes that see a tuple beside an earlier one of its group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import (
    Box,
    NamedTexts,
    Names,
    Passings,
    at,
    check_syntax,
    forgets_after,
    named_texts,
    passed_on,
)
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.guards import Gathering, guard, is_a, shown
from australis.algebra.order import distinct_names, lookup
from australis.algebra.schema import Field, Schema
from australis.errors import AlgebraError, Problem

BACK_MAX = 100_000
"""The furthest that a Lag looks back: a group keeps that many tuples."""


class Earlier(Box):
    """A box that passes on tuples as they arrive, with attributes of earlier tuples of their groups added."""

    group_by: tuple[str, ...]
    forget: str | None
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    @property
    def forget_us(self) -> int | None:
        return forgets_after(self.forget, self.group_by)

    @property
    def remembers_groups(self) -> bool:
        return self.forget is None and bool(self.group_by)

    @abstractmethod
    def added(self) -> tuple[str, NamedTexts]:
        """The parameter that has the attributes of earlier tuples, and these."""

    def bind(self, schema: Schema) -> dict[str, Expr]:
        """The typed expressions over an earlier tuple, by the attribute that each computes."""
        parameter, texts = self.added()
        bound = {}
        with Gathering() as found:
            for index, name in enumerate(self.group_by):
                with found.at():
                    lookup(schema, name, f"group_by[{index}]")
            for name, text in texts:
                with found.at(f"{parameter}.{name}"):
                    bound[name] = parse(text).bind(schema)
        return bound

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        bound = self.bind(inputs[0])
        with at(self.added()[0]):
            return (Schema((*inputs[0], *(Field(name, expr.type, True) for name, expr in bound.items()))),)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        return (passed_on(schemas[0]),)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return tuple(self.bind(schemas[0]).values())

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return ((wanted[0] & Names(schemas[0].names)) | self._used(*schemas) | Names(self.group_by),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.group_by},)


@dataclass(frozen=True)
class Changes(Earlier):
    """`Changes(Of A.., GroupBy B..)`: the tuples whose A differ from those of the one before in their group.

    The first tuple of a group is one of them, unless `first` is false. `previous` adds attributes of the
    tuple with which the values before began, such as what they were and since when. Values are equal where
    SQL's GROUP BY says so. A group without tuples for longer than `forget`, of local time, begins anew.

    >>> alarms = Changes(("state",), ("sensor",), {"was": "state", "since": "time"})
    >>> alarms.previous
    (('was', 'state'), ('since', 'time'))
    """

    of: tuple[str, ...]
    group_by: tuple[str, ...] = ()
    previous: NamedTexts = ()
    first: bool = True
    forget: str | None = None
    kind: ClassVar[str] = "changes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", distinct_names(self.of, "of"))
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        guard(self.first, bool, "first", "True or False")
        if self.previous:
            object.__setattr__(self, "previous", named_texts(self.previous, "previous"))
        check_syntax(self.previous, "previous", parse)
        _ = self.forget_us
        if not self.of:
            raise AlgebraError(Problem("of", "is empty", "at least one attribute"))
        for index, name in enumerate(self.of):
            if name in self.group_by:
                raise AlgebraError(
                    Problem(f"of[{index}]", f"{name!r} never changes in a group", "another attribute")
                )

    def added(self) -> tuple[str, NamedTexts]:
        return "previous", self.previous

    def bind(self, schema: Schema) -> dict[str, Expr]:
        with Gathering() as found:
            for index, name in enumerate(self.of):
                with found.at():
                    lookup(schema, name, f"of[{index}]")
            with found.at():
                bound = super().bind(schema)
        return bound

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (super().reads(*schemas, wanted=wanted)[0] | Names(self.of),)


@dataclass(frozen=True)
class Lag(Earlier):
    """`Lag(A.., Back n, GroupBy B..)`: each tuple with attributes of the n-th tuple before it in its group.

    They are NULL for the first n tuples of a group. A group without tuples for longer than `forget`, of local
    time, begins anew.

    >>> Lag({"before": "price"}, ("stock",)).back
    1
    """

    attributes: NamedTexts
    group_by: tuple[str, ...] = ()
    back: int = 1
    forget: str | None = None
    kind: ClassVar[str] = "lag"

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", named_texts(self.attributes, "attributes"))
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        check_syntax(self.attributes, "attributes", parse)
        _ = self.forget_us
        if not is_a(self.back, int) or not 1 <= self.back <= BACK_MAX:
            expected = f"a whole number of tuples from 1 to {BACK_MAX}"
            raise AlgebraError(Problem("back", f"is {shown(self.back)}", expected))

    def added(self) -> tuple[str, NamedTexts]:
        return "attributes", self.attributes
