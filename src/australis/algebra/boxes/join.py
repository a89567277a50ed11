"""Join and Resample: the boxes with two inputs (Aurora 5.2.2.3 and 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import ClassVar

from australis.algebra.boxes.box import (
    Box,
    NamedTexts,
    Names,
    at,
    call_fields,
    check_syntax,
    named_texts,
    predicate,
    window_calls,
)
from australis.algebra.expr import Attribute, Call, Expr, WindowCall, parse, parse_window
from australis.algebra.guards import Gathering, Kinds, guard
from australis.algebra.order import Order, common_order_type
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.spans import Span, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class BoundJoin:
    """A Join with its types. `size` and `order_type` are None where a side is a stored table."""

    predicate: Expr
    order_type: DataType | None
    size: int | float | None


@dataclass(frozen=True)
class Join(Box):
    """`Join(P, Size s, Left Assuming O1, Right Assuming O2)`: pairs that are near each other and satisfy P.

    Near means that their order values differ by at most `size`; with size 0 they are equal. P names
    attributes as `left.pos` and `right.pos`. A side without an order is a stored table: a window of infinite
    size, so the join then has no `size`. Attributes that both sides have are called `left_pos` and
    `right_pos` in the result.
    """

    predicate: str
    size: Span | None = None
    left: Order | None = None
    right: Order | None = None
    kind: ClassVar[str] = "join"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = True
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        with at("predicate"):
            parse(self.predicate)
        _check_side(self.left, "left", (Order, NoneType))
        _check_side(self.right, "right", (Order, NoneType))
        if self.left is None and self.right is None:
            raise AlgebraError(
                Problem("", "both sides are stored tables", "an order for left, right or both")
            )
        if (self.size is None) == (self.table_side is None):
            expected = "size where both sides have an order, none where one is a stored table"
            raise AlgebraError(Problem("size", f"is {self.size!r}", expected))

    @property
    def table_side(self) -> int | None:
        """The port of the stored table, if there is one."""
        return 0 if self.left is None else 1 if self.right is None else None

    def lookup_keys(self, *schemas: Schema) -> Sequence[str]:
        side = self.table_side
        return () if side is None else tuple(pair[side] for pair in equalities(self.bind(*schemas).predicate))

    def bind(self, left: Schema, right: Schema) -> BoundJoin:
        """The box with types, for inputs of two schemas."""
        with Gathering() as found:
            with found.at():
                bound = predicate(self.predicate, {"left": left, "right": right}, "predicate")
            types = _order_types((self.left, self.right), (left, right))
        if self.size is None or types[0] is None or types[1] is None:
            return BoundJoin(bound, None, None)
        order_type = common_order_type(types[0], types[1])
        with at("size"):
            return BoundJoin(bound, order_type, units(self.size, order_type, zero=True))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        left, right = inputs
        self.bind(left, right)
        fields = [Field(pair_name(f.name, "left", right), f.type, f.nullable) for f in left]
        fields += [Field(pair_name(f.name, "right", left), f.type, f.nullable) for f in right]
        return (Schema(tuple(fields)),)

    def partition_keys(self, port: int) -> Sequence[str]:
        order = (self.left, self.right)[port]
        return () if order is None else order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return (self.bind(*schemas).predicate,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        sides = zip((self.left, self.right), schemas, strict=True)
        return any(order is not None and order.rejects(schema) for order, schema in sides)

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        sides = (("left", self.left), ("right", self.right))
        used, pairs = self._used(*schemas), zip(sides, schemas, reversed(schemas), strict=True)
        return tuple(
            _read(side, own, other, used, wanted[0]) | (Names() if order is None else order.reads)
            for (side, order), own, other in pairs
        )

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        sides = zip(("left", "right"), schemas, reversed(schemas), strict=True)
        return tuple({pair_name(f.name, side, other): f.name for f in own} for side, own, other in sides)

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        equal = {side: {keys[side] for keys in equalities(self.bind(*inputs).predicate)} for side in (0, 1)}
        return tuple(
            Problem(
                f"{side}.group_by",
                f"{name!r} is in no equality of the predicate, so the other side's state grows without end",
                f"a condition such as left.{name} = right.{name}",
            )
            for port, (side, order) in enumerate((("left", self.left), ("right", self.right)))
            if order is not None and self.table_side is None
            for name in order.group_by
            if name not in equal[port]
        )


@dataclass(frozen=True)
class BoundResample:
    """A Resample with its types."""

    order_type: DataType
    calls: dict[str, WindowCall]
    size: int | float


@dataclass(frozen=True)
class Resample(Box):
    """`Resample(F.., Size s, Left Assuming O1, Right Assuming O2)`: F over what is near each left tuple.

    For a left tuple t and each group of the right input: the attributes grouped by, t's order value, and F
    over the group's tuples whose order is at most `size` from t's. A result is emitted when its window is
    complete: when the group's order has passed t's by more than `size`. Empty windows emit nothing.
    """

    functions: NamedTexts
    size: Span
    left: Order
    right: Order
    kind: ClassVar[str] = "resample"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        check_syntax(self.functions, "functions", parse_window)
        _check_side(self.left, "left", Order)
        _check_side(self.right, "right", Order)
        if self.left.group_by:
            raise AlgebraError(
                Problem(
                    "left.group_by",
                    "the result has no attributes of the left groups",
                    "no group_by on the left",
                )
            )

    def bind(self, left: Schema, right: Schema) -> BoundResample:
        """The box with types, for inputs of two schemas."""
        with Gathering() as found:
            with found.at():
                calls = window_calls(self.functions, right, interpolation=True)
            left_type, right_type = _order_types((self.left, self.right), (left, right))
            assert left_type is not None
            assert right_type is not None
            order_type = common_order_type(left_type, right_type)
            with at("size"):
                size = units(self.size, order_type, zero=True)
        return BoundResample(order_type, calls, size)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        left, right = inputs
        bound = self.bind(left, right)
        groups = tuple(right[name] for name in self.right.group_by)
        at_order = Field(self.left.on, left[self.left.on].type, False)
        with at("functions"):
            return (Schema((*groups, at_order, *call_fields(bound.calls))),)

    def partition_keys(self, port: int) -> Sequence[str]:
        # None: it drops a left tuple when all groups that it knows have passed it.
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return tuple(self.bind(*schemas).calls.values())

    def rejects(self, *schemas: Schema) -> bool:
        return self.left.rejects(schemas[0]) or self.right.rejects(schemas[1])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self.left.reads, self._used(*schemas) | self.right.reads)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({self.left.on: self.left.on}, {name: name for name in self.right.group_by})


def pair_name(name: str, side: str, other: Schema) -> str:
    """The name that an attribute of one side has in the pair."""
    return f"{side}_{name}" if name in other else name


def _read(side: str, own: Schema, other: Schema, used: Names, wanted: Names) -> Names:
    """The attributes that a Join needs of one side. Those of both sides stay, as their names depend on it."""
    handed_on = {f.name for f in own if f.name in other or pair_name(f.name, side, other) in wanted}
    return Names(handed_on | {f.name for f in own if f"{side}.{f.name}" in used})


def equalities(expr: Expr) -> list[tuple[str, str]]:
    """The pairs (left attribute, right attribute) that a predicate requires to be equal.

    Only attributes of one type compared directly count: they can be looked up by their value.
    """
    if isinstance(expr, Call) and expr.function == "and":
        return [pair for arg in expr.args for pair in equalities(arg)]
    if not (isinstance(expr, Call) and expr.function == "="):
        return []
    sides = {arg.side: arg for arg in expr.args if isinstance(arg, Attribute)}
    if set(sides) != {"left", "right"} or sides["left"].type != sides["right"].type:
        return []
    return [(sides["left"].name, sides["right"].name)]


def _order_types(
    orders: tuple[Order | None, Order | None], schemas: tuple[Schema, Schema]
) -> list[DataType | None]:
    """The types of both orders; that of a stored table is None."""
    types = []
    with Gathering() as found:
        for side, order, schema in zip(("left", "right"), orders, schemas, strict=True):
            with found.at(side):
                types.append(None if order is None else order.type(schema))
    return types


def _check_side(order: Order | None, side: str, kinds: Kinds) -> None:
    guard(order, kinds, side, "an Order")
    if order is not None and order.on == TUP:
        raise AlgebraError(Problem(f"{side}.on", f"{TUP} of two streams cannot be compared", "an attribute"))
