"""`australis subscribe`: prints what an output of a node somewhere else has, and what comes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from australis.algebra.schema import parse_schema
from australis.app import asking, running
from australis.app.options import node_address_options, take_node
from australis.client import NODE


@click.command()
@click.argument("name", metavar="OUTPUT")
@node_address_options
@click.option("--from", "begin", type=click.IntRange(min=0), metavar="N", help="Begin at this number.")
@click.option(
    "--consumer", metavar="NAME", help="Begin where this consumer left off, and note how far it came."
)
@click.option(
    "--follow/--no-follow",
    default=True,
    show_default=True,
    help="Continue with new tuples, or stop at what is there.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Stop after N tuples.")
@click.option("--output", "-o", metavar="FILE", help=".csv, .tsv, .jsonl or .parquet; '-' is JSON lines.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, also on a terminal.")
def command(
    name: str,
    begin: int | None,
    consumer: str | None,
    follow: bool,
    limit: int | None,
    output: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print what an output of a node has, and what comes, until Ctrl-C. Lost connections are made again.

    \b
    Examples:
      australis subscribe alarms --node http://127.0.0.1:8400
      australis subscribe alarms --node http://127.0.0.1:8400 --no-follow -o alarms.parquet
      australis subscribe alarms --node https://node.example:8400 --consumer screen --json
    """
    address = take_node(options)
    if address is None:
        raise click.UsageError(f"Missing option '--node' (or set {NODE}).")
    with (
        running.stoppable() as stop,
        suppress(KeyboardInterrupt),
        running.RemoteNode(address, stays=True) as node,
    ):
        schema = parse_schema(str(node.client.output(name)["schema"]))
        found = node.tables({name: name}, follow=follow, begin=begin, consumer=consumer)
        with asking.open_destination({name: schema}, output, limit, as_json=as_json) as target:
            asking.deliver(found, target, stop)
