"""The boxes with two inputs: Join, as-of join and Resample.

In: predicates, orders and sizes. Out: frozen values, and what they have in common: names, equalities, sides.
"""

from australis.algebra.boxes.two_inputs.asof import AsOf, BoundAsOf
from australis.algebra.boxes.two_inputs.join import BoundJoin, Join
from australis.algebra.boxes.two_inputs.resample import BoundResample, Resample
from australis.algebra.boxes.two_inputs.sides import (
    ANTI,
    INNER,
    LEFT,
    SEMI,
    SIDES,
    UNMATCHED,
    conjuncts,
    equalities,
    pair_name,
)

__all__ = [
    "ANTI",
    "INNER",
    "LEFT",
    "SEMI",
    "SIDES",
    "UNMATCHED",
    "AsOf",
    "BoundAsOf",
    "BoundJoin",
    "BoundResample",
    "Join",
    "Resample",
    "conjuncts",
    "equalities",
    "pair_name",
]
