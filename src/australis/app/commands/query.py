"""`australis query`: queries the history of a running stream, and continues with new tuples."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from australis.algebra.grafting import output_names
from australis.algebra.network import Network
from australis.app import asking, running
from australis.app.options import (
    NodeAddress,
    QueryOptions,
    RootOptions,
    expressions,
    reaching_options,
    take_reached,
)
from australis.app.running import Stop, stoppable
from australis.app.showing import statistics_tables as shown
from australis.engine.control import Control, End, RemoteQuery
from australis.engine.files import STANDARD_STREAM, format_of


@click.command()
@click.argument("point", metavar="[POINT]", required=False)
@click.argument("expression", metavar="[EXPRESSION]", required=False)
@reaching_options
@click.option("--net", metavar="NET", help="The query as a network, whose streams are connection points.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="NAME=EXPRESSION",
    help="Show this instead of the attributes. Repeatable.",
)
@click.option("--name", metavar="NAME", help="The name of the query. Default: one that is free.")
@click.option("--keep", is_flag=True, help="Leave it attached; --name NAME alone resumes it.")
@click.option(
    "--follow/--no-follow",
    default=True,
    show_default=True,
    help="Continue with new tuples, or stop at what has arrived by now.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Stop after N tuples.")
@click.option("--output", "-o", metavar="FILE", help=".csv, .tsv, .jsonl or .parquet; '-' is JSON lines.")
@click.option("--list", "listed", is_flag=True, help="List the queries that are attached.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, also on a terminal.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    point: str | None,
    expression: str | None,
    net: str | None,
    maps: tuple[str, ...],
    name: str | None,
    keep: bool,
    follow: bool,
    limit: int | None,
    output: str | None,
    listed: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Query a connection point of a running network: its history first, then what arrives, until Ctrl-C.

    EXPRESSION is a predicate on the tuples of POINT. With --net the query is a network of boxes whose inputs
    are connection points. It runs as a part of the node, and ends with this command, unless --keep is given.

    If no node has the root open, the answer covers the history alone.

    \b
    Examples:
      australis query pos "speed > 80" --root root
      australis query pos "speed > 80" --map car=car --map mph="speed / 1.609" --limit 10 --root root
      australis query pos --net averages.yaml --no-follow --output averages.csv --root root
      australis query pos "speed > 80" --name speeders --keep --root root
      australis query --name speeders --root root
      australis query --list --root root
    """
    given = take_reached(options)
    asked = QueryOptions(point, expression, net, expressions(maps))
    _check(asked, name, listed)
    if isinstance(given, NodeAddress):
        with (
            stoppable() as stop,
            suppress(KeyboardInterrupt),
            running.RemoteNode(given, stays=follow) as node,
        ):
            _ask_remote(node, asked, name, Wanted(output, limit, as_json, stop), listed, keep, follow)
        return
    root = running.for_reading(given)
    with stoppable() as stop, suppress(KeyboardInterrupt):
        wanted = Wanted(output, limit, as_json, stop)
        reached = running.reach_node(root)
        if listed:
            _list(running.record_of(root).queries if reached is None else _attached(reached), as_json)
        elif reached is None:
            _refuse_offline(ctx, root.root)
            wanted.history(root, asked.network(running.network_of(root)))
        elif asked.is_nothing:
            with reached:
                wanted.read(reached.join(name or "", follow=follow), keep=True)
        else:
            with reached:
                running_network = reached.network()
                query = asked.network(running_network)
                empty = _points_without_tuples(reached, running_network, query)
                attached = reached.attach(query, name=name, keep=keep, follow=follow)
                wanted.read(attached, keep=keep, empty=empty if follow else ())


def _check(asked: QueryOptions, name: str | None, listed: bool) -> None:
    """Refuse options that cannot be combined."""
    if listed and not (asked.is_nothing and name is None):
        raise click.UsageError("--list is for itself: it names all queries that are attached")
    if not listed and asked.is_nothing and name is None:
        raise click.UsageError("what is asked? A connection point, --net NET, --name NAME or --list")
    asked.check()


def _refuse_offline(ctx: click.Context, root: str) -> None:
    """Refuse what only a node can do, where none runs."""
    for option in ("keep", "name", "follow"):
        given = ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE
        if given and ctx.params[option]:
            raise click.UsageError(f"--{option}: no node answers on {root}, which that is for")
    click.echo(f"australis: no node answers on {root}: this is its history alone", err=True)


