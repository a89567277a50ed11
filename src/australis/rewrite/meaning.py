"""Properties of boxes and expressions that the rules depend on."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.expr import Expr, parse, text_of
from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.errors import AlgebraError


def is_pure(network: Network, box_id: str) -> bool:
    """Whether a box calls no user function, whose side effects would be unknown."""
    return network.boxes[box_id].box.is_pure(*network.input_schemas(box_id))


def rejects(network: Network, box_id: str) -> bool:
    """Whether a box may send a tuple to the quarantine, on any of its ports."""
    return network.boxes[box_id].box.rejects(*network.input_schemas(box_id))


def writable(expr: Expr, scope: Schema | Mapping[str, Schema]) -> bool:
    """Whether an expression can be written as a text with the same meaning; not if it is too long or deep."""
    try:
        return parse(text_of(expr)).bind(scope) == expr
    except AlgebraError:
        # An answer, not an error: such an expression stays as it is.
        return False
