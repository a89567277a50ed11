"""Which tuples of a box belong together, and predicates that never separate them."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import Aggregate, Box, BSort, Join, Tumble, equalities, predicate
from australis.algebra.expr import Attribute, Expr, attributes, substituted, text_of
from australis.algebra.order import Order
from australis.algebra.quarantine_text import ORDER_LIMIT
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.types import DOUBLE, LONG
from australis.errors import PolicyError, Problem

Keys = Mapping[str, str]
"""The attributes that are the same in a whole group, each with its name at the other input."""


def keys(box: Box, schemas: tuple[Schema, ...]) -> Keys:
    """The attributes that a predicate may read if it must keep the groups of a box whole.

    Slack, windows and lateness are per group. Doubles are not keys: 0.0 and -0.0 are in one group.
    """
    match box.core:
        case Tumble(group_by=names):
            found = {name: name for name in names}
        case Join() as join:
            found = _pairs(join, schemas)
        case core:
            found = {name: name for name in core.partition_keys(0)} if len(schemas) == 1 else {}
    return {name: other for name, other in found.items() if schemas[stream_side(box)][name].type != DOUBLE}


def _pairs(box: Join, schemas: tuple[Schema, ...]) -> dict[str, str]:
    """Attributes by which both sides are grouped, and that are equal in every pair."""
    if box.left is None or box.right is None:
        # A stored table is read whole by both copies; without an order no tuple depends on another.
        order = box.left or box.right
        return {name: name for name in (order.group_by if order else schemas[stream_side(box)].names)}
    equal = equalities(box.bind(*schemas).predicate)
    return {a: b for a, b in equal if a in box.left.group_by and b in box.right.group_by}


def stream_side(box: Box) -> int:
    """The input whose attributes a predicate reads: the first that is not a stored table."""
    return 1 if box.table_side == 0 else 0


def keeps_groups(box: Box, schemas: tuple[Schema, ...], text: str) -> bool:
    """Whether a predicate is the same for all tuples of each group."""
    bound = predicate(text, schemas[stream_side(box)], "keeps")
    return attributes(bound) <= keys(box, schemas).keys()


def at_inputs(box: Box, schemas: tuple[Schema, ...], text: str) -> tuple[str | None, ...]:
    """The predicate at each input of a box; None for a stored table, which both copies read whole.

    Tuples without a place in an order go to the original box, so that the quarantine names it as before.
    """
    return tuple(_at_input(box, schemas, text, port) for port in range(len(schemas)))


def _at_input(box: Box, schemas: tuple[Schema, ...], text: str, port: int) -> str | None:
    side, said = stream_side(box), text
    if port == box.table_side:
        return None
    if isinstance(box.core, Join) and port != side:
        bound = predicate(text, schemas[side], "keeps")
        said = _renamed(bound, schemas[port], keys(box, schemas))
    return _with_misplaced(said, _order(box, port), schemas[port])


def _renamed(bound: Expr, schema: Schema, names: Keys) -> str:
    there = {name: _read(schema[other]) for name, other in names.items()}
    return text_of(substituted(bound, there))


def _order(box: Box, port: int) -> Order | None:
    """The order that a box expects at an input, if it may have no place for a value."""
    match box.core:
        case Aggregate(order=order) | BSort(order=order):
            return order
        case Join(left=left, right=right):
            return (left, right)[port]
    return None


def _with_misplaced(text: str, order: Order | None, schema: Schema) -> str:
    """A predicate that also holds for tuples without a place in an order."""
    if order is None or order.on == TUP:
        return text
    field, type_ = schema[order.on], schema[order.on].type
    if type_ == DOUBLE:
        what = f"orders by {order.on}, a double that may be NaN, which either copy could reject"
        raise PolicyError(Problem("order.on", what, "an order on whole numbers, decimals or timestamps"))
    name = text_of(_read(field))
    far = f" OR {name} >= {ORDER_LIMIT}L OR {name} <= -{ORDER_LIMIT}L" if type_ == LONG else ""
    null = f" OR {name} IS NULL" if field.nullable else ""
    return f"({text}){null}{far}" if null or far else text


def _read(field: Field) -> Attribute:
    return Attribute(field.name, field.type, field.nullable)
