"""Resample: functions over the right tuples near each left tuple (Aurora 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import (
    Box,
    NamedTexts,
    Names,
    Passings,
    at,
    call_fields,
    check_syntax,
    named_texts,
    window_calls,
)
from australis.algebra.boxes.two_inputs.sides import (
    Slacks,
    check_side,
    equalities,
    key_predicate,
    order_types,
    slacks,
    used_of,
)
from australis.algebra.expr import Expr, WindowCall, WindowFunctions, parse, parse_window
from australis.algebra.guards import Gathering, guard
from australis.algebra.order import Order, common_order_type, distinct_names, lookup
from australis.algebra.progress import Passing, Shift
from australis.algebra.schema import Field, Schema
from australis.algebra.spans import Span, units
from australis.algebra.types import TIMESTAMP, DataType
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class BoundResample:
    """A Resample with its types."""

    order_type: DataType
    functions: WindowFunctions
    size: int | float
    predicate: Expr | None
    equated: list[tuple[str, str]]
    slacks: Slacks
    """As in `BoundJoin`."""


@dataclass(frozen=True)
class Resample(Box):
    """`Resample(F.., Size s, Left Assuming O1, Right Assuming O2)`: F over what is near each left tuple.

    For a left tuple t and each group of the right input: the attributes grouped by, t's order value, those
    attributes of t that `keep` names, and F over the group's tuples whose order is at most `size` from t's. A
    result is emitted when its window is complete: when the group's order has passed t's by more than `size`.
    Empty windows emit nothing. With a predicate, which equates each attribute grouped by with one of t, only
    t's own group is asked. Without `extrapolate`, interpolation needs a value on either side.
    """

    functions: NamedTexts
    size: Span
    left: Order
    right: Order
    predicate: str | None = None
    keep: tuple[str, ...] = ()
    extrapolate: bool = True
    kind: ClassVar[str] = "resample"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        object.__setattr__(self, "keep", distinct_names(self.keep, "keep"))
        check_syntax(self.functions, "functions", parse_window)
        check_side(self.left, "left")
        check_side(self.right, "right")
        guard(self.extrapolate, bool, "extrapolate", "true or false")
        if self.predicate is not None:
            with at("predicate"):
                parse(self.predicate)
        if self.left.group_by and self.predicate is None:
            what = "without a predicate, a left tuple asks all groups of the right"
            expected = "no group_by on the left, or a predicate such as left.id = right.id"
            raise AlgebraError(Problem("left.group_by", what, expected))
        if self.left.by_progress and self.predicate is None and not self.right.by_progress:
            what = "is by slack, but the left order is by progress"
            raise AlgebraError(Problem("right.by", what, "by: progress on both sides, or a predicate"))
        if self.left.on in self.keep:
            raise AlgebraError(
                Problem("keep", f"{self.left.on!r} is in the result anyway", "other attributes")
            )

    def bind(self, left: Schema, right: Schema) -> BoundResample:
        """The box with types, for inputs of two schemas."""
        with Gathering() as found:
            with found.at():
                functions = window_calls(self.functions, right, interpolation=True)
            with found.at():
                predicate = key_predicate(self.predicate, left, right)
                equated = [] if predicate is None else equalities(predicate)
                self._check_groups(equated)
            for index, name in enumerate(self.keep):
                with found.at():
                    lookup(left, name, f"keep[{index}]")
            left_type, right_type = order_types((self.left, self.right), (left, right))
            assert left_type is not None
            assert right_type is not None
            order_type = common_order_type(left_type, right_type)
            with at("size"):
                size = units(self.size, order_type, zero=True)
        lengths = slacks((self.left, self.right), (left, right))
        return BoundResample(order_type, functions, size, predicate, equated, lengths)

    def _check_groups(self, equated: list[tuple[str, str]]) -> None:
        """Refuse a predicate that does not determine one group of the right for each left tuple."""
        if self.predicate is None:
            return
        names = [name for _, name in equated]
        if sorted(names) != sorted(self.right.group_by):
            groups = ", ".join(self.right.group_by) or "nothing"
            what = f"equates {', '.join(names)}, but the right groups by {groups}"
            raise AlgebraError(
                Problem("predicate", what, "one equality for each attribute of right.group_by")
            )
        for name in self.left.group_by:
            if name not in {name for name, _ in equated}:
                what = f"{name!r} is in no equality of the predicate"
                raise AlgebraError(Problem("left.group_by", what, "attributes that the predicate equates"))

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        left, right = inputs
        bound = self.bind(left, right)
        groups = tuple(right[name] for name in self.right.group_by)
        at_order = Field(self.left.on, left[self.left.on].type, False)
        kept = tuple(left[name] for name in self.keep)
        with at("functions"):
            results = Schema((*groups, at_order, *kept, *call_fields(bound.functions)))
        return self.with_late(results, left, right)

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.left, 1: self.right}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        if not (self.left.by_progress and self.right.by_progress):
            return ({},)
        # A left tuple waits until the right side has passed it by more than the size.
        size = Shift(-self.bind(*schemas).size)
        return ({self.left.on: (Passing(0, self.left.on), Passing(1, self.right.on, size))},)

    def holds_us(self, *schemas: Schema) -> int:
        bound = self.bind(*schemas)
        slack = max(self.left.holds_us(schemas[0]), self.right.holds_us(schemas[1]))
        return int(bound.size) + slack if bound.order_type == TIMESTAMP else 0

    def partition_keys(self, port: int) -> Sequence[str]:
        # Without a predicate none: it drops a left tuple when all groups that it knows have passed it.
        return () if self.predicate is None else (self.left, self.right)[port].group_by

    def equated(self, *schemas: Schema) -> Sequence[tuple[str, str]]:
        return self.bind(*schemas).equated

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        predicate = self.bind(*schemas).predicate
        return () if predicate is None else (predicate,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return self.bind(*schemas).functions.calls

    def rejects(self, *schemas: Schema) -> bool:
        return self.left.rejects(schemas[0]) or self.right.rejects(schemas[1])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        left, right = schemas
        used = self._used(*schemas)
        arguments = Names(name for name in used if name in right)
        read = (
            used_of("left", left, used) | self.left.reads | Names(self.keep),
            used_of("right", right, used) | self.right.reads | arguments,
        )
        return self.with_wanted_late(read, wanted)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        equal = {there: here for here, there in self.bind(*schemas).equated}
        left = {name: name for name in (self.left.on, *self.keep)}
        right = {name: name for name in self.right.group_by}
        return self.but_late(({**equal, **left}, right), *schemas)
