"""Random queries with something to improve: private streams, repeated parts, orders that reject no tuple."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.conformance.random_networks import (
    MAKERS,
    Draft,
    Made,
    Makers,
    add_box,
    condition,
    functions,
    groups,
    make_filter,
    make_join,
    make_map,
    make_union,
    random_progress,
)

from australis.algebra.boxes import Aggregate, Box, BSort, Filter, Join, Map
from australis.algebra.network import ConnectionPoint, Input, Network, Node, Output, Ref
from australis.algebra.order import Order
from australis.algebra.schema import Schema, parse_schema
from australis.rewrite.statistics import Measure, Statistics

ORDER_TYPES = ("int", "int", "timestamp", "timestamp", "decimal(9,2)", "long", "double")


@dataclass
class Query(Draft):
    """A draft that grows at its tip: most boxes read the one made last, as in a chain."""

    tip: Ref | None = None
    more: Makers = ()
    """What else is drawn besides QUERY_MAKERS."""

    def any_stream(self) -> Ref:
        if self.tip is not None and self.random.random() < 0.9:
            return self.tip
        return super().any_stream()


def random_queries(random: Random, boxes_most: int = 6, more: Makers = ()) -> Network:
    """Some queries over the same inputs, each a chain; outputs at their ends and at a few other streams."""
    kind = random.choice(ORDER_TYPES)
    draft = Query(random, kind, more=more)
    for number in range(random.randint(1, 2)):
        schema = parse_schema(
            f"at {kind}{random.choice([' not null'] * 4 + [''])}, g string, k int, x double, b boolean"
        )
        draft.inputs[f"in{number}"] = Input(schema, progress=random_progress(random, schema))
        draft.streams[Ref(f"in{number}")] = schema
    if random.random() < 0.2:
        draft.inputs["stored"] = Input(parse_schema("g string, w long"), table=True)
    tips = [_query(draft, name, random.randint(2, boxes_most)) for name in "abc"[: random.randint(1, 3)]]
    return _ended(draft, tips)


def _query(draft: Query, name: str, boxes: int) -> Ref:
    """Grow a query from an input, or from the middle of another one."""
    draft.tip = draft.random.choice([ref for ref in draft.streams if ref.id in draft.inputs])
    if draft.random.random() < 0.3:
        draft.tip = draft.random.choice(list(draft.streams))
    for number in range(boxes):
        _grow(draft, f"{name}{number}", (*QUERY_MAKERS, *draft.more))
        if draft.random.random() < 0.5:
            _grow(draft, f"{name}{number}_then", (make_key_filter, make_sorted_reader))
    if draft.random.random() < 0.4:
        _repeat(draft, f"{name}_again")
    return draft.tip


def _grow(draft: Query, box_id: str, makers: Makers) -> None:
    """Put a box at the tip, if it fits."""
    add_box(draft, box_id, makers)
    if box_id in draft.boxes:
        outputs = draft.boxes[box_id].box.outputs
        draft.tip = Ref(box_id, draft.random.choice([0, 0, 0, outputs - 1]))


def _repeat(draft: Draft, box_id: str) -> None:
    """A second box like an existing one."""
    if draft.boxes:
        node = draft.random.choice(list(draft.boxes.values()))
        schemas = [draft.streams.get(ref) or draft.inputs[ref.id].schema for ref in node.sources]
        draft.boxes[box_id] = node
        outputs = node.box.output_schemas(*schemas)
        draft.streams |= {Ref(box_id, port): schema for port, schema in enumerate(outputs)}


def _ended(draft: Draft, tips: list[Ref]) -> Network:
    """The network with outputs at the tips and at what was repeated, and sometimes at any stream."""
    random = draft.random
    ends = [*tips, *(ref for ref in draft.streams if _is_end(ref, random))]
    outputs = {f"out{number}": Output(ref) for number, ref in enumerate(dict.fromkeys(ends))}
    points = {
        f"point{number}": ConnectionPoint(ref)
        for number, ref in enumerate(draft.streams)
        if random.random() < 0.04
    }
    return Network("random", draft.inputs, draft.boxes, outputs, points)


def _is_end(ref: Ref, random: Random) -> bool:
    return (ref.id.endswith("_again") and ref.port == 0) or random.random() < 0.03


# --- boxes that rules are about


def make_simple_filter(draft: Draft) -> Made:
    source = draft.any_stream()
    return Filter((condition(draft.random, draft.streams[source]),)), [source]


def make_key_filter(draft: Draft) -> Made:
    """A filter on what a box before it may group by."""
    source = draft.any_stream()
    before = draft.boxes.get(source.id)
    keys = _keys_of(before.box, draft.streams[source].names) if before is not None else []
    if not keys:
        return None
    key = draft.random.choice(keys)
    found = condition(draft.random, Schema((draft.streams[source][key],)))
    return Filter((draft.random.choice([found, f"{key} is not null"]),)), [source]


def _keys_of(box: Box, names: tuple[str, ...]) -> list[str]:
    """The attributes of a box's result that it may have grouped by."""
    sides = enumerate(("left", "right")[: box.arity[0]])
    keys = [(side, key) for port, side in sides for key in box.partition_keys(port)]
    return [name for side, key in keys for name in (key, f"{side}_{key}") if name in names]


