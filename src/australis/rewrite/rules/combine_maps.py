"""Combine maps: a Map after a Map becomes one that computes the same from the input of the first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from australis.algebra.boxes import Map
from australis.algebra.expr import Attribute, Expr, Literal, substituted, text_of, walk
from australis.algebra.network import Network
from australis.rewrite.meaning import is_pure, writable
from australis.rewrite.rewrite import Rewrite
from australis.rewrite.statistics import Measure, Statistics
from australis.rewrite.streams import is_private


def combine_maps(network: Network, statistics: Statistics) -> Iterator[Rewrite]:
    """Each Map that is the only reader of a Map, unless something would then be computed twice."""
    for second in network.order:
        source = network.boxes[second].sources[0]
        if not is_private(network, source) or not (_is_map(network, second) and _is_map(network, source.id)):
            continue
        first = source.id
        inner, outer = _computed(network, first), _computed(network, second)
        if _is_repeated(inner, outer):
            continue
        whole = {name: substituted(expr, inner) for name, expr in outer.items()}
        schema = network.input_schemas(first)[0]
        if all(writable(expr, schema) for expr in whole.values()):
            yield _combined(network, statistics, first, second, whole)


def _is_map(network: Network, box_id: str) -> bool:
    return isinstance(network.boxes[box_id].box, Map) and is_pure(network, box_id)


def _computed(network: Network, box_id: str) -> dict[str, Expr]:
    box = network.boxes[box_id].box
    assert isinstance(box, Map)
    return box.bind(network.input_schemas(box_id)[0])


def _is_repeated(inner: Mapping[str, Expr], outer: Mapping[str, Expr]) -> bool:
    """Whether something that the first Map computes is used more than once."""
    uses = Counter(part.name for expr in outer.values() for part in walk(expr) if isinstance(part, Attribute))
    return any(uses[name] > 1 and not isinstance(expr, Attribute | Literal) for name, expr in inner.items())


def _combined(
    network: Network, statistics: Statistics, first: str, second: str, whole: Mapping[str, Expr]
) -> Rewrite:
    node, price = network.boxes[second], [statistics.of(network, each).tuple_us for each in (first, second)]
    known = statistics.knows(first, second)
    return Rewrite(
        "combine_maps",
        f"{second} computes from the input of {first}: one box less, and the result of {first} is not stored",
        put={
            second: replace(
                node,
                box=Map(tuple((name, text_of(expr)) for name, expr in whole.items())),
                sources=network.boxes[first].sources,
            )
        },
        removed=(first,),
        measured={second: Measure(sum(price)) if known else None},
    )
