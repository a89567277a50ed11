"""Reorder: of two boxes that commute, the one with the greater (1 - s(b)) / c(b) goes first (Aurora 3.1).

A Filter of which one stream is read moves: before a Filter, before a Map that passes on what it reads, and,
if its predicate is the same for whole groups, before a box that keeps its groups apart. A projection between
the two comes after both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from australis.algebra.boxes import Filter, Map
from australis.algebra.expr import Attribute, Expr, attributes, substituted, text_of, walk
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema
from australis.rewrite.meaning import is_pure, rejects, writable
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_filter, is_private, is_projection, only_port

MARGIN = 1.1
"""How much better a rank must be, so that noise in the measurements does not reorder the network."""
COPY_US = 0.01
"""About what a filter takes to copy one attribute of a tuple that passes."""

Place = tuple[int, Mapping[str, Expr]]
"""The port of a box before which a filter can go, and the expressions of its attributes there."""


def reorder(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each Filter that should be before the box that it reads."""
    for filter_id in network.order:
        if not is_filter(network, filter_id) or not is_pure(network, filter_id):
            continue
        source, stream = filtered_stream(network, filter_id), only_port(network, filter_id)
        if stream is None or not is_private(network, source) or not is_pure(network, source.id):
            continue
        place = _place(network, statistics, source, filter_id)
        if place is not None and goes_first(network, statistics, source.id, filter_id):
            yield from _swapped(network, statistics, source, stream, place)


def filtered_stream(network: Network, filter_id: str) -> Ref:
    """The stream that a Filter filters, skipping a projection that only it reads."""
    source = network.boxes[filter_id].sources[0]
    if is_private(network, source) and is_projection(network, source.id):
        return network.boxes[source.id].sources[0]
    return source


def goes_first(network: Network, statistics: Statistics, earlier: str, later: str) -> bool:
    """Whether the later of two boxes should come first."""
    ranks = [statistics.rank(network, box_id) for box_id in (earlier, later)]
    return ranks[1] > max(ranks[0], 0.0) * MARGIN


def _place(network: Network, statistics: Statistics, source: Ref, filter_id: str) -> Place | None:
    """Where a Filter could go, if it commutes with the box that it reads."""
    read = frozenset[str]().union(*map(attributes, _predicates(network, filter_id)))
    box_id, schemas = source.id, network.input_schemas(source.id)
    measured = statistics.knows(box_id, filter_id)
    match network.boxes[box_id].box:
        case Filter():
            own = _same(schemas[0])
            return (0, own) if measured and only_port(network, box_id) == source else None
        case Map() as box:
            if measured and not _saves_more_than_copies(network, statistics, box_id, filter_id):
                return None
            return _before_map(network, box_id, box.bind(schemas[0]), read)
    return _before_groups(network, statistics, source, read) if measured else None


def _predicates(network: Network, filter_id: str) -> tuple[Expr, ...]:
    """The predicates of a Filter over the tuples of the box that it follows."""
    node, source = network.boxes[filter_id], network.boxes[filter_id].sources[0]
    assert isinstance(node.box, Filter)
    bound = node.box.bind(network.input_schemas(filter_id)[0])
    if source == filtered_stream(network, filter_id):
        return bound
    between = network.boxes[source.id].box
    assert isinstance(between, Map)
    picked = between.bind(network.input_schemas(source.id)[0])
    return tuple(substituted(expr, picked) for expr in bound)


def _same(schema: Schema) -> dict[str, Expr]:
    return {f.name: Attribute(f.name, f.type, f.nullable) for f in schema}


def _before_map(
    network: Network, box_id: str, computed: dict[str, Expr], read: frozenset[str]
) -> Place | None:
    """Before a Map that computes something, but not what is read; a projection costs nothing and narrows."""
    handed_on = {name for name, expr in computed.items() if isinstance(expr, Attribute)}
    if not read <= handed_on or is_projection(network, box_id):
        return None
    return 0, {name: computed[name] for name in read}


def _saves_more_than_copies(network: Network, statistics: Statistics, map_id: str, filter_id: str) -> bool:
    """Whether the Map's saved work is worth more than the filter's additional copying."""
    box, schema = network.boxes[map_id].box, network.input_schemas(map_id)[0]
    assert isinstance(box, Map)
    read = frozenset[str]().union(*map(attributes, box.bind(schema).values()))
    passed, more = statistics.passed(network, filter_id), max(0, len(read) - len(box.attributes))
    return (1 - passed) * statistics.of(network, map_id).tuple_us > passed * more * COPY_US


def _before_groups(
    network: Network, statistics: Statistics, source: Ref, read: frozenset[str]
) -> Place | None:
    """Before a box with groups, at a port where the predicate is the same for all tuples of a group.

    Slack, windows and lateness are per group, so removing whole groups does not affect the others; removing
    some tuples of a group would. The box must reject nothing, since the quarantine shows tuples of all
    groups, and must not run yet, since its state may hold groups that the filter would have to remove after
    it.
    """
    box, schemas = network.boxes[source.id].box, network.input_schemas(source.id)
    has_past = source.id in statistics.running or rejects(network, source.id)
    if not read or has_past or only_port(network, source.id) != source:
        return None
    for port, (names, schema) in enumerate(zip(box.origins(*schemas), schemas, strict=True)):
        keys = _keys(box.partition_keys(port), schema)
        if all(names.get(name) in keys for name in read):
            own = _same(schema)
            return port, {name: own[names[name]] for name in read}
    return None


def _keys(names: Iterable[str], schema: Schema) -> set[str]:
    """The attributes that are the same in a whole group. Not doubles: 0.0 and -0.0 share a group."""
    return {name for name in names if schema[name].type.name != "double"}


def _swapped(
    network: Network, statistics: Statistics, source: Ref, stream: Ref, place: Place
) -> Iterator[Rewrite]:
    """The filter before the box; the box's stream then replaces the filter's."""
    port, computed = place
    filter_node, box_node = network.boxes[stream.id], network.boxes[source.id]
    predicates = [substituted(expr, computed) for expr in _predicates(network, stream.id)]
    if not all(writable(expr, network.schemas[box_node.sources[port]]) for expr in predicates):
        return
    assert isinstance(filter_node.box, Filter)
    sources = tuple(stream if at == port else each for at, each in enumerate(box_node.sources))
    yield Rewrite(
        "reorder",
        _reason(network, statistics, source.id, stream.id),
        put={
            stream.id: replace(
                filter_node,
                box=Filter(_texts(network, stream.id, filter_node.box, predicates)),
                sources=(box_node.sources[port],),
            ),
            source.id: replace(box_node, sources=sources),
        },
        moved={stream: filter_node.sources[0]},
    )


def _texts(network: Network, filter_id: str, box: Filter, predicates: list[Expr]) -> tuple[str, ...]:
    """The predicates as they were written, if no attribute has another name now."""
    was, now = map(_names, (box.bind(network.input_schemas(filter_id)[0]), predicates))
    return box.predicates if was == now else tuple(map(text_of, predicates))


def _names(predicates: Iterable[Expr]) -> list[str]:
    return [part.column for expr in predicates for part in walk(expr) if isinstance(part, Attribute)]


def _reason(network: Network, statistics: Statistics, earlier: str, later: str) -> str:
    passed, price = statistics.passed(network, later), statistics.of(network, earlier).tuple_us
    guess = "" if statistics.knows(earlier, later) else " (estimated)"
    return (
        f"{later} moves before {earlier}: it passes {100 * passed:.3g} % of its tuples, and {earlier} "
        f"takes {price:.3g} us per tuple{guess}"
    )