def make_keyed_join(draft: Draft) -> Made:
    """A Join of two streams of one shape by groups."""
    left, right = (
        draft.any_stream(),
        draft.random.choice([Ref(name) for name in draft.inputs if name != "stored"]),
    )
    if any("at" not in draft.streams[ref] or "k" not in draft.streams[ref] for ref in (left, right)):
        return None
    if any(draft.streams[ref]["at"] != draft.streams[Ref("in0")]["at"] for ref in (left, right)):
        return None
    orders = [_order(draft, source, draft.random.choice([0, 2]), ("k",)) for source in (left, right)]
    size = "3 us" if draft.order_type == "timestamp" else 3
    return Join("left.k = right.k", size, *orders), [left, right]


def make_keyed(draft: Draft) -> Made:
    """A window or a sort by groups, over the order of the inputs."""
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    if "at" not in schema or schema["at"].type.name == "boolean":
        return None
    order = _order(draft, source, random.choice([0, 1, 3]), groups(random, schema, "at"))
    if random.random() < 0.4:
        return BSort(order), [source]
    size = "3 us" if schema["at"].type.name == "timestamp" else 3
    timeout = random.choice([None, None, "4 us"])
    return Aggregate(functions(random, schema), order, size, timeout=timeout), [source]


def make_sorted(draft: Draft) -> Made:
    """An ungrouped sort, or a window of the same order, to which the identity of the two applies."""
    random, source = draft.random, draft.any_stream()
    schema = draft.streams[source]
    if "at" not in schema or schema["at"].type.name == "boolean":
        return None
    if random.random() < 0.4:
        return BSort(_order(draft, source, 2)), [source]
    return _window(random, schema, _order(draft, source, 2)), [source]


def make_sorted_reader(draft: Draft) -> Made:
    """A window without slack after a sort."""
    source = draft.any_stream()
    before = draft.boxes.get(source.id)
    is_sort = before is not None and isinstance(before.box, BSort) and before.box.order.on == "at"
    window = _window(draft.random, draft.streams[source], _order(draft, source, 0)) if is_sort else None
    return None if window is None else (window, [source])


def _window(random: Random, schema: Schema, order: Order) -> Aggregate:
    size = "3 us" if schema["at"].type.name == "timestamp" else 3
    return Aggregate(functions(random, schema), order, size, align=order.by_progress)


def _order(draft: Draft, source: Ref, slack: int, group_by: tuple[str, ...] = ()) -> Order:
    """An order by slack; where `at` has marks, as often by progress, sometimes with its late tuples."""
    if "at" in draft.marked(source) and draft.random.random() < 0.5:
        return Order("at", group_by=group_by, by="progress", late=draft.random.random() < 0.2)
    return Order("at", slack, group_by)


QUERY_MAKERS: Makers = (
    *MAKERS,
    *(make_simple_filter,) * 8,
    *(make_key_filter,) * 10,
    *(make_keyed_join,) * 3,
    *(make_map,) * 7,
    *(make_keyed,) * 8,
    *(make_sorted,) * 8,
    make_filter,
    make_union,
    make_join,
)


def random_statistics(random: Random, network: Network) -> Statistics:
    """Measurements of all boxes, of some, or of none."""
    share = random.choice([0.0, 0.5, 1.0])
    known = {
        box_id: _measure(random, node) for box_id, node in network.boxes.items() if random.random() < share
    }
    return Statistics(known)


def _measure(random: Random, node: Node) -> Measure:
    if not isinstance(node.box, Filter):
        # A Map emits what it receives.
        emitted = 1.0 if isinstance(node.box, Map) else random.choice([0.1, 1.0, 2.0])
        return Measure(random.choice([0.0, 0.1, 1.0, 5.0]), (emitted,))
    cut = sorted(random.random() for _ in node.box.predicates)
    ends = zip([0.0, *cut], [*cut, 1.0], strict=True)
    return Measure(random.choice([0.01, 0.1, 1.0]), tuple(high - low for low, high in ends))
