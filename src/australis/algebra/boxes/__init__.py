"""The boxes of SQuAl, one family per file.

In: texts, numbers and orders. Out: frozen values that refuse bad arguments when they are made and derive
their output schemas from their input schemas. `BOXES` lists them all by name.
"""

from australis.algebra.boxes.aggregate import EMPTY_MOST, Aggregate, BoundAggregate, Slide, Tumble, XSection
from australis.algebra.boxes.box import Box, NamedTexts, Names, Passings, at, constant_text, predicate
from australis.algebra.boxes.distinct import Distinct
from australis.algebra.boxes.drop import Drop
from australis.algebra.boxes.earlier import Changes, Earlier, Lag
from australis.algebra.boxes.filter import Filter
from australis.algebra.boxes.map import Map
from australis.algebra.boxes.number import Number
from australis.algebra.boxes.sort import BSort, WSort
from australis.algebra.boxes.top import RANK, WINDOW, BoundTop, Top
from australis.algebra.boxes.two_inputs import (
    ANTI,
    INNER,
    LEFT,
    SEMI,
    SIDES,
    UNMATCHED,
    AsOf,
    BoundAsOf,
    BoundJoin,
    BoundResample,
    Join,
    Resample,
    conjuncts,
    equalities,
    pair_name,
)
from australis.algebra.boxes.union import Union
from australis.algebra.boxes.unnest import Unnest

BOXES: dict[str, type[Box]] = {
    box.kind: box
    for box in (
        *(Filter, Map, Union, Unnest, BSort, WSort, Aggregate, Tumble, Slide, XSection, Top),
        *(Changes, Lag, Distinct, Number),
        *(Join, AsOf, Resample, Drop),
    )
}
"""Every box by its name in the JSON form."""

__all__ = [
    "ANTI",
    "BOXES",
    "EMPTY_MOST",
    "INNER",
    "LEFT",
    "RANK",
    "SEMI",
    "SIDES",
    "UNMATCHED",
    "WINDOW",
    "Aggregate",
    "AsOf",
    "BSort",
    "BoundAggregate",
    "BoundAsOf",
    "BoundJoin",
    "BoundResample",
    "BoundTop",
    "Box",
    "Changes",
    "Distinct",
    "Drop",
    "Earlier",
    "Filter",
    "Join",
    "Lag",
    "Map",
    "NamedTexts",
    "Names",
    "Number",
    "Passings",
    "Resample",
    "Slide",
    "Top",
    "Tumble",
    "Union",
    "Unnest",
    "WSort",
    "XSection",
    "at",
    "conjuncts",
    "constant_text",
    "equalities",
    "pair_name",
    "predicate",
]
