"""Random networks whose order-sensitive boxes all group by one attribute: a node spreads them by it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from tests.conformance.random_networks import (
    Draft,
    Event,
    Made,
    add_box,
    make_aggregate,
    make_bsort,
    make_filter,
    make_map,
    make_union,
    random_progress,
)

from australis.algebra.boxes import Aggregate, BSort
from australis.algebra.network import Input, Network, Output, Ref
from australis.algebra.schema import parse_schema

KEY = "g"
KEYS = (*"abcdefghijkl", "", None)
ORDERED = (make_aggregate, make_bsort)
STATELESS = (make_filter, make_map, make_union)


def keyed_network(random: Random, boxes_most: int = 5) -> Network:
    """A network all of whose streams are outputs, and that has at least one order-sensitive box."""
    draft = Draft(random, random.choice(["int", "long", "timestamp"]))
    for number in range(random.randint(1, 2)):
        schema = parse_schema(f"at {draft.order_type}, g string, k int, x double, b boolean")
        draft.inputs[f"in{number}"] = Input(schema, progress=random_progress(random, schema))
        draft.streams[Ref(f"in{number}")] = schema
    for number in range(random.randint(1, boxes_most)):
        add_box(draft, f"box{number}", (make_keyed, random.choice(STATELESS)))
    add_box(draft, "last", (make_keyed,))
    outputs = {f"out{number}": Output(ref) for number, ref in enumerate(draft.streams)}
    return Network("keyed", draft.inputs, draft.boxes, outputs)


def make_keyed(draft: Draft) -> Made:
    """A box that keeps an order, by the key and perhaps more."""
    made = draft.random.choice(ORDERED)(draft)
    if made is None:
        return None
    box, (source,) = made
    assert isinstance(box, Aggregate | BSort)
    if KEY not in draft.streams[source]:
        return None
    others = tuple(name for name in box.order.group_by if name != KEY)
    return replace(box, order=replace(box.order, group_by=(KEY, *others))), [source]


def many_keys(random: Random, events: list[Event]) -> list[Event]:
    """The events with enough keys for all partitions."""
    return [replace(event, rows=tuple(_with_key(random, *row) for row in event.rows)) for event in events]


def _with_key(random: Random, values: dict[str, Any], ts: int) -> tuple[dict[str, Any], int]:
    return {**values, KEY: random.choice(KEYS)}, ts
