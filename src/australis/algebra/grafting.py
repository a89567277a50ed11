"""Grafting: makes an ad hoc query part of a network, downstream of the connection points that it reads.

In: a network, and a query whose inputs are named after connection points, outputs or stored tables of the
network. Out: one network, in which the query's name prefixes the ids of its boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from australis.algebra.boxes import Filter
from australis.algebra.network import Network, Node, Output, Ref
from australis.algebra.schema import NAME, NAME_EXPECTED
from australis.errors import NetworkError, Problem

ALL = "all"
"""The box of a query that delivers a connection point unchanged."""


def grafted(network: Network, queries: Mapping[str, Network], known: Network | None = None) -> Network:
    """A network with queries added to it; what it shares with a known one is not examined again.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net, ask = NetworkBuilder("cars"), NetworkBuilder("ask")
    >>> _ = net.input("pos", "car int, speed int").point("reports", history="2 hours").output("seen")
    >>> _ = ask.input("reports", "car int, speed int").filter("speed > 80", as_="fast").output("fast")
    >>> whole = grafted(net.build(), {"speeders": ask.build()})
    >>> list(whole.boxes), list(whole.outputs)
    (['speeders.fast'], ['seen', 'speeders'])
    """
    problems = [p.under(name) for name, query in queries.items() for p in _problems(network, name, query)]
    problems += _same_names(queries)
    if problems:
        raise NetworkError(problem.under(network.name) for problem in problems)
    boxes, outputs = dict(network.boxes), dict(network.outputs)
    for name, query in queries.items():
        places = {Ref(name): _place(network, query, name) for name in query.inputs}
        boxes |= dict(_boxes(name, query, places))
        outputs |= dict(_outputs(name, query, places))
    return replace(network, boxes=boxes, outputs=outputs, known=known or network)


def fits(network: Network, name: str, query: Network) -> bool:
    """Whether a query finds in a network what it reads, and its names are free there."""
    return not any(_problems(network, name, query))


def tapped(network: Network, name: str) -> Ref:
    """The stream that a query reads under a name: of a connection point or, if there is none, an output."""
    point = network.connection_points.get(name)
    return network.outputs[name].source if point is None else point.at


def _place(network: Network, query: Network, name: str) -> Ref:
    """Where in a network a query's input is found."""
    return Ref(name) if query.inputs[name].table else tapped(network, name)


def output_names(name: str, query: Network) -> dict[str, str]:
    """The names of a query's outputs in the network that it becomes part of.

    A single output takes the query's name; otherwise outputs are `name_output`.
    """
    if len(query.outputs) == 1:
        return dict.fromkeys(query.outputs, name)
    return {output: f"{name}_{output}" for output in query.outputs}


def _boxes(name: str, query: Network, places: Mapping[Ref, Ref]) -> Iterator[tuple[str, Node]]:
    for box_id, node in query.boxes.items():
        sources = tuple(
            places.get(source) or Ref(f"{name}.{source.id}", source.port) for source in node.sources
        )
        yield f"{name}.{box_id}", replace(node, sources=sources)
    for output in query.outputs.values():
        if output.source in places:
            # A query's outputs come from its own boxes, even where it changes nothing.
            yield f"{name}.{_passage(query, output)}", Node(Filter(("true",)), (places[output.source],))


def _outputs(name: str, query: Network, places: Mapping[Ref, Ref]) -> Iterator[tuple[str, Output]]:
    names = output_names(name, query)
    for output_name, output in query.outputs.items():
        source = output.source
        own = Ref(_passage(query, output)) if source in places else source
        yield names[output_name], replace(output, source=Ref(f"{name}.{own.id}", own.port))


def _passage(query: Network, output: Output) -> str:
    """The id of the box that delivers a connection point unchanged."""
    found = f"{ALL}_{output.source.id}"
    while found in query.boxes:
        found += "_"
    return found


def _problems(network: Network, name: str, query: Network) -> Iterator[Problem]:
    if not NAME.fullmatch(name):
        yield Problem("name", f"{name!r} is not a valid name", NAME_EXPECTED)
    if name in network.firsts:
        yield Problem("name", f"the network already has boxes or an input under {name!r}", "another name")
    yield from (
        Problem(f"outputs.{output}", "the network already has an output of this name", "another name")
        for output in output_names(name, query).values()
        if output in network.outputs
    )
    if query.timezone != network.timezone:
        yield Problem("timezone", f"is {query.timezone!r}", f"that of the network, {network.timezone!r}")
    if query.connection_points:
        yield Problem("connection_points", "a query cannot have its own", "outputs")
    for given in query.inputs:
        yield from _input_problems(network, query, given)


def _same_names(queries: Mapping[str, Network]) -> Iterator[Problem]:
    """Outputs of one query that are named like those of another: `a_b` may be the output `b` of `a`."""
    taken: dict[str, str] = {}
    for name, query in queries.items():
        for output in output_names(name, query).values():
            other = taken.setdefault(output, name)
            if other != name:
                what = f"the query {other} already has an output of this name"
                yield Problem(f"outputs.{output}", what, "another name").under(name)


def _input_problems(network: Network, query: Network, given: str) -> Iterator[Problem]:
    place, is_table = f"inputs.{given}", query.inputs[given].table
    if is_table and given not in _tables(network):
        known = ", ".join(_tables(network))
        expected = f"one of {known}" if known else "a connection point"
        yield Problem(place, f"the network has no stored table {given!r}", expected)
        return
    if not is_table and given not in network.connection_points and given not in network.outputs:
        yield Problem(place, _unknown(network, given), _known(network))
        return
    found = network.schemas[_place(network, query, given)]
    wanted = query.inputs[given].schema
    if query.inputs[given].store is not None:
        yield Problem(f"{place}.store", "a query cannot have its own", "the name of a table of the network")
    if not wanted.takes(found):
        what = "the stored table" if is_table else _kind_of(network, given)
        yield Problem(place, f"is ({wanted}), but {what} has ({found})", f"({found})")
    elif not is_table:
        yield from _progress_problems(network, query, given)


def _progress_problems(network: Network, query: Network, given: str) -> Iterator[Problem]:
    """A progress of a query's input that is not that of its arc: a query makes no marks of its own."""
    declared, arc = query.inputs[given].progress, tapped(network, given)
    own = network.inputs[arc.id].progress if arc.id in network.inputs else None
    if declared is None or declared == own:
        return
    marked = ", ".join(sorted(network.marked[arc]))
    if own is not None:
        what, expected = f"the marks of {arc} are made {own}", "the same, or none: they come with the point"
    elif marked:
        what = f"{arc} has marks of {marked}, which follow from those of the inputs of {network.name}"
        expected = "none: they come with the point"
    else:
        what = f"{arc} has no marks"
        expected = f"none, and orders by slack; or `progress` at the inputs of {network.name}"
    yield Problem(f"inputs.{given}.progress", f"is {declared}, but {what}", expected)


def _kind_of(network: Network, given: str) -> str:
    return "the connection point" if given in network.connection_points else "the output"


def _tables(network: Network) -> list[str]:
    return [name for name, given in network.inputs.items() if given.table]


def _unknown(network: Network, given: str) -> str:
    if given in _tables(network):
        return f"{given!r} is a stored table, but the query reads it as a stream"
    if Ref.parse(given) in network.schemas:
        return f"{given!r} is an arc, but no connection point"
    return f"there is no connection point {given!r}"


def _known(network: Network) -> str:
    known = ", ".join(network.connection_points)
    return f"one of {known}" if known else "a network that has connection points (connection_points)"
