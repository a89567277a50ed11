"""The leading boxes of a superbox: filters and maps that Spark can run before tuples reach Python.

For each input they are the longest chain of stateless boxes that nothing else reads from. What Spark cannot
run stays with the kernels: user functions, and maps of an input whose tuples may still have to be quarantined
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from australis.algebra.boxes import Box, Filter, Map
from australis.algebra.expr import Expr
from australis.algebra.network import Input, Network, Node, Ref
from australis.algebra.schema import Schema
from australis.engine.spark.columns import column
from australis.plan.spread import Spread, keys_at
from australis.plan.superboxes import Superbox


@dataclass(frozen=True)
class Link:
    """A box of a chain, and the output port from which the chain continues."""

    box: str
    port: int


@dataclass(frozen=True)
class Led:
    """A superbox cut in two: chains of leading boxes by input, and the rest, which reads what they emit."""

    chains: Mapping[str, tuple[Link, ...]]
    rest: Superbox


def led(superbox: Superbox) -> Led:
    """Cut the leading boxes off a superbox.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.algebra.order import Order
    >>> from australis.plan.superboxes import plan
    >>> net = NetworkBuilder("n")
    >>> some = net.input("x", "at long, a int").filter("a > 1", as_="some").map({"at": "at"}, as_="times")
    >>> _ = some.aggregate({"n": "count(*)"}, Order("at"), size=10, as_="count").output("n")
    >>> cut = led(next(iter(plan(net.build()).superboxes.values())))
    >>> cut.chains, cut.rest.boxes
    ({'x': (Link(box='some', port=0), Link(box='times', port=0))}, ('count',))
    """
    network = superbox.network
    chains = {name: tuple(_chain(network, name)) for name in superbox.streams}
    heads = {Ref(links[-1].box, links[-1].port): Ref(name) for name, links in chains.items() if links}
    gone = {link.box for links in chains.values() for link in links}
    boxes = {
        box: replace(node, sources=tuple(heads.get(source, source) for source in node.sources))
        for box, node in network.boxes.items()
        if box not in gone
    }
    outputs = {
        name: replace(out, source=heads.get(out.source, out.source)) for name, out in network.outputs.items()
    }
    inputs = {name: _input(network, name, chains.get(name, ())) for name in network.inputs}
    rest = Network(network.name, inputs, boxes, outputs, timezone=network.timezone)
    return Led(chains, replace(superbox, network=rest, spread=_spread(superbox, network, heads)))


def _chain(network: Network, name: str) -> Iterator[Link]:
    stream = Ref(name)
    checked = any(not field.nullable for field in network.inputs[name].schema)
    while (reader := _only_reader(network, stream)) is not None:
        node = network.boxes[reader]
        if not _can_lead(node, network, reader, checked):
            return
        ports = [port for port in range(node.box.outputs) if _readers(network, Ref(reader, port))]
        if len(ports) != 1:
            return
        yield Link(reader, ports[0])
        stream = Ref(reader, ports[0])


def _only_reader(network: Network, stream: Ref) -> str | None:
    """The box that reads a stream, if nothing else does."""
    boxes = network.consumers[stream]
    return boxes[0][0] if len(boxes) == 1 and _readers(network, stream) == 1 else None


def _readers(network: Network, stream: Ref) -> int:
    outputs = sum(out.source == stream for out in network.outputs.values())
    return len(network.consumers[stream]) + outputs


def _can_lead(node: Node, network: Network, box: str, checked: bool) -> bool:
    """Whether Spark can run a box, and tuples that do not fit still reach their quarantine unchanged."""
    fits = node.box.keeps_schema or not checked
    return fits and type(node.box) in FRAMES and node.box.is_pure(*network.input_schemas(box))


def _input(network: Network, name: str, links: tuple[Link, ...]) -> Input:
    if not links:
        return network.inputs[name]
    return replace(network.inputs[name], schema=network.schemas[Ref(links[-1].box, links[-1].port)])


def _spread(superbox: Superbox, network: Network, heads: Mapping[Ref, Ref]) -> Spread:
    """The spread of the rest: its inputs are what the chains emit."""
    known = superbox.spread.keys
    traced = {Ref(to.id): keys_at(network, known, of) for of, to in heads.items()} if known else {}
    return replace(superbox.spread, keys={**known, **{ref: keys for ref, keys in traced.items() if keys}})


# --- as data frames


def applied(frame: DataFrame, network: Network, name: str, link: Link, hidden: tuple[str, ...]) -> DataFrame:
    """What a leading box passes of a data frame; `hidden` columns are kept."""
    box, schema = network.boxes[link.box].box, network.input_schemas(link.box)[0]
    return FRAMES[type(box)](frame, box, schema, Passing(link.port, hidden, network.inputs[name].schema))


@dataclass(frozen=True)
class Passing:
    """What passes a leading box: to which port, with which hidden columns, by which input's schema."""

    port: int
    hidden: tuple[str, ...]
    admitted: Schema


def _mapped(frame: DataFrame, box: Map, schema: Schema, passing: Passing) -> DataFrame:
    computed = [column(expr).alias(target) for target, expr in box.bind(schema).items()]
    return frame.select(*computed, *(F.col(f"`{each}`") for each in passing.hidden))


def _filtered(frame: DataFrame, box: Filter, schema: Schema, passing: Passing) -> DataFrame:
    return frame.filter(_through(box.bind(schema), passing.port) | _misfit(passing.admitted))


FRAMES: dict[type[Box], Callable[[DataFrame, Any, Schema, Passing], DataFrame]] = {
    Filter: _filtered,
    Map: _mapped,
}
"""What runs a stateless box as Spark columns; boxes that are not listed stay with the kernels."""


def _through(predicates: tuple[Expr, ...], port: int) -> Column:
    """Whether a tuple goes to a port of a Filter: its predicate holds and none before it does."""
    holds = [F.coalesce(column(each), F.lit(False)) for each in predicates]
    conditions = [~each for each in holds[:port]] + holds[port : port + 1]
    return reduce(and_, conditions)


def _misfit(schema: Schema) -> Column:
    """Whether a tuple has a NULL where none is allowed; it is passed on to where it will be quarantined."""
    missing = [F.col(f"`{field.name}`").isNull() for field in schema if not field.nullable]
    return reduce(lambda one, other: one | other, missing, F.lit(False))
