"""Ad hoc queries on the command line: a network, or a predicate and expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import click

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network, Output, Ref
from australis.algebra.schema import Schema
from australis.app.options.networks import find_network
from australis.errors import NetworkError, Problem

NAME = "query"
FOUND = "found"
"""The output of a one-line query."""


@dataclass(frozen=True)
class QueryOptions:
    """The options of a query command."""

    point: str | None
    predicate: str | None
    net: str | None
    attributes: Mapping[str, str]

    @property
    def is_nothing(self) -> bool:
        return self.point is None and self.net is None

    def check(self) -> None:
        """Refuse options that cannot be combined."""
        if self.net is not None and (self.predicate is not None or self.attributes):
            raise click.UsageError("--net is a whole query: put the expression into it as a box")
        if self.point is None and self.attributes:
            raise click.UsageError("--map is for the tuples of a connection point: name one")

    def network(self, running: Network) -> Network:
        """The query as a network, whose inputs are connection points of a running one."""
        if self.net is not None:
            return bound(running, find_network(self.net, query=True), self.point)
        assert self.point is not None
        return in_one_line(running, self.point, self.predicate, self.attributes)


def expressions(options: tuple[str, ...]) -> dict[str, str]:
    """The expressions of NAME=EXPRESSION options by name.

    >>> expressions(("mph=speed / 1.609", "car=car"))
    {'mph': 'speed / 1.609', 'car': 'car'}
    """
    found: dict[str, str] = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not text.strip():
            raise click.UsageError(f"--map {option}: expected NAME=EXPRESSION")
        if name in found:
            raise click.UsageError(f"--map {name} is given twice")
        found[name] = text
    return found


def point_schema(network: Network, point: str) -> Schema:
    """The schema of a connection point; the error lists the existing ones, and how to make one."""
    if point in network.connection_points:
        return network.schemas[network.connection_points[point].at]
    known = ", ".join(network.connection_points)
    expected = f"one of {known}" if known else "a network with connection points"
    what = f"there is no connection point {point!r}"
    if Ref.parse(point) in network.schemas:
        what = f"{point!r} is an arc, but no connection point"
        made = f"connection_points: {{{point.replace('.', '_')}: {{at: {point}, history: 1 h}}}}"
        expected = f"{expected}; or `{made}` in the network, and `australis deploy` of it"
    raise NetworkError(Problem(network.name, what, expected))


def in_one_line(
    running: Network, point: str, predicate: str | None, attributes: Mapping[str, str]
) -> Network:
    """A query for the tuples of a connection point that satisfy a predicate, and expressions of them."""
    net = NetworkBuilder(NAME, timezone=running.timezone)
    stream = net.input(point, point_schema(running, point))
    if predicate is not None:
        stream = stream.filter(predicate, as_="where")
    if attributes:
        stream = stream.map(attributes, as_="map")
    stream.output(FOUND)
    return net.build()


def bound(running: Network, query: Network, point: str | None) -> Network:
    """A query whose streams are connection points: if it has only one, its name may differ."""
    streams = [name for name, given in query.inputs.items() if not given.table]
    if point is not None and point not in streams:
        if len(streams) != 1:
            raise click.UsageError(
                f"{query.name} has the inputs {', '.join(streams)}: none of them is {point}"
            )
        query, streams = _renamed(query, streams[0], point), [point]
    for name in streams:
        point_schema(running, name)
    return query


def _renamed(query: Network, old: str, new: str) -> Network:
    """The same network, with an input renamed."""

    def moved(ref: Ref) -> Ref:
        return Ref(new) if ref.id == old else ref

    boxes = {
        name: replace(node, sources=tuple(map(moved, node.sources))) for name, node in query.boxes.items()
    }
    outputs: dict[str, Output] = {
        name: replace(output, source=moved(output.source)) for name, output in query.outputs.items()
    }
    inputs = {new if name == old else name: given for name, given in query.inputs.items()}
    return replace(query, inputs=inputs, boxes=boxes, outputs=outputs)
