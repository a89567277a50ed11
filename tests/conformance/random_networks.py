"""Random networks: loop-free graphs of random boxes over random schemas, with random events for them.

All random choices come from one `random.Random`; hypothesis passes in one whose choices it can shrink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any

from australis.algebra.boxes import (
    Aggregate,
    AsOf,
    Box,
    BSort,
    Changes,
    Distinct,
    Drop,
    Filter,
    Join,
    Lag,
    Map,
    Number,
    Resample,
    Slide,
    Top,
    Tumble,
    Union,
    Unnest,
    WSort,
    XSection,
)
from australis.algebra.network import Input, Network, Node, Output, Ref
from australis.algebra.network.marks import marked_streams
from australis.algebra.order import Order, is_orderable
from australis.algebra.progress import Progress
from australis.algebra.schema import TUP, Field, Schema, parse_schema
from australis.errors import AlgebraError

ORDER_TYPES = ("int", "long", "double", "timestamp", "decimal(9,2)")
TIMEOUTS = (None, None, "1 us", "3 us", "8 us", "40 us")
FORGETS = (None, "1 us", "2 us", "6 us")
"""After how much local time a group is forgotten."""
SIZES: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, 5),
    "long": (1, 3, 4),
    "double": (0.1, 0.3, 0.7),
    "timestamp": ("1 us", "3 us", "5 us"),
    "decimal": (1, 3),
}
LENGTHS: dict[str, tuple[str, ...]] = {
    "int": ("0", "2", "4"),
    "long": ("1", "3"),
    "double": ("0.1", "0.3"),
    "timestamp": ("0 us", "2 us", "5 us"),
    "decimal": ("0.01", "0.03"),
}
"""Slacks by length, as texts."""
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
ANY_FUNCTIONS = (
    "count(*)",
    "count({})",
    "min({})",
    "max({})",
    "first({})",
    "last({})",
    "count(distinct {})",
    "approx_count_distinct({})",
    "max_by({0}, {0})",
    "first({0} order by {0} desc)",
    "last({0} order by {0} is null, {0}) filter (where {0} is not null)",
    "first({0}) filter (where {0} is not null)",
    "count(*) filter (where {} is null) * 2",
)
NUMBER_FUNCTIONS = (
    "sum({})",
    "avg({})",
    "stddev({})",
    "median({})",
    "percentile({}, 0.9)",
    "percentile_sketch({}, 0.5, 0.1)",
    "variance({})",
    "corr({0}, {0})",
    "sum({0}) / count({0})",
)
LIST_FUNCTIONS = (
    "array_join(collect_list(cast({} as string), 3), '|')",
    "array_join(collect_set(cast({} as string), 2), '|')",
    "size(collect_set(cast({0} as string), 2) filter (where {0} is not null))",
)
"""Functions of what can be cast to a string: anything but doubles."""
HOWS = ("inner", "inner", "inner", "left", "right", "full", "semi", "anti")
SHAPE = ("order", "size", "advance", "advance_when", "timeout", "align", "offset", "session", "forget")
INTERPOLATIONS = ("nearest({})", "last_value({})")


@dataclass
class Draft:
    """A network under construction: its streams by reference, each with its schema."""

    random: Random
    order_type: str
    inputs: dict[str, Input] = field(default_factory=dict)
    boxes: dict[str, Node] = field(default_factory=dict)
    streams: dict[Ref, Schema] = field(default_factory=dict)

    def marked(self, source: Ref) -> frozenset[str]:
        """The attributes of a stream that have marks."""
        streams = dict(self.streams)
        return marked_streams(self.inputs, self.boxes, list(self.boxes), streams).get(source, frozenset())

    def any_stream(self) -> Ref:
        """A stream, more often a late one, so that networks become deep."""
        refs = list(self.streams)
        return self.random.choice(refs[-3:] if self.random.random() < 0.6 else refs)


def random_network(
    random: Random, boxes_most: int = 6, makers: Makers | None = None, *, progress: bool = True
) -> Network:
    """A network of up to `boxes_most` boxes, whose streams are all outputs."""
    draft = Draft(random, random.choice(ORDER_TYPES))
    for number in range(random.randint(1, 2)):
        schema = parse_schema(f"at {draft.order_type}, g string, k int, x double, b boolean")
        draft.inputs[f"in{number}"] = Input(
            schema, progress=random_progress(random, schema) if progress else None
        )
        draft.streams[Ref(f"in{number}")] = schema
    if random.random() < 0.3:
        draft.inputs["stored"] = Input(parse_schema("g string, w long"), table=True)
    for number in range(random.randint(1, boxes_most)):
        add_box(draft, f"box{number}", makers)
    outputs = {f"out{number}": Output(ref) for number, ref in enumerate(draft.streams)}
    return Network("random", draft.inputs, draft.boxes, outputs)


def random_progress(random: Random, schema: Schema) -> Progress | None:
    """How an input makes marks of `at`; often not at all."""
    if random.random() < 0.4:
        return None
    found = schema["at"].type
    idle = random.choice([None, "3 us", "8 us"]) if found.name == "timestamp" else None
    alike = [f.name for f in schema if f.type == found]
    if random.random() < 0.2:
        return Progress("at", promise=random.choice(alike), idle=idle)
    length = random.choice(LENGTHS[found.name])
    return Progress("at", length if found.name == "timestamp" else float(length), idle=idle)


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


def order(
    random: Random, schema: Schema, *, grouped: bool = True, marked: frozenset[str] = frozenset()
) -> Order | None:
    """A random order: by count, by length, or by progress on one of the marked attributes."""
    if marked and random.random() < 0.6:
        on = random.choice(sorted(marked))
        return Order(on, 0, groups(random, schema, on) if grouped else (), "progress", has_late(random))
    found = one_of(random, schema, orderable)
    if found is None:
        return None
    slack: int | str = random.choice([0, 0, 1, 3])
    if random.random() < 0.25:
        slack = random.choice(LENGTHS[schema[found].type.name])
    return Order(found, slack, groups(random, schema, found) if grouped else (), late=has_late(random))


def functions(random: Random, schema: Schema, more: tuple[str, ...] = ()) -> dict[str, str]:
    texts = {}
    for number in range(random.randint(1, 3)):
        chosen = random.choice(schema.fields)
        numeric = (*NUMBER_FUNCTIONS, "linear({})") if more else NUMBER_FUNCTIONS
        known = ANY_FUNCTIONS + more + (numeric if chosen.type.is_numeric else ())
        known += LIST_FUNCTIONS if chosen.type.name != "double" else ()
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


def then(random: Random, schema: Schema) -> tuple[str, ...]:
    """Some more keys to sort by, or none."""
    names = random.sample(schema.names, min(len(schema.names), random.choice([0, 0, 1, 2])))
    return tuple(f"`{name}`{random.choice(['', ' DESC'])}" for name in names)


def has_late(random: Random) -> bool:
    """Whether an order has a late output."""
    return random.random() < 0.3


def make_bsort(draft: Draft) -> Made:
    source = draft.any_stream()
    found = order(draft.random, draft.streams[source], marked=draft.marked(source))
    return found and (BSort(found, then(draft.random, draft.streams[source])), [source])


def make_wsort(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    names = draft.streams[source].names
    by = tuple(random.sample(names, min(len(names), random.randint(1, 2))))
    by = tuple(name + random.choice(["", "", " DESC"]) for name in by)
    return WSort(by, random.choice(["1 us", "4 us"])), [source]


def make_aggregate(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    if random.random() < 0.2:
        found: Order | None = Order(TUP, 0, groups(random, schema))
    else:
        found = order(random, schema, marked=draft.marked(source))
    if found is None:
        return None
    when = condition(random, schema) if random.random() < 0.2 else None
    advance = size(random, schema, found.on) if when is None and random.random() < 0.5 else None
    align = when is None and random.random() < 0.3
    window = size(random, schema, found.on)
    forget = forgets(random, found, window)
    timeout = None if forget is not None and found.by_progress else random.choice(TIMEOUTS)
    if when is None and found.on != TUP and random.random() < 0.2:
        shape = {"session": window, "timeout": timeout, "forget": forget}
        return Aggregate(functions(random, schema), found, **shape), [source]
    offset = size(random, schema, found.on) if align and random.random() < 0.3 else None
    empty = when is None and found.on != TUP and random.random() < 0.3
    shape = (window, advance, when, timeout, align, offset, None, empty, forget)
    return Aggregate(functions(random, schema), found, *shape), [source]


def forgets(random: Random, found: Order, window: Any) -> Any:
    """When the groups of an order are forgotten: by progress a length of at least a window, else a time."""
    if not found.group_by or random.random() < 0.5:
        return None
    return window if found.by_progress else random.choice(FORGETS)


def quiet(random: Random, group_by: tuple[str, ...]) -> str | None:
    """After how much local time some groups are forgotten."""
    return random.choice(FORGETS) if group_by else None


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


def make_top(draft: Draft) -> Made:
    """A Top with the windows of a random Aggregate."""
    made = make_aggregate(draft)
    if made is None:
        return None
    (windows, sources), random = made, draft.random
    assert isinstance(windows, Aggregate)
    names = draft.streams[sources[0]].names
    chosen = random.sample(names, min(len(names), random.randint(1, 2)))
    by = tuple(f"`{name}`{random.choice(['', ' ASC', ' DESC'])}" for name in chosen)
    shape = {name: value for name, value in vars(windows).items() if name in SHAPE}
    return Top(random.randint(1, 3), by, **shape), sources


def make_tumble(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    by = groups(random, schema) or schema.names[:1]
    return Tumble(functions(random, schema), by, random.choice(TIMEOUTS)), [source]


def make_changes(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    by = groups(random, schema)
    names = [name for name in schema.names if name not in by]
    if not names:
        return None
    of = tuple(random.sample(names, min(len(names), random.choice([1, 1, 2]))))
    texts = earlier_texts(random, schema, 0)
    return Changes(of, by, texts, random.random() < 0.7, quiet(random, by)), [source]


def make_lag(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    by, back = groups(random, schema), random.choice([1, 1, 2, 5])
    return Lag(earlier_texts(random, schema, 1), by, back, quiet(random, by)), [source]


def earlier_texts(random: Random, schema: Schema, least: int) -> tuple[tuple[str, str], ...]:
    """Attributes of an earlier tuple."""
    texts = {}
    for _ in range(random.randint(least, 2)):
        text = random.choice(schema.names) if random.random() < 0.7 else condition(random, schema)
        texts[f"e{random.randrange(1000)}"] = text
    return tuple(texts.items())


def make_distinct(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    found = order(random, schema, marked=draft.marked(source))
    if found is None:
        return None
    by = tuple(dict.fromkeys((*found.group_by, *groups(random, schema), random.choice(schema.names))))
    nothing: Any = "0 us" if schema[found.on].type.name == "timestamp" else 0
    return Distinct(by, found, random.choice([nothing, size(random, schema, found.on)])), [source]


def make_join(draft: Draft) -> Made:
    random, left, right = draft.random, draft.any_stream(), draft.any_stream()
    schemas = draft.streams[left], draft.streams[right]
    orders = [
        order(random, draft.streams[ref], grouped=random.random() < 0.6, marked=draft.marked(ref))
        for ref in (left, right)
    ]
    if orders[0] is None or orders[1] is None:
        return None
    texts = [f"left.{a} = right.{b}" for a, b in _alike(random, *schemas)]
    if random.random() < 0.4:
        texts.append(condition(random, schemas[0], "left."))
    predicate = " and ".join(texts) or "true"
    window = size(random, schemas[0], orders[0].on)
    return Join(predicate, window, orders[0], orders[1], random.choice(HOWS)), [left, right]


def _alike(random: Random, left: Schema, right: Schema) -> list[tuple[str, str]]:
    """Some attributes of two schemas that have the same type."""
    found = [(f.name, g.name) for f in left for g in right if f.type == g.type]
    return random.sample(found, min(len(found), random.choice([0, 1, 1, 2])))


def make_table_join(draft: Draft) -> Made:
    random, stream = draft.random, draft.any_stream()
    schema = draft.streams[stream]
    found = order(random, schema, marked=draft.marked(stream))
    text = one_of(random, schema, lambda f: f.type.name == "string")
    if text is None or "stored" not in draft.inputs:
        return None
    if random.random() < 0.5:
        how, table = random.choice(("inner", "left", "semi", "anti")), "right"
        found = found if random.random() < 0.5 else None
        return Join(f"left.{text} = right.g", None, found, None, how, table), [stream, Ref("stored")]
    if found is None or random.random() < 0.5:
        how = random.choice(("inner", "right"))
        return Join(f"right.{text} = left.g", None, how=how, table="left"), [Ref("stored"), stream]
    return Join(f"right.{text} = left.g and left.w > 0", None, None, found), [Ref("stored"), stream]


def make_asof(draft: Draft) -> Made:
    random, left, right = draft.random, draft.any_stream(), draft.any_stream()
    schemas = draft.streams[left], draft.streams[right]
    orders = [
        order(random, draft.streams[ref], grouped=random.random() < 0.4, marked=draft.marked(ref))
        for ref in (left, right)
    ]
    if orders[0] is None or orders[1] is None:
        return None
    equal = " and ".join(f"left.{a} = right.{b}" for a, b in _alike(random, *schemas)) or None
    within = random.choice([None, size(random, schemas[0], orders[0].on)])
    return AsOf(orders[0], orders[1], equal, within, random.choice(("left", "inner"))), [left, right]


def make_resample(draft: Draft) -> Made:
    random, left, right = draft.random, draft.any_stream(), draft.any_stream()
    left_order = order(random, draft.streams[left], grouped=False, marked=draft.marked(left))
    right_order = order(random, draft.streams[right], marked=draft.marked(right))
    if left_order is None or right_order is None:
        return None
    schemas = draft.streams[left], draft.streams[right]
    texts = functions(random, schemas[1], INTERPOLATIONS)
    window = size(random, schemas[0], left_order.on)
    keep, beyond = random.choice(((), groups(random, schemas[0], left_order.on))), random.random() < 0.7
    equal = _alike(random, *schemas) if random.random() < 0.4 else []
    if not equal and left_order.by_progress and not right_order.by_progress:
        return None
    if not equal:
        return Resample(texts, window, left_order, right_order, None, keep, beyond), [left, right]
    predicate = " and ".join(f"left.{a} = right.{b}" for a, b in equal)
    left_groups = dict.fromkeys(a for a, _ in equal) if random.random() < 0.5 else ()
    try:
        by_left = replace(left_order, group_by=tuple(left_groups))
        by_right = replace(right_order, group_by=tuple(b for _, b in equal))
    except AlgebraError:
        return None
    return Resample(texts, window, by_left, by_right, predicate, keep, beyond), [left, right]


def make_drop(draft: Draft) -> Made:
    return Drop(draft.random.choice([0.2, 0.5]), draft.random.randrange(1000)), [draft.any_stream()]


def make_number(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    by = groups(random, draft.streams[source])
    start = random.choice([0, 0, 1, -5])
    return Number(f"n{random.randrange(100)}", by, start, quiet(random, by)), [source]


def make_unnest(draft: Draft) -> Made:
    random, source = draft.random, draft.any_stream()
    text = one_of(random, draft.streams[source], lambda f: f.type.name == "string")
    if text is None:
        return None
    # No text of VALUES has several parts, so some arrays are of texts that are joined first.
    joined = random.choice(["{0}", "{0} || ',' || {0}", "{0} || ',,b'"]).format(text)
    position = random.choice([None, f"p{random.randrange(100)}"])
    pattern = random.choice(["','", "'[ab]'"])
    return Unnest(
        f"split({joined}, {pattern})", f"u{random.randrange(100)}", position, random.random() < 0.5
    ), [source]


MAKERS: Makers = (
    make_filter,
    make_map,
    make_union,
    make_bsort,
    make_wsort,
    make_aggregate,
    make_aggregate,
    make_composed,
    make_top,
    make_tumble,
    make_changes,
    make_lag,
    make_distinct,
    make_join,
    make_join,
    make_table_join,
    make_asof,
    make_asof,
    make_resample,
    make_resample,
    make_number,
    make_unnest,
    make_drop,
)
"""Every box is drawn by one of these, some more often. A new box needs one entry here."""


# --- events


@dataclass(frozen=True)
class Event:
    """Tuples with their ts on an input, or a promise of its source, or only time, or the end."""

    now: int
    input_name: str | None = None
    rows: tuple[tuple[dict[str, Any], int], ...] = ()
    ending: bool = False
    promise: Any = None


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
        if network.inputs[name].progress is not None and random.random() < 0.15:
            kind = network.inputs[name].schema["at"].type.name
            events.append(Event(now, name, promise=_order_value(kind, random.randint(0, 20))))
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
