"""What rules ask about boxes: what they compute, whether only that, and whether they may reject a tuple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from australis.algebra.boxes import Aggregate, Box, BSort, Filter, Join, Map, Resample, Tumble, WSort
from australis.algebra.expr import Expr, UserCall, WindowCall, parse, text_of, walk
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.schema import TUP, Field, Schema
from australis.errors import AlgebraError


def expressions(box: Box, schemas: Sequence[Schema]) -> Iterator[Expr]:
    """The typed expressions that a box evaluates, the arguments of its window functions included."""
    match box.core:
        case Filter() as core:
            yield from core.bind(schemas[0])
        case Map() as core:
            yield from core.bind(schemas[0]).values()
        case Aggregate() as core:
            when = core.bind(schemas[0]).advance_when
            yield from () if when is None else (when,)
        case Join() as core:
            yield core.bind(*schemas).predicate
    for call in window_functions(box, schemas):
        yield from call.args


def window_functions(box: Box, schemas: Sequence[Schema]) -> tuple[WindowCall, ...]:
    """The typed window functions of a box."""
    match box.core:
        case Aggregate() as core:
            return tuple(core.bind(schemas[0]).calls.values())
        case Tumble() as core:
            return tuple(core.bind(schemas[0]).values())
        case Resample() as core:
            return tuple(core.bind(*schemas).calls.values())
    return ()


def is_pure(network: Network, box_id: str) -> bool:
    """Whether a box calls no function of the user's, of which nobody knows what else it does."""
    box, schemas = network.boxes[box_id].box, network.input_schemas(box_id)
    called = any(isinstance(part, UserCall) for expr in expressions(box, schemas) for part in walk(expr))
    return not called and not any(call.is_user for call in window_functions(box, schemas))


def rejects(network: Network, box_id: str) -> bool:
    """Whether a box may send a tuple to the quarantine, on any of its ports."""
    box, schemas = network.boxes[box_id].box.core, network.input_schemas(box_id)
    match box:
        case Aggregate(order=order) | BSort(order=order):
            return _may_not_place(order, schemas[0])
        case WSort(by=by):
            return any(schemas[0][name].nullable for name in by)
        case Join(left=left, right=right) | Resample(left=left, right=right):
            sides = zip((left, right), schemas, strict=True)
            return any(order is not None and _may_not_place(order, schema) for order, schema in sides)
    return False


def _may_not_place(order: Order, schema: Schema) -> bool:
    return order.on != TUP and not _always_has_a_place(schema[order.on])


def _always_has_a_place(attribute: Field) -> bool:
    """Whether all values of an attribute have a place in an order; no clock shows times beyond 2^62."""
    return not attribute.nullable and (
        attribute.type.name in ("int", "timestamp") or attribute.type.is_decimal
    )


def writable(expr: Expr, scope: Schema | Mapping[str, Schema]) -> bool:
    """Whether an expression can be written as a text that means the same; one too long or deep cannot."""
    try:
        return parse(text_of(expr)).bind(scope) == expr
    except AlgebraError:
        return False
