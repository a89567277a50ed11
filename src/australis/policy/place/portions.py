"""The predicate of a split: which tuples stay, so that a wanted fraction of them does (Aurora* 5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from australis.algebra.expr import Attribute, Literal, Value, text_of
from australis.algebra.network import Network
from australis.algebra.schema import Field
from australis.policy.place.parting import keys, stream_of
from australis.policy.place.survey import Survey
from australis.reference.order import ascending

STEPS = 64
"""The number of portions into which whole numbers are distributed by their remainders."""
NAMED_MOST = 16
"""With more values than this, a portion is a range of values, not a list."""


@dataclass(frozen=True)
class Portion:
    """A predicate that keeps a fraction of the tuples, and the fraction expected."""

    keeps: str
    kept: float


def portion(survey: Survey, box_id: str, kept: float) -> Portion | None:
    """A predicate for a box that keeps about a fraction of its tuples, and its groups whole if it has any.

    Counted values of an attribute are better than the remainders of a whole number, whose distribution is
    unknown; None if there is neither.
    """
    schema = stream_of(survey.network, box_id)
    names = [field.name for field in _deciding(survey.network, box_id)]
    counted = survey.values.get(box_id)
    if counted is not None and counted.attribute in names:
        return by_values(schema[counted.attribute], counted.counts, kept)
    whole = next((name for name in names if schema[name].type.is_integral), None)
    return None if whole is None else by_remainder(schema[whole], kept)


def _deciding(network: Network, box_id: str) -> Iterator[Field]:
    """The attributes that a predicate may read: the keys of groups, or any if there are no groups."""
    box, schema = network.boxes[box_id].box, stream_of(network, box_id)
    own = keys(box, network.input_schemas(box_id))
    return (field for field in schema if not own or field.name in own)


def by_remainder(field: Field, kept: float) -> Portion:
    """By the remainder of a whole number; NULL stays.

    >>> from australis.algebra.schema import parse_schema
    >>> by_remainder(parse_schema("sid int not null")["sid"], 0.25)
    Portion(keeps='pmod(sid, 64) < 16', kept=0.25)
    """
    steps = min(STEPS - 1, max(1, round(kept * STEPS)))
    return Portion(_or_null(field, f"pmod({_read(field)}, {STEPS}) < {steps}"), steps / STEPS)


def by_values(field: Field, counts: Mapping[Value, float], kept: float) -> Portion | None:
    """By the values themselves: a list of few, a range of many; None if all tuples have one value.

    >>> from australis.algebra.schema import parse_schema
    >>> by_values(parse_schema("city string")["city"], {"Cambridge": 60, "Waltham": 30, "Salem": 10}, 0.6)
    Portion(keeps="city IS NULL OR NOT city IN ('Waltham', 'Salem')", kept=0.6)
    """
    known: dict[Value, float] = {
        value: count for value, count in counts.items() if value is not None and count > 0
    }
    if len(known) < 2:
        return None
    return (_named if len(known) <= NAMED_MOST else _range)(field, known, kept)


def _named(field: Field, counts: Mapping[Value, float], kept: float) -> Portion:
    """The greatest values that together do not exceed what should go; at least the least of all."""
    total = fsum(counts.values())
    left, gone = (1 - kept) * total * (1 + 1e-9), list[Value]()
    for value in sorted(counts, key=lambda each: (-counts[each], ascending(each))):
        if counts[value] <= left:
            gone.append(value)
            left -= counts[value]
    gone = gone or [min(counts, key=lambda each: (counts[each], ascending(each)))]
    listed = ", ".join(text_of(Literal(value, field.type)) for value in gone)
    stays = 1 - fsum(counts[value] for value in gone) / total
    return Portion(_or_null(field, f"NOT {_read(field)} IN ({listed})"), stays)


def _range(field: Field, counts: Mapping[Value, float], kept: float) -> Portion:
    """The values below a bound: the nearest quantile."""
    values = sorted(counts, key=ascending)
    total, below = fsum(counts.values()), 0.0
    bounds = []
    for value, following in pairwise(values):
        below += counts[value]
        bounds.append((abs(below / total - kept), following, below / total))
    _, bound, stays = min(bounds, key=lambda each: each[0])
    return Portion(_or_null(field, f"{_read(field)} < {text_of(Literal(bound, field.type))}"), stays)


def _or_null(field: Field, text: str) -> str:
    return f"{_read(field)} IS NULL OR {text}" if field.nullable else text


def _read(field: Field) -> str:
    return text_of(Attribute(field.name, field.type))
