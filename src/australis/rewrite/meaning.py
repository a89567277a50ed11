"""What rules ask about the boxes and expressions of a network."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.expr import Expr, parse, text_of
from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.errors import AlgebraError


def is_pure(network: Network, box_id: str) -> bool:
    """Whether a box calls no function of the user's, of which nobody knows what else it does."""
    return network.boxes[box_id].box.is_pure(*network.input_schemas(box_id))


def rejects(network: Network, box_id: str) -> bool:
    """Whether a box may send a tuple to the quarantine, on any of its ports."""
    return network.boxes[box_id].box.rejects(*network.input_schemas(box_id))


def writable(expr: Expr, scope: Schema | Mapping[str, Schema]) -> bool:
    """Whether an expression can be written as a text that means the same; one too long or deep cannot."""
    try:
        return parse(text_of(expr)).bind(scope) == expr
    except AlgebraError:
        # The answer: such an expression stays as it is.
        return False
