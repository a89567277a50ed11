"""Random networks: loop-free graphs of random boxes over random schemas, with random events for them.

All random choices come from one `random.Random`; hypothesis passes in one whose choices it can shrink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from australis.algebra.boxes import (
    Aggregate,
    Box,
    BSort,
    Drop,
    Filter,
    Join,
    Map,
    Resample,
    Slide,
    Tumble,
    Union,
    WSort,
    XSection,
)
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.order import Order, is_orderable
from australis.algebra.schema import TUP, Field, Schema, parse_schema
from australis.errors import AlgebraError

ORDER_TYPES = ("int", "long", "double", "timestamp", "decimal(9,2)")
TIMEOUTS = (None, None, "1 us", "3 us", "8 us")
SIZES: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, 5),
    "long": (1, 3, 4),
    "double": (0.1, 0.3, 0.7),
    "timestamp": ("1 us", "3 us", "5 us"),
    "decimal": (1, 3),
}
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2, None),
    "long": (0, 3, -1, None),
    "double": (0.1, 0.25, -0.0, 0.0, math.nan, None),
    "string": ("a", "a", "b", "", None),
    "boolean": (True, False, None),
    "timestamp": (0, 5, None),
    "decimal": (Decimal("0.01"), Decimal("1.50"), None),
}
CONDITIONS: dict[str, tuple[str, ...]] = {
    "int": ("{} > 0", "{} % 2 = 0", "{} is null"),
    "long": ("{} > 0", "{} + 1 < 4"),
    "double": ("{} > 0.1", "{} = 0"),
    "string": ("{} = 'a'", "length({}) > 0", "{} is null"),
    "boolean": ("{}", "not {}"),
    "timestamp": ("{} is not null",),
    "decimal": ("{} > 0.02",),
}
ANY_FUNCTIONS = ("count(*)", "count({})", "min({})", "max({})", "first({})", "last({})", "count(distinct {})")
NUMBER_FUNCTIONS = ("sum({})", "avg({})", "stddev({})", "median({})")
INTERPOLATIONS = ("nearest({})", "last_value({})")


@dataclass
class Draft:
    """A network under construction: its streams by reference, each with its schema."""

    random: Random
    order_type: str
    inputs: dict[str, Input] = field(default_factory=dict)
    boxes: dict[str, Node] = field(default_factory=dict)
    streams: dict[Ref, Schema] = field(default_factory=dict)

    def any_stream(self) -> Ref:
        """A stream, more often a late one, so that networks become deep."""
        refs = list(self.streams)
        return self.random.choice(refs[-3:] if self.random.random() < 0.6 else refs)


def random_network(random: Random, boxes_most: int = 6, makers: Makers | None = None) -> Network:
    """A network of up to `boxes_most` boxes, whose streams are all outputs."""
    draft = Draft(random, random.choice(ORDER_TYPES))
    for number in range(random.randint(1, 2)):
        schema = parse_schema(f"at {draft.order_type}, g string, k int, x double, b boolean")
        draft.inputs[f"in{number}"] = Input(schema)
        draft.streams[Ref(f"in{number}")] = schema
    if random.random() < 0.3:
        draft.inputs["stored"] = Input(parse_schema("g string, w long"), table=True)
    for number in range(random.randint(1, boxes_most)):
        add_box(draft, f"box{number}", makers)
    outputs = {f"out{number}": Output(ref) for number, ref in enumerate(draft.streams)}
    return Network("random", draft.inputs, draft.boxes, outputs)


def add_box(draft: Draft, box_id: str, makers: Makers | None = None) -> None:
    """Add a random box to random streams; none if the box does not fit them."""
    made = draft.random.choice(makers or MAKERS)(draft)
    if made is None:
        return
    box, sources = made
    schemas = [draft.streams.get(ref) or draft.inputs[ref.id].schema for ref in sources]
    try:
        outputs = box.output_schemas(*schemas)
    except AlgebraError:
        return
    draft.boxes[box_id] = Node(box, tuple(sources))
    draft.streams |= {Ref(box_id, port): schema for port, schema in enumerate(outputs)}


# --- boxes

Made = tuple[Box, list[Ref]] | None
Makers = Sequence[Callable[[Draft], Made]]


def one_of(random: Random, schema: Schema, fits: Callable[[Field], bool] = lambda _: True) -> str | None:
    """The name of an attribute that fits."""
    names = [f.name for f in schema if fits(f)]
    return random.choice(names) if names else None


def orderable(f: Field) -> bool:
    return is_orderable(f.type)


def condition(random: Random, schema: Schema, prefix: str = "") -> str:
    chosen = random.choice(schema.fields)
    return random.choice(CONDITIONS[chosen.type.name]).format(prefix + chosen.name)


def groups(random: Random, schema: Schema, but: str | None = None) -> tuple[str, ...]:
    names = [f.name for f in schema if f.name != but]
    return tuple(random.sample(names, min(len(names), random.choice([0, 0, 1, 2]))))


def order(random: Random, schema: Schema, *, grouped: bool = True) -> Order | None:
    on = one_of(random, schema, orderable)
    if on is None:
        return None
    return Order(on, random.choice([0, 0, 1, 3]), groups(random, schema, on) if grouped else ())


def functions(random: Random, schema: Schema, more: tuple[str, ...] = ()) -> dict[str, str]:
    texts = {}
    for number in range(random.randint(1, 3)):
        chosen = random.choice(schema.fields)
        numeric = (*NUMBER_FUNCTIONS, "linear({})") if more else NUMBER_FUNCTIONS
        known = ANY_FUNCTIONS + more + (numeric if chosen.type.is_numeric else ())
        texts[f"f{number}_{random.randrange(100)}"] = random.choice(known).format(chosen.name)
    return texts


def size(random: Random, schema: Schema, on: str) -> Any:
    return random.choice(SIZES["long" if on == TUP else schema[on].type.name])


def make_filter(draft: Draft) -> Made:
    source = draft.any_stream()
    schema = draft.streams[source]
    predicates = tuple(condition(draft.random, schema) for _ in range(draft.random.randint(1, 2)))
    return Filter(predicates), [source]


def make_map(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    kept = [f for f in schema if random.random() < 0.8] or list(schema)
    texts = {
        f.name: f"{f.name} + 1" if f.type.is_integral and random.random() < 0.3 else f.name for f in kept
    }
    if random.random() < 0.5:
        texts[f"m{random.randrange(100)}"] = condition(random, schema)
    return Map(texts), [source]


def make_union(draft: Draft) -> Made:
    source = draft.any_stream()
    shape = [(f.name, f.type) for f in draft.streams[source]]
    alike = [ref for ref, schema in draft.streams.items() if [(f.name, f.type) for f in schema] == shape]
    return Union(), [draft.random.choice(alike) for _ in range(draft.random.randint(2, 3))]


def make_bsort(draft: Draft) -> Made:
    source = draft.any_stream()
    found = order(draft.random, draft.streams[source])
    return found and (BSort(found), [source])


def make_wsort(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    names = draft.streams[source].names
    by = tuple(random.sample(names, min(len(names), random.randint(1, 2))))
    return WSort(by, random.choice(["1 us", "4 us"])), [source]


def make_aggregate(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    found = Order(TUP, 0, groups(random, schema)) if random.random() < 0.2 else order(random, schema)
    if found is None:
        return None
    when = condition(random, schema) if random.random() < 0.2 else None
    advance = size(random, schema, found.on) if when is None and random.random() < 0.5 else None
    align = when is None and random.random() < 0.3
    window, timeout = size(random, schema, found.on), random.choice(TIMEOUTS)
    return Aggregate(functions(random, schema), found, window, advance, when, timeout, align), [source]


def make_composed(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    if random.random() < 0.5:
        return Slide(functions(random, schema), random.choice([2, 4]), timeout=random.choice(TIMEOUTS)), [
            source
        ]
    on = one_of(random, schema, orderable)
    if on is None:
        return None
    window, slack = size(random, schema, on), random.randint(0, 2)
    return XSection(functions(random, schema), on, window, slack, random.choice(TIMEOUTS)), [source]


def make_tumble(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    by = groups(random, schema) or schema.names[:1]
    return Tumble(functions(random, schema), by, random.choice(TIMEOUTS)), [source]


def make_join(draft: Draft) -> Made:
    random, left, right = draft.random, draft.any_stream(), draft.any_stream()
    schemas = draft.streams[left], draft.streams[right]
    orders = [order(random, schema) for schema in schemas]
    if orders[0] is None or orders[1] is None:
        return None
    texts = [f"left.{a} = right.{b}" for a, b in _alike(random, *schemas)]
    if random.random() < 0.4:
        texts.append(condition(random, schemas[0], "left."))
    predicate = " and ".join(texts) or "true"
    return Join(predicate, size(random, schemas[0], orders[0].on), orders[0], orders[1]), [left, right]


def _alike(random: Random, left: Schema, right: Schema) -> list[tuple[str, str]]:
    """Some attributes of two schemas that have the same type."""
    found = [(f.name, g.name) for f in left for g in right if f.type == g.type]
    return random.sample(found, min(len(found), random.choice([0, 1, 1, 2])))


def make_table_join(draft: Draft) -> Made:
    random, stream = draft.random, draft.any_stream()
    schema = draft.streams[stream]
    found = order(random, schema)
    text = one_of(random, schema, lambda f: f.type.name == "string")
    if found is None or text is None or "stored" not in draft.inputs:
        return None
    if random.random() < 0.5:
        return Join(f"left.{text} = right.g", None, found, None), [stream, Ref("stored")]
    return Join(f"right.{text} = left.g and left.w > 0", None, None, found), [Ref("stored"), stream]


def make_resample(draft: Draft) -> Made:
    random, left, right = draft.random, draft.any_stream(), draft.any_stream()
    left_order = order(random, draft.streams[left], grouped=False)
    right_order = order(random, draft.streams[right])
    if left_order is None or right_order is None:
        return None
    texts = functions(random, draft.streams[right], INTERPOLATIONS)
    window = size(random, draft.streams[left], left_order.on)
    return Resample(texts, window, left_order, right_order), [left, right]


def make_drop(draft: Draft) -> Made:
    return Drop(draft.random.choice([0.2, 0.5]), draft.random.randrange(1000)), [draft.any_stream()]


MAKERS: Makers = (
    make_filter,
    make_map,
    make_union,
    make_bsort,
    make_wsort,
    make_aggregate,
    make_aggregate,
    make_composed,
    make_tumble,
    make_join,
    make_join,
    make_table_join,
    make_resample,
    make_resample,
    make_drop,
)
"""Every box is drawn by one of these, some more often. A new box needs one entry here."""


# --- events


@dataclass(frozen=True)
class Event:
    """Tuples with their ts on an input, or only time without an input, or the end."""

    now: int
    input_name: str | None = None
    rows: tuple[tuple[dict[str, Any], int], ...] = ()
    ending: bool = False


def random_rows(random: Random, schema: Schema, count: int) -> list[dict[str, Any]]:
    """Rows that arrive nearly in order of `at`, with ties, duplicates, NULLs and occasional nonsense."""
    rows: list[dict[str, Any]] = []
    at = 0
    for _ in range(count):
        if rows and random.random() < 0.1:
            rows.append(rows[-1])
            continue
        at += random.choice([0, 1, 1, 2])
        row = {f.name: random.choice(VALUES[f.type.name]) for f in schema}
        if "at" in schema and random.random() < 0.95:
            row["at"] = _order_value(schema["at"].type.name, at - random.choice([0, 0, 0, 1, 3, 6]))
        rows.append(row)
    return rows


def _order_value(name: str, number: int) -> Any:
    if name == "double":
        return number / 10
    return Decimal(number).scaleb(-2) if name == "decimal" else number


def random_events(random: Random, network: Network, tuples_most: int = 24) -> list[Event]:
    """The tuples of all inputs in batches, with time passing, and then the end."""
    rest = {
        name: random_rows(random, given.schema, random.randint(0, tuples_most))
        for name, given in network.inputs.items()
        if not given.table
    }
    events, now = [], 10
    while any(rest.values()):
        now += random.choice([0, 1, 2, 6])
        name = random.choice([name for name, rows in rest.items() if rows])
        count = random.choice([1, 3, 8])
        batch = tuple((row, now - random.randrange(3)) for row in rest[name][:count])
        rest[name] = rest[name][count:]
        events.append(Event(now, name, batch))
        if random.random() < 0.2:
            now += random.choice([1, 5])
            events.append(Event(now))
    return [*events, Event(now + random.choice([0, 3]), ending=True)]


def with_ends(random: Random, events: list[Event]) -> list[Event]:
    """The events with some more ends of all streams between them, after which the streams start again."""
    found: list[Event] = []
    for event in events:
        found.append(event)
        if random.random() < 0.08:
            found.append(Event(event.now, ending=True))
    return found
