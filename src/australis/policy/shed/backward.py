"""Backward interval propagation: an output value expressed by the attributes at a gate upstream (Aurora 4.5).

Instead of inverting box by box, the expression of the value moves upstream, each attribute in it replaced by
the expression that a Map has for it. At the gate, `predicates` inverts it once if it is monotone in one
attribute; otherwise it is compared as it is. So the predicate at the gate holds for exactly the tuples whose
results it would hold for at the output.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Union,
    WSort,
    equalities,
)
from australis.algebra.expr import Attribute, Expr, UserCall, attributes, substituted, walk
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema

NODES_MAX = 100
"""The largest expression that may be computed for each tuple at a gate."""

Ports = Mapping[int, Expr]
"""An expression for each input port of a box through which it continues."""


def backward(network: Network, source: Ref, expr: Expr, gates: Collection[Ref]) -> dict[Ref, Expr] | None:
    """An expression over the tuples of a stream as expressions over those of the streams at gates.

    None if a box on the way does not determine which tuple a value comes from, or if tuples of one gate take
    two paths with different values.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.algebra.expr import text_of
    >>> from australis.algebra.types import DOUBLE
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "m double").filter("m > 0").map({"km": "m / 1000"}, as_="far").output("y")
    >>> found = backward(net.build(), Ref("far"), Attribute("km", DOUBLE), [Ref("x")])
    >>> {str(ref): text_of(each) for ref, each in found.items()}
    {'x': '(m / 1000.0D)'}
    """
    found: dict[Ref, Expr] = {}
    rest = [(source, expr)]
    while rest:
        ref, each = rest.pop()
        if ref in gates:
            if found.setdefault(ref, each) != each:
                return None
        elif (ports := _through(network, ref, each)) is None:
            return None
        else:
            rest += [(network.boxes[ref.id].sources[port], above) for port, above in ports.items()]
    return found if all(_is_simple(each) for each in found.values()) else None


def _through(network: Network, ref: Ref, expr: Expr) -> Ports | None:
    """The expression before the box that produces a stream."""
    if ref.id not in network.boxes:
        return None
    box, schemas = network.boxes[ref.id].box.core, network.input_schemas(ref.id)
    match box:
        case Filter() | BSort() | WSort() | Drop():
            return {0: expr}
        case Union():
            return dict.fromkeys(range(len(schemas)), expr)
        case Map():
            return {0: substituted(expr, box.bind(schemas[0]))}
        case _:
            return _before_window(box, schemas, expr)


def _before_window(box: Box, schemas: tuple[Schema, ...], expr: Expr) -> Ports | None:
    """Windows and pairs: only attributes that a result takes from all its tuples, or from those of one side.

    A Tumble is excluded: without the tuples of one run, its two neighbours would merge into one.
    """
    match box:
        case Aggregate(order=order) if attributes(expr) <= set(order.group_by):
            return {0: expr}
        case Resample(left=left, right=right, keep=keep):
            if attributes(expr) <= set(right.group_by):
                return {1: expr}
            return {0: expr} if attributes(expr) <= {left.on, *keep} else None
        case Join():
            return _before_join(box, schemas, expr)
    return None


def _before_join(box: Join, schemas: tuple[Schema, ...], expr: Expr) -> Ports | None:
    """One side, if all attributes belong to it; and the other one, if they equal attributes of it.

    Not a side whose tuples decide which ones of the other side have no partner.
    """
    named = box.origins(*schemas)
    pairs = equalities(box.bind(*schemas).predicate)
    for port in (0, 1):
        if (
            attributes(expr) <= named[port].keys()
            and box.table_side != port
            and 1 - port not in box.unmatched
        ):
            own = _renamed(expr, named[port], schemas[port])
            equal = {pair[port]: pair[1 - port] for pair in pairs}
            if attributes(own) <= equal.keys() and box.table_side is None:
                return {port: own, 1 - port: _renamed(own, equal, schemas[1 - port])}
            return {port: own}
    return None


def _renamed(expr: Expr, names: Mapping[str, str], schema: Schema) -> Expr:
    used = {name: schema[names[name]] for name in attributes(expr)}
    return substituted(expr, {name: Attribute(f.name, f.type, f.nullable) for name, f in used.items()})


def _is_simple(expr: Expr) -> bool:
    nodes = list(walk(expr))
    return len(nodes) <= NODES_MAX and not any(isinstance(node, UserCall) for node in nodes)
