"""Random networks whose order-sensitive boxes all group by one attribute: a node spreads them by it.

Among them are joins with a stored table, with and without an order on the stream, and boxes of two streams
that equate the attribute.
"""

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
    make_asof,
    make_bsort,
    make_filter,
    make_join,
    make_map,
    make_resample,
    make_union,
    one_of,
    order,
    random_progress,
)

from australis.algebra.boxes import Aggregate, AsOf, BSort, Join, Resample
from australis.algebra.network import Input, Network, Output, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Schema, parse_schema

KEY = "g"
TABLE = "stored"
KEYS = (*"abcdefghijkl", "", None)
ORDERED = (make_aggregate, make_bsort)
MEETING = (make_join, make_join, make_asof, make_resample)
STATELESS = (make_filter, make_map, make_union)


def keyed_network(random: Random, boxes_most: int = 5) -> Network:
    """A network all of whose streams are outputs, and that has at least one order-sensitive box."""
    draft = Draft(random, random.choice(["int", "long", "timestamp"]))
    for number in range(random.randint(1, 2)):
        schema = parse_schema(f"at {draft.order_type}, g string, k int, x double, b boolean")
        draft.inputs[f"in{number}"] = Input(schema, progress=random_progress(random, schema))
        draft.streams[Ref(f"in{number}")] = schema
    kinds = STATELESS
    if random.random() < 0.6:
        draft.inputs[TABLE] = Input(parse_schema("name string, w long"), table=True)
        kinds = (*STATELESS, make_lookup, make_lookup, make_lookup)
    for number in range(random.randint(1, boxes_most)):
        add_box(draft, f"box{number}", (make_keyed, make_meeting, random.choice(kinds)))
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
    keys = _keys(draft.streams[source])
    if not keys:
        return None
    return replace(box, order=_by_key(box.order, draft.random.choice(keys))), [source]


def make_meeting(draft: Draft) -> Made:
    """A box of two streams that equates their keys; what has no groups goes by progress."""
    random, made = draft.random, draft.random.choice(MEETING)(draft)
    if made is None:
        return None
    box, sources = made
    assert isinstance(box, Join | AsOf | Resample)
    names = [_keys(draft.streams[source]) for source in sources]
    if not all(names):
        return None
    keys = [random.choice(each) for each in names]
    assert box.left is not None
    assert box.right is not None
    pairs = zip((box.left, box.right), keys, strict=True)
    left, right = (
        found if random.random() < (0.5 if found.by_progress else 0.1) else _by_key(found, key)
        for found, key in pairs
    )
    if not isinstance(box, Join) or random.random() < 0.7:
        # What the right side has passed for a tuple must be known.
        right = replace(right, group_by=(keys[1],))
    equal = f"left.{keys[0]} = right.{keys[1]}"
    predicate = f"{equal} and {box.predicate}" if box.predicate and random.random() < 0.5 else equal
    return replace(box, left=left, right=right, predicate=predicate), sources


def make_lookup(draft: Draft) -> Made:
    """A join with the stored table; an order on the stream is by the key and perhaps more."""
    random, stream = draft.random, draft.any_stream()
    schema = draft.streams[stream]
    text = one_of(random, schema, lambda f: f.type.name == "string")
    found = order(random, schema, marked=draft.marked(stream)) if random.random() < 0.5 else None
    if text is None or (found is not None and KEY not in schema):
        return None
    own = None if found is None else _by_key(found, KEY)
    if random.random() < 0.5:
        how = random.choice(("inner", "left", "semi", "anti"))
        return Join(f"left.{text} = right.name", None, own, None, how, "right"), [stream, Ref(TABLE)]
    how = random.choice(("inner", "right"))
    return Join(f"right.{text} = left.name", None, None, own, how, "left"), [Ref(TABLE), stream]


def _by_key(found: Order, key: str) -> Order:
    return replace(found, group_by=(key, *(name for name in found.group_by if name != key)))


def _keys(schema: Schema) -> list[str]:
    """The attributes that may have the key: joins call them by their side."""
    return [f.name for f in schema if f.name.rpartition("_")[2] == KEY and f.type.name == "string"]


def rows_of_table(random: Random) -> list[dict[str, Any]]:
    """Rows of the stored table: some keys have one, some several, some none."""
    return [{"name": random.choice(KEYS), "w": random.randint(-3, 3)} for _ in range(random.randint(0, 12))]


def many_keys(random: Random, events: list[Event]) -> list[Event]:
    """The events with enough keys for all partitions."""
    return [replace(event, rows=tuple(_with_key(random, *row) for row in event.rows)) for event in events]


def _with_key(random: Random, values: dict[str, Any], ts: int) -> tuple[dict[str, Any], int]:
    return {**values, KEY: random.choice(KEYS)}, ts