class Wanted:
    """What to show of a query, and where."""

    def __init__(self, output: str | None, limit: int | None, as_json: bool, stop: Stop) -> None:
        if output not in (None, STANDARD_STREAM):
            format_of(output or "")
        self._output, self._limit, self.as_json, self._stop = output, limit, as_json, stop

    def _delivery(self, query: Network) -> asking.Destination:
        if self._output not in (None, STANDARD_STREAM) and len(query.outputs) != 1:
            names = ", ".join(query.outputs)
            raise click.UsageError(f"--output {self._output} is one file, but the query has {names}")
        schemas = {name: query.output_schema(name) for name in query.outputs}
        return asking.open_destination(schemas, self._output, self._limit, as_json=self.as_json)

    def history(self, root: RootOptions, query: Network) -> None:
        """Show what the query makes of the history that a root keeps."""
        with self._delivery(query) as target:
            asking.deliver(asking.query_history(root, query), target, self._stop)

    def remote(
        self, node: running.RemoteNode, query: Network, outputs: Mapping[str, str], follow: bool
    ) -> None:
        """Show what a query on a node at an address delivers; `outputs` are its names there."""
        with self._delivery(query) as target:
            asking.deliver(node.tables(outputs, follow=follow), target, self._stop)

    def read(self, query: RemoteQuery, *, keep: bool, empty: Sequence[str] = ()) -> None:
        """Show what a query delivers, and keep or remove it as requested; `empty` points have no history."""
        with query:
            if empty:
                keeps = "keeps" if len(empty) == 1 else "keep"
                waits = f"{', '.join(empty)} {keeps} no tuples yet; waiting for new ones"
                click.echo(f"{query.name} is attached; {waits}", err=True)
            else:
                _say_on_terminal(f"{query.name} is attached; Ctrl-C ends it")
            with suppress(KeyboardInterrupt), self._delivery(query.network) as target:
                asking.deliver(query, target, self._stop)
        if query.end is End.STOPPED:
            click.echo("australis: the node has ended", err=True)
        elif query.end is End.DETACHED:
            click.echo(f"australis: {query.name} was detached by somebody else", err=True)
        elif keep:
            click.echo(
                f"{query.name} stays attached; `australis query --name {query.name}` continues it", err=True
            )


def _ask_remote(
    node: running.RemoteNode,
    asked: QueryOptions,
    name: str | None,
    wanted: Wanted,
    listed: bool,
    keep: bool,
    follow: bool,
) -> None:
    """Query a node at an address."""
    if listed:
        _list(node.client.attached(), wanted.as_json)
        return
    if asked.is_nothing:
        known = node.client.attached()
        query = known.get(name or "")
        if query is None:
            raise click.UsageError(f"there is no query {name}; there is {', '.join(known) or 'none'}")
        wanted.remote(node, query, _names_shown(name or "", query), follow)
        return
    query = asked.network(node.client.network())
    with node.asked(query, name, keep=keep) as chosen:
        _say_on_terminal(f"{chosen} is attached; Ctrl-C ends it")
        if not follow:
            node.wait_for(chosen)
        wanted.remote(node, query, _names_shown(chosen, query), follow)


def _names_shown(name: str, query: Network) -> dict[str, str]:
    """The outputs of a query under the names that they have on the node."""
    return {there: output for output, there in output_names(name, query).items()}


def _points_without_tuples(reached: Control, network: Network, query: Network) -> tuple[str, ...]:
    """The connection points that a query reads, if none of them keeps a tuple."""
    arcs = reached.statistics()["arcs"]
    points = [name for name in query.inputs if name in network.connection_points]
    is_empty = all(arcs.get(str(network.connection_points[name].at)) == 0 for name in points)
    return tuple(points) if is_empty else ()


def _say_on_terminal(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(text, err=True)


def _attached(reached: Control) -> dict[str, Network]:
    with reached:
        return reached.attached()


def _list(queries: Mapping[str, Network], as_json: bool) -> None:
    if as_json:
        told = {
            name: {"points": list(query.inputs), "outputs": list(query.outputs)}
            for name, query in queries.items()
        }
        click.echo(json.dumps(told, indent=2))
    elif queries:
        table = shown.columns("query", "reads", "boxes", "outputs", names=4)
        for name, query in queries.items():
            parts = (query.inputs, query.boxes, query.outputs)
            table.add_row(name, *(", ".join(each) or shown.NOTHING for each in parts))
        Console(highlight=False).print(table)
    else:
        click.echo("No query is attached.")
