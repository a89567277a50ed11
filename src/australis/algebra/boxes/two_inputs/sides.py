"""What boxes with two inputs share: names in pairs, attributes that are equal, the orders of both sides."""

from __future__ import annotations

from types import NoneType

from australis.algebra.boxes.box import Names, at, predicate
from australis.algebra.expr import Attribute, Call, Expr, text_of
from australis.algebra.guards import Gathering, Kinds, guard, shown
from australis.algebra.order import Order
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem

Slacks = tuple[int | float | None, int | float | None]
SIDES = ("left", "right")
"""The two inputs by port."""
INNER, LEFT, RIGHT, FULL, SEMI, ANTI = "inner", "left", "right", "full", "semi", "anti"
"""What a join emits: pairs; pairs, and tuples of one or both sides that have no partner; left tuples that
have a partner, or have none."""
UNMATCHED: dict[str, frozenset[int]] = {
    INNER: frozenset(),
    LEFT: frozenset({0}),
    RIGHT: frozenset({1}),
    FULL: frozenset({0, 1}),
    SEMI: frozenset(),
    ANTI: frozenset({0}),
}
"""For each kind of join, the ports whose tuples are emitted where they have no partner."""


def pair_name(name: str, side: str, other: Schema) -> str:
    """The name that an attribute of one side has in the pair."""
    return f"{side}_{name}" if name in other else name


def names_of_pair(schemas: tuple[Schema, ...]) -> tuple[dict[str, str], ...]:
    """For each side, its attributes by the names that they have in the pair."""
    sides = zip(SIDES, schemas, reversed(schemas), strict=True)
    return tuple({pair_name(f.name, side, other): f.name for f in own} for side, own, other in sides)


def read_of_pair(side: str, own: Schema, other: Schema, used: Names, wanted: Names) -> Names:
    """The attributes needed of one side. Those that both sides have stay, as their names depend on it."""
    handed_on = {f.name for f in own if f.name in other or pair_name(f.name, side, other) in wanted}
    return Names(handed_on) | used_of(side, own, used)


def used_of(side: str, own: Schema, used: Names) -> Names:
    """The attributes of one side that expressions over both read."""
    return Names(f.name for f in own if f"{side}.{f.name}" in used)


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


def conjuncts(expr: Expr) -> list[Expr]:
    """The conditions that all must hold."""
    if isinstance(expr, Call) and expr.function == "and":
        return [conjunct for arg in expr.args for conjunct in conjuncts(arg)]
    return [expr]


def key_predicate(text: str | None, left: Schema, right: Schema) -> Expr | None:
    """A typed predicate that only equates attributes of both sides; None if there is none."""
    if text is None:
        return None
    bound = predicate(text, {"left": left, "right": right}, "predicate")
    for each in conjuncts(bound):
        if not equalities(each):
            what = f"{text_of(each)} does not equate two attributes of one type"
            expected = "equalities such as left.id = right.id, joined by AND; a Map can cast attributes"
            raise AlgebraError(Problem("predicate", what, expected))
    return bound


def pair_schema(left: Schema, right: Schema, alone: frozenset[int]) -> Schema:
    """The attributes of pairs; those of a side may be NULL where the other one is emitted `alone`."""
    sides = zip(SIDES, (left, right), (right, left), (1, 0), strict=True)
    return Schema(
        tuple(
            Field(pair_name(f.name, side, other), f.type, f.nullable or other_port in alone)
            for side, own, other, other_port in sides
            for f in own
        )
    )


def order_types(
    orders: tuple[Order | None, Order | None], schemas: tuple[Schema, Schema]
) -> list[DataType | None]:
    """The types of both orders; that of a side without an order is None."""
    types = []
    with Gathering() as found:
        for side, order, schema in zip(SIDES, orders, schemas, strict=True):
            with found.at(side):
                types.append(None if order is None else order.type(schema))
    return types


def slacks(orders: tuple[Order | None, Order | None], schemas: tuple[Schema, Schema]) -> Slacks:
    """The slacks by length of both orders."""
    found = []
    for side, order, schema in zip(SIDES, orders, schemas, strict=True):
        with at(side):
            found.append(None if order is None else order.length(schema))
    return found[0], found[1]


def check_side(order: Order | None, side: str, *, optional: bool = False) -> None:
    """Refuse what is no order of a stream that is compared with another one."""
    kinds: Kinds = (Order, NoneType) if optional else Order
    guard(order, kinds, side, "an Order")
    if order is not None and order.on == TUP:
        raise AlgebraError(Problem(f"{side}.on", f"{TUP} of two streams cannot be compared", "an attribute"))


def check_word(word: str, allowed: tuple[str, ...], path: str) -> None:
    """Refuse a word that is none of those allowed."""
    if word not in allowed:
        raise AlgebraError(Problem(path, f"is {shown(word)}", f"one of {', '.join(allowed)}"))


def check_decidable(equated: list[tuple[str, str]], order: Order, port: int) -> None:
    """Refuse groups of one side (at `port`) that the equalities do not determine.

    A new group may start anywhere, so it would never be known what the side has passed. Marks tell it for
    all groups.
    """
    if order.by_progress:
        return
    side = SIDES[port]
    known = {pair[port] for pair in equated}
    for name in order.group_by:
        if name not in known:
            what = f"{name!r} is in no equality, so it is never known what the side has passed"
            expected = f"left.{name} = right.{name} in the predicate, or no group_by"
            raise AlgebraError(Problem(f"{side}.group_by", what, expected))


def open_ended(equated: list[tuple[str, str]], orders: tuple[Order, Order]) -> tuple[Problem, ...]:
    """A warning for each attribute of a group that lets the state of the other side grow without end."""
    equal = [{pair[port] for pair in equated} for port in (0, 1)]
    return tuple(
        Problem(
            f"{side}.group_by",
            f"{name!r} is in no equality of the predicate, so the other side's state grows without end",
            f"a condition such as left.{name} = right.{name}",
        )
        for port, (side, order) in enumerate(zip(SIDES, orders, strict=True))
        if not order.by_progress
        for name in order.group_by
        if name not in equal[port]
    )
