"""`australis refresh`: reads a stored table, or a stream from a store, again."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import RootOptions, as_json_option, log_options, reaching_options, take_reached
from australis.errors import EngineError, Problem


@click.command()
@click.argument("name", metavar="INPUT")
@reaching_options
@as_json_option("what was done")
@log_options
def command(name: str, as_json: bool, **options: Any) -> None:
    """Read the store of an input again, now; tuples that are pushed from then on meet its new rows.

    \b
    Examples:
      australis refresh cars --root root
      australis refresh cars --root root --json
    """
    root = take_reached(options)
    with running.reach_or_start_node(root, lambda given: _check(given, name)) as node:
        node.refresh(name)
    if as_json:
        click.echo(json.dumps({"refreshed": name, "root": root.root}))
    else:
        click.echo(f"{name} is read again")


def _check(root: RootOptions, name: str) -> None:
    """Refuse an input that has no store, before Spark is started for it."""
    known = [each for each, given in running.network_of(root).inputs.items() if given.store is not None]
    if name not in known:
        expected = f"one of {', '.join(known)}" if known else "a network with stores"
        raise EngineError(Problem(root.root, f"there is no input {name!r} with a store", expected))
