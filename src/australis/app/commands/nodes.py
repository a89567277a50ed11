"""`australis nodes`: the nodes that a node knows, and which of them are alive."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import as_json_option, log_options, node_address_options, take_asked_node
from australis.app.showing import print_columns


@click.command()
@node_address_options
@as_json_option("the nodes")
@log_options
def command(as_json: bool, **options: Any) -> None:
    """List the nodes that a node knows: their names, addresses, and whether they are alive.

    A node that is suspected has not answered, and is taken for dead if it says nothing for some seconds.

    \b
    Examples:
      australis nodes --node https://node.example:8400
      australis nodes --json
    """
    with running.RemoteNode(take_asked_node(options)) as node:
        found = node.client.members()
    if as_json:
        click.echo(json.dumps(found))
    else:
        rows = [(each["name"], each["address"], each["state"], _here(each)) for each in found]
        print_columns(("node", "address", "state", ""), rows)


def _here(member: dict[str, Any]) -> str:
    return "this node" if member["is_here"] else ""
