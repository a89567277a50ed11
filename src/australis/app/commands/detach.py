"""`australis detach`: removes an ad hoc query, with all that was kept for it."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import RootOptions, as_json_option, log_options, reaching_options, take_reached
from australis.engine.ledger import not_attached


@click.command()
@click.argument("name", metavar="NAME")
@reaching_options
@as_json_option("what was done")
@log_options
def command(name: str, as_json: bool, **options: Any) -> None:
    """Detach an ad hoc query, also from whoever reads it; `australis query --list` has the names.

    \b
    Examples:
      australis detach speeders --root root
      australis detach speeders --root root --json
      australis detach speeders --node https://node.example:8400
    """
    root = take_reached(options)
    with running.reach_or_start_node(root, lambda given: _check(given, name)) as node:
        node.detach(name)
    if as_json:
        click.echo(json.dumps({"detached": name, "root": root.root}))
    else:
        click.echo(f"{name} is detached")


def _check(root: RootOptions, name: str) -> None:
    """Refuse a query that is not there, before Spark is started for it."""
    known = running.record_of(root).queries
    if name not in known:
        raise not_attached(name, known)
