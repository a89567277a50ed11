"""What the boxes that read a stream can pass, by the values of one attribute.

A Filter passes what the predicates of its ports allow, as far as the ports are read. A Map passes everything,
but where it copies the attribute, the boxes after it may not. A Join with a stored table passes the values
that the table has, where its other tuples cannot matter: neither as results without a partner, nor for
lateness, since that is decided by groups of this attribute or not at all, nor for the quarantine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import pyarrow as pa

from australis.algebra.boxes import Filter, Join, Map, equalities
from australis.algebra.expr import Attribute, UserCall, Value, walk
from australis.algebra.network import Network, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Field, Schema
from australis.algebra.types import DOUBLE
from australis.engine.history.allowed_values import EVERYTHING, NOTHING, Allowed, allowed, points
from australis.engine.store import Root, Segment, read_segment
from australis.plan.superboxes import Superbox

TABLE_ROWS_MOST = 10_000
"""The most rows of a stored table whose values are looked up one by one."""
Tables = Mapping[str, Sequence[Segment]]
"""The segments of the stored tables that a superbox reads, by input."""


def let_through(root: Root, superbox: Superbox, stream: str, field: Field, tables: Tables) -> Allowed:
    """The values of an attribute without which a stream's tuples do nothing in a superbox."""
    if _is_checked(superbox, stream):
        return EVERYTHING
    return _read_by_all(root, superbox.network, Ref(stream), field, tables)


def _read_by_all(root: Root, network: Network, ref: Ref, field: Field, tables: Tables) -> Allowed:
    """What all readers of a stream together let through."""
    if _is_read(network, ref, outputs_only=True):
        return EVERYTHING
    parts = [_behind(root, network, box, port, field, tables) for box, port in network.consumers[ref]]
    return reduce(Allowed.__or__, parts, NOTHING)


def _is_checked(superbox: Superbox, stream: str) -> bool:
    """Whether tuples of a stream may have to be quarantined here unchanged."""
    schema = superbox.network.inputs[stream].schema
    return stream in superbox.admits and any(not field.nullable for field in schema)


def _is_read(network: Network, ref: Ref, *, outputs_only: bool = False) -> bool:
    outputs = any(output.source == ref for output in network.outputs.values())
    return outputs or (not outputs_only and bool(network.consumers[ref]))


def _behind(root: Root, network: Network, box_id: str, port: int, field: Field, tables: Tables) -> Allowed:
    match network.boxes[box_id].box.core:
        case Filter() as box:
            return _filtered(network, box_id, box, field)
        case Map() as box:
            return _mapped(root, network, box_id, box, field, tables)
        case Join() as box if box.table_side == 1 - port:
            return _joined(root, network, box_id, box, field, tables)
    return EVERYTHING


def _filtered(network: Network, box_id: str, box: Filter, field: Field) -> Allowed:
    predicates = box.bind(network.input_schemas(box_id)[0])
    if any(isinstance(node, UserCall) for each in predicates for node in walk(each)):
        return EVERYTHING
    read = [port for port in range(box.outputs) if _is_read(network, Ref(box_id, port))]
    if len(predicates) in read:
        return EVERYTHING
    return reduce(Allowed.__or__, (allowed(predicates[p], field, network.timezone) for p in read), NOTHING)


def _mapped(root: Root, network: Network, box_id: str, box: Map, field: Field, tables: Tables) -> Allowed:
    computed = box.bind(network.input_schemas(box_id)[0])
    if any(isinstance(node, UserCall) for each in computed.values() for node in walk(each)):
        return EVERYTHING
    handed_on = (n for n, expr in computed.items() if isinstance(expr, Attribute) and expr.name == field.name)
    name = next(handed_on, None)
    if name is None:
        return EVERYTHING
    emitted = Ref(box_id)
    return _read_by_all(root, network, emitted, network.schemas[emitted][name], tables)


def _joined(root: Root, network: Network, box_id: str, box: Join, field: Field, tables: Tables) -> Allowed:
    side = box.table_side
    assert side is not None
    schemas, source = network.input_schemas(box_id), network.boxes[box_id].sources[side]
    pairs = equalities(box.bind(*schemas).predicate)
    name = next((pair[side] for pair in pairs if pair[1 - side] == field.name), None)
    if name is None or box.unmatched or _matters(box.sides[1 - side], field, schemas[1 - side]):
        return EVERYTHING
    found = tables.get(source.id, ())
    if not 0 < sum(segment.rows for segment in found) <= TABLE_ROWS_MOST:
        return EVERYTHING
    return points((value for segment in found for value in _values(root, segment, name)), field)


def _matters(order: Order | None, field: Field, schema: Schema) -> bool:
    """Whether tuples without a partner may make others late, or go to the quarantine."""
    if order is None:
        return False
    at = schema[order.on]
    return field.name not in order.group_by or at.nullable or at.type == DOUBLE


def _values(root: Root, segment: Segment, name: str) -> list[Value]:
    column = read_segment(root, segment, [name], segment.base, segment.end)[name]
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    values: list[Value] = column.unique().to_pylist()
    return values
