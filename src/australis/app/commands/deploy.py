"""`australis deploy`: replaces the network of a root, while it runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
import pyarrow as pa

from australis.algebra.network import Network
from australis.app import running, showing
from australis.app.options import (
    find_network,
    log_options,
    named_files,
    progress_option,
    reaching_options,
    take_reached,
)
from australis.errors import EngineError, Problem


@click.command()
@click.argument("net", metavar="NEW")
@reaching_options
@click.option("--dry-run", is_flag=True, help="Show what it would change, and change nothing.")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME=FILE",
    help="The rows of a stored table that is new, or that a join needs again. Repeatable.",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask, also where something is lost.")
@click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON.")
@progress_option
@log_options
def command(
    net: str,
    dry_run: bool,
    tables: tuple[str, ...],
    yes: bool,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Replace the network of a root: boxes that are the same keep their state.

    A node that runs there keeps running: what is to change is held and drained, and swapped between two
    trains. If none runs, the root is opened and changed. A network that is invalid, or cannot replace the old
    one, changes nothing.

    Give the new network to the next `australis run` on this root.

    \b
    Examples:
      australis deploy new.yaml --root root --dry-run
      australis deploy new.yaml --root root
      australis deploy new.yaml --root root --table names=names.csv --yes --json
    """
    root = take_reached(options)
    network = find_network(net)
    stored = [name for name, given in network.inputs.items() if given.table and given.store is None]
    found = _tables(network, named_files(tables, stored, "table"))
    with running.reach_or_start_node(root) as node:
        change = node.difference(network)
        if not as_json:
            click.echo("\n".join(change.lines()))
        if not dry_run:
            _confirm(change.as_dict()["lost"], root.root, yes=yes)
            with showing.show_steps("Draining and switching", wanted=progress):
                change = node.change(network, tables=found)
    if as_json:
        known = {"applied": not dry_run, **change.as_dict()}
        click.echo(json.dumps(known, indent=2, ensure_ascii=False))
    elif not dry_run:
        click.echo(f"{network.name} runs on {root.root} now")


def _tables(network: Network, files: Mapping[str, str]) -> dict[str, pa.Table]:
    """The rows of stored tables; all of them must fit."""
    found = {}
    with running.open_inputs(network, files, "csv") as readers:
        for name, reader in readers.items():
            batches = list(reader.batches())
            bad = [row for batch in batches for row in batch.rejected]
            if bad:
                what = f"{len(bad):,} rows do not fit, the first: {bad[0].reason}"
                raise EngineError(Problem(files[name], what, f"rows of ({network.inputs[name].schema})"))
            empty = network.inputs[name].schema.arrow.empty_table()
            found[name] = pa.concat_tables([empty, *(batch.table for batch in batches)])
    return found


def _confirm(lost: Sequence[str], root: str, *, yes: bool) -> None:
    """Ask before something is lost; if nobody can be asked, --yes is required."""
    if yes or not lost:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"on {root} would be lost: {'; '.join(lost)}. Add --yes if that is meant")
    click.confirm("Change it, and lose that?", abort=True, err=True)
