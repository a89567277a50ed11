"""`australis deploy`: replaces the network of a root, while it runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
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
    take_places,
    take_reached,
)
from australis.cluster.pieces import cut_into_pieces, load_placement
from australis.errors import EngineError, Problem


@click.command()
@click.argument("net", metavar="NEW")
@reaching_options
@click.option(
    "--nodes",
    "placement",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Run it on several nodes: their addresses by name, and which parts run where. YAML.",
)
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
    placement: Path | None,
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

    With --nodes, the network is cut into a piece for each node, and links take the place of the arcs between
    them. What is where is in a file: `nodes` has the addresses of services by the names of nodes, `place` has
    names of nodes by patterns of inputs and boxes.

    \b
    Examples:
      australis deploy new.yaml --root root --dry-run
      australis deploy new.yaml --root root
      australis deploy new.yaml --root root --table names=names.csv --yes --json
      australis deploy new.yaml --nodes placement.yaml --dry-run
    """
    if placement is not None:
        if tables:
            raise click.UsageError("--table and --nodes do not go together: give the tables stores")
        _deploy_pieces(find_network(net), placement, options, dry_run=dry_run, yes=yes, as_json=as_json)
        return
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


def _deploy_pieces(
    network: Network, file: Path, options: dict[str, Any], *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Run a network on several nodes: all of them are asked what would change before any does."""
    placement = load_placement(file)
    pieces, places = cut_into_pieces(network, placement.of(network)), take_places(options, placement.nodes)
    with running.nodes_at(places) as nodes:
        changes = {piece.node: nodes[piece.node].difference(piece.network) for piece in pieces}
        idle = [name for name in places if name not in changes and nodes[name].runs(network.name)]
        if not as_json:
            for name, change in changes.items():
                click.echo("\n".join([f"{name}:", *(f"  {line}" for line in change.lines())]))
            for name in idle:
                click.echo(f"{name}:\n  {network.name} is removed")
        lost = [f"{name}: {each}" for name, change in changes.items() for each in change.as_dict()["lost"]]
        lost += [f"{name}: all that {network.name} keeps" for name in idle]
        if not dry_run:
            _confirm(lost, ", ".join(places), yes=yes)
            for piece in pieces:
                changes[piece.node] = nodes[piece.node].change(piece.network)
            for name in idle:
                nodes[name].client.remove(accept_loss=True)
    if as_json:
        told = {name: change.as_dict() for name, change in changes.items()}
        click.echo(json.dumps({"applied": not dry_run, "nodes": told, "removed": idle}, indent=2))
    elif not dry_run:
        click.echo(f"{network.name} runs on {', '.join(changes)} now")


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
