"""`australis split`: runs a box as several copies, or as one again, while the node runs."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.app import running
from australis.app.options import as_json_option, log_options, reaching_options, take_reached


@click.command()
@click.argument("box", metavar="BOX")
@reaching_options
@click.option("--into", metavar="N", type=click.IntRange(2, 64), help="The number of copies; 2 if not said.")
@click.option(
    "--by",
    multiple=True,
    metavar="ATTRIBUTE",
    help="Divide its tuples by this attribute, instead of by all that are fit for it. Repeatable.",
)
@click.option(
    "--any-order", is_flag=True, help="Boxes downstream may see the tuples of one moment in another sequence."
)
@click.option("--undo", is_flag=True, help="Run it as one box again.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@as_json_option("what was done")
@log_options
def command(
    box: str,
    into: int | None,
    by: tuple[str, ...],
    any_order: bool,
    undo: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run a box as several copies, each with its share of the tuples and of the state.

    A Filter before the copies divides the tuples by a hash, and a Union after them has the name of the box,
    so what reads the box reads on. Groups stay whole. The network as it was deployed stays as it is:
    `deploy` compares with that one. The same again changes nothing.

    \b
    Examples:
      australis split detect.count --into 3 --root root
      australis split detect.count --by sid --node https://node.example:8400 --dry-run
      australis split detect.count --undo --root root --json
    """
    if undo and (into is not None or by or any_order):
        raise click.UsageError("--undo goes with none of --into, --by and --any-order")
    with running.reach_or_start_node(take_reached(options)) as node:
        change = (
            node.unsplit(box, dry_run=dry_run)
            if undo
            else node.split(box, into or 2, by=by, any_order=any_order, dry_run=dry_run)
        )
    if as_json:
        known = {"applied": not dry_run, **change.as_dict()}
        click.echo(json.dumps(known, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(change.lines()))
