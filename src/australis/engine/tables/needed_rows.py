"""Which rows of a stored data set matter to the boxes that read it, so that no others need to be read."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from australis.algebra.boxes import Filter, Join
from australis.algebra.expr import Attribute, Call, Case, Cast, Expr, UserCall, attributes, walk
from australis.algebra.network import Network, Ref
from australis.algebra.types import BOOLEAN

SIDES = ("left", "right")


def wanted(network: Network, name: str) -> Expr | None:
    """A predicate that holds for every row of an input that has any effect; None if all have.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.algebra.expr import text_of
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("cars", "id int, power int", store="cars.csv").filter("power > 100").output("fast")
    >>> text_of(wanted(net.build(), "cars"))
    '(power > 100)'
    """
    ref = Ref(name)
    ends = [output.source for output in network.outputs.values()]
    ends += [point.at for point in network.connection_points.values()]
    if ref in ends:
        return None
    found = [_by(network, box_id, port) for box_id, port in network.consumers[ref]]
    known = [each for each in found if each is not None]
    where = reduce(_either, known) if known and len(known) == len(found) else None
    # A row may come without its weight, and a gate multiply it: a predicate on it says nothing of the row.
    is_sure = where is None or network.inputs[name].weight not in attributes(where)
    return where if is_sure else None


def join_keys(network: Network, name: str) -> list[tuple[str, ...]]:
    """For every box that reads a stored table, the table's attributes by which it looks up rows."""
    return [
        tuple(network.boxes[box_id].box.lookup_keys(*network.input_schemas(box_id)))
        for box_id, _ in network.consumers[Ref(name)]
    ]


def _by(network: Network, box_id: str, port: int) -> Expr | None:
    """What a box requires of the tuples on a port."""
    box = network.boxes[box_id].box
    if isinstance(box, Filter):
        return _filtered(network, box_id, box)
    if isinstance(box, Join) and box.table_side == port:
        own = _own(box.bind(*network.input_schemas(box_id)).predicate, SIDES[port])
        return reduce(_both, own) if own else None
    return None


def _filtered(network: Network, box_id: str, box: Filter) -> Expr | None:
    """That any predicate of a filter holds, unless tuples that satisfy none are read, too."""
    rest = Ref(box_id, len(box.predicates))
    ends = {output.source for output in network.outputs.values()}
    ends |= {point.at for point in network.connection_points.values()}
    if rest in ends or network.consumers.get(rest):
        return None
    return reduce(_either, box.bind(*network.input_schemas(box_id)))


def _own(expr: Expr, side: str) -> list[Expr]:
    """The parts of a conjunction that concern one side alone."""
    if isinstance(expr, Call) and expr.function == "and":
        return [part for arg in expr.args for part in _own(arg, side)]
    sides = {node.side for node in walk(expr) if isinstance(node, Attribute)}
    return [_alone(expr)] if sides == {side} else []


def _alone(expr: Expr) -> Expr:
    """An expression of a pair as one of a single tuple."""
    match expr:
        case Attribute():
            return replace(expr, side=None)
        case Call(args=args) | UserCall(args=args):
            return replace(expr, args=tuple(map(_alone, args)))
        case Cast(arg=arg):
            return replace(expr, arg=_alone(arg))
        case Case(branches=branches, otherwise=otherwise):
            changed = tuple((_alone(when), _alone(then)) for when, then in branches)
            return replace(expr, branches=changed, otherwise=_alone(otherwise))
    return expr


def _either(one: Expr, other: Expr) -> Expr:
    return Call("or", (one, other), BOOLEAN)


def _both(one: Expr, other: Expr) -> Expr:
    return Call("and", (one, other), BOOLEAN)
