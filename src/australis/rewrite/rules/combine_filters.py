"""Combine filters: two in a row become one box, which copies the tuples that pass only once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from australis.algebra.boxes import Filter, Map
from australis.algebra.expr import Attribute, Call, Cast, Expr, Literal, substituted, text_of, walk
from australis.algebra.network import Network, Ref
from australis.algebra.types import BOOLEAN, STRING
from australis.rewrite.meaning import is_pure, writable
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Measure, Statistics, read_ports
from australis.rewrite.streams import at_point, is_filter, is_private, is_projection, only_port

LETS_MOST_THROUGH = 0.75
"""From this selectivity of the first filter on, a costly second predicate may be evaluated on every tuple."""
_LIGHT = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>", "and", "or", "not", "is_null", "+", "-", "*"})
"""Functions that cost less than copying a tuple that passes the first filter."""


@dataclass(frozen=True)
class Pair:
    """A filter, a filter that is the only reader of one of its streams, and perhaps a projection between."""

    first: str
    port: int
    second: str
    between: str | None = None


def combine_filters(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each pair of filters: predicates joined by AND, or the second's appended to the first's."""
    for pair in _pairs(network):
        box = network.boxes[pair.first].box
        assert isinstance(box, Filter)
        if pair.port == len(box.predicates) and pair.between is None:
            yield _chained(network, statistics, pair)
        elif _is_simple(network, pair) and _pays(network, statistics, pair):
            yield from _joined(network, statistics, pair)


def _pairs(network: Network) -> Iterator[Pair]:
    for second in network.order:
        if not _is_free_filter(network, second):
            continue
        source, between = network.boxes[second].sources[0], None
        if is_private(network, source) and is_projection(network, source.id):
            between, source = source.id, network.boxes[source.id].sources[0]
        if is_private(network, source) and _is_free_filter(network, source.id):
            yield Pair(source.id, source.port, second, between)


def _is_free_filter(network: Network, box_id: str) -> bool:
    return is_filter(network, box_id) and is_pure(network, box_id) and not at_point(network, box_id)


# --- the rest of a filter, filtered again: Filter(P) -> rest -> Filter(Q) is Filter(P, Q)


def _chained(network: Network, statistics: Statistics, pair: Pair) -> Rewrite:
    """The second's predicates after the first's: a tuple reaches them if it satisfied none before."""
    first, second = network.boxes[pair.first], network.boxes[pair.second]
    assert isinstance(first.box, Filter)
    assert isinstance(second.box, Filter)
    ports = {Ref(pair.first, port): Ref(pair.second, port) for port in range(pair.port)}
    ports |= {
        Ref(pair.second, port): Ref(pair.second, pair.port + port) for port in range(second.box.outputs)
    }
    one, two = (statistics.of(network, box_id) for box_id in (pair.first, pair.second))
    rest = one.selectivity[pair.port]
    shares = (*one.selectivity[: pair.port], *(rest * share for share in two.selectivity))
    return Rewrite(
        "combine_filters",
        f"{pair.second} filters the rest of {pair.first}: one box routes all tuples, and copies each once",
        put={
            pair.second: replace(
                second, box=Filter(first.box.predicates + second.box.predicates), sources=first.sources
            )
        },
        removed=(pair.first,),
        moved=ports,
        measured=_expected(statistics, pair, Measure(one.tuple_us + rest * two.tuple_us, shares)),
    )


# --- both predicates: Filter(P) -> Filter(Q) is Filter(P AND Q)


def _is_simple(network: Network, pair: Pair) -> bool:
    """Whether each filter has one predicate, and only the tuples that satisfy it are read."""
    boxes = [network.boxes[box_id].box for box_id in (pair.first, pair.second)]
    one_each = all(isinstance(box, Filter) and len(box.predicates) == 1 for box in boxes)
    ports = [read_ports(network, box_id) for box_id in (pair.first, pair.second)]
    return one_each and ports == [{0}, {0}] and only_port(network, pair.second) is not None


def _pays(network: Network, statistics: Statistics, pair: Pair) -> bool:
    """Whether the second predicate is cheap enough to evaluate on tuples that the first rejects."""
    if statistics.knows(pair.first) and statistics.passed(network, pair.first) >= LETS_MOST_THROUGH:
        return True
    return all(_is_light(part) for part in walk(_predicate(network, pair.second)))


def _is_light(part: Expr) -> bool:
    match part:
        case Call(function=function, args=args):
            return function in _LIGHT and not any(arg.type == STRING for arg in args)
        case Cast(arg=arg, type=type_):
            return arg.type.is_numeric and type_.is_numeric
    return isinstance(part, Attribute | Literal)


def _predicate(network: Network, box_id: str) -> Expr:
    box = network.boxes[box_id].box
    assert isinstance(box, Filter)
    return box.bind(network.input_schemas(box_id)[0])[0]


def _joined(network: Network, statistics: Statistics, pair: Pair) -> Iterator[Rewrite]:
    """Both joined by AND, in the place of the first; a projection between them comes after them."""
    first, second = network.boxes[pair.first], network.boxes[pair.second]
    one, two = _predicate(network, pair.first), _over_first(network, pair)
    both = Call("and", (one, two), BOOLEAN, one.nullable or two.nullable)
    if not writable(both, network.schemas[first.sources[0]]):
        return
    put = {pair.second: replace(second, box=Filter((text_of(both),)), sources=first.sources)}
    moved = {}
    if pair.between is not None:
        put[pair.between] = replace(network.boxes[pair.between], sources=(Ref(pair.second),))
        moved = {Ref(pair.second): Ref(pair.between)}
    price = [statistics.of(network, box_id).tuple_us for box_id in (pair.first, pair.second)]
    passed = [statistics.passed(network, box_id) for box_id in (pair.first, pair.second)]
    share = passed[0] * passed[1]
    yield Rewrite(
        "combine_filters",
        f"{pair.first} and {pair.second} become one filter: tuples that pass the first are no longer copied",
        put=put,
        removed=(pair.first,),
        moved=moved,
        measured=_expected(statistics, pair, Measure(price[0] + passed[0] * price[1], (share, 1 - share))),
    )


def _over_first(network: Network, pair: Pair) -> Expr:
    """The second predicate over the tuples of the first filter."""
    predicate = _predicate(network, pair.second)
    if pair.between is None:
        return predicate
    box = network.boxes[pair.between].box
    assert isinstance(box, Map)
    return substituted(predicate, box.bind(network.input_schemas(pair.between)[0]))


def _expected(statistics: Statistics, pair: Pair, measure: Measure) -> dict[str, Measure | None]:
    """The expected cost of the combined box, if both were measured."""
    return {pair.second: measure if statistics.knows(pair.first, pair.second) else None}
