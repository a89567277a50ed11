"""The boxes of SQuAl, one family per file.

In: texts, numbers and orders. Out: frozen values that refuse bad arguments when they are made and derive
their output schemas from their input schemas. `BOXES` lists them all by name.
"""

from australis.algebra.boxes.aggregate import Aggregate, BoundAggregate, Slide, Tumble, XSection
from australis.algebra.boxes.box import Box, NamedTexts, Names, at, predicate
from australis.algebra.boxes.drop import Drop
from australis.algebra.boxes.filter import Filter
from australis.algebra.boxes.join import BoundJoin, BoundResample, Join, Resample, equalities, pair_name
from australis.algebra.boxes.map import Map
from australis.algebra.boxes.sort import BSort, WSort
from australis.algebra.boxes.union import Union

BOXES: dict[str, type[Box]] = {
    box.kind: box
    for box in (Filter, Map, Union, BSort, WSort, Aggregate, Tumble, Slide, XSection, Join, Resample, Drop)
}
"""Every box by its name in the JSON form."""

__all__ = [
    "BOXES",
    "Aggregate",
    "BSort",
    "BoundAggregate",
    "BoundJoin",
    "BoundResample",
    "Box",
    "Drop",
    "Filter",
    "Join",
    "Map",
    "NamedTexts",
    "Names",
    "Resample",
    "Slide",
    "Tumble",
    "Union",
    "WSort",
    "XSection",
    "at",
    "equalities",
    "pair_name",
    "predicate",
]
