"""`australis find`: the names that match a pattern."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import as_json_option, log_options, node_address_options, take_asked_node
from australis.app.showing import print_columns


@click.command()
@click.argument("pattern", metavar="PATTERN")
@node_address_options
@as_json_option("the names")
@log_options
def command(pattern: str, as_json: bool, **options: Any) -> None:
    """List the names that match a pattern with *, ? and [...], and the nodes that have them.

    \b
    Examples:
      australis find 'lab/*' --node https://node.example:8400
      australis find '*/speeds' --json
    """
    with running.RemoteNode(take_asked_node(options)) as node:
        found = node.client.find(pattern)
    if as_json:
        click.echo(json.dumps(found))
        return
    columns = ("name", "node", "kind")
    print_columns(columns, [tuple(each[column] for column in columns) for each in found["names"]])
    if not found["is_whole"]:
        click.echo("some nodes have not answered: there may be more", err=True)
