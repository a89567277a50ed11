"""`australis where`: the nodes that have what a name stands for."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import as_json_option, log_options, node_address_options, take_asked_node
from australis.app.showing import print_columns
from australis.errors import ClusterError, Problem


@click.command()
@click.argument("name", metavar="PARTICIPANT/NAME")
@node_address_options
@as_json_option("the nodes")
@log_options
def command(name: str, as_json: bool, **options: Any) -> None:
    """Say which nodes have the query, the stream or the piece of a name; exit code 1 if none has it.

    Nodes of the participant know all its names, others those of outputs that are offered to somebody.

    \b
    Examples:
      australis where lab/speeds --node https://node.example:8400
      australis where lab/speeds --json
    """
    with running.RemoteNode(take_asked_node(options)) as node:
        found = node.client.where(name)
    if as_json:
        click.echo(json.dumps(found))
    if not found["places"]:
        raise ClusterError(Problem(name, "no node is known to have it", "a name that `australis find` lists"))
    if not as_json:
        columns = ("node", "address", "state", "kind", "detail")
        rows = [tuple(each[column] or "" for column in columns) for each in found["places"]]
        print_columns(columns, rows)
