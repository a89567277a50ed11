"""`australis push`: pushes a file into an input of a node somewhere else."""

from __future__ import annotations

import json
from typing import Any

import click

from australis.algebra.network import Input
from australis.algebra.schema import parse_schema
from australis.app import running, showing
from australis.app.exit_codes import FAILED
from australis.app.options import node_address_options, progress_option, take_node
from australis.client import NODE, Receipt
from australis.engine.files import STANDARD_STREAM, open_reader
from australis.errors import EngineError, Problem


@click.command()
@click.argument("name", metavar="INPUT")
@click.argument("path", metavar="FILE")
@node_address_options
@click.option(
    "--format",
    "stream_format",
    type=click.Choice(["csv", "tsv", "jsonl"]),
    default="jsonl",
    show_default=True,
    help="What comes in where FILE is '-'.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was pushed as JSON.")
@progress_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    name: str,
    path: str,
    stream_format: str,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Push the tuples of a file into an input of a node; they are durable when this ends.

    FILE is .csv, .tsv, .jsonl or .parquet, also .gz, or '-'. Each part is sent again until it is
    acknowledged, and taken once. Rows that are no tuples of the input are counted, and the command exits
    with 1.

    \b
    Examples:
      australis push reports reports.csv --node http://127.0.0.1:8400
      tail -f log.jsonl | australis push log - --node https://node.example:8400 --token-file token
    """
    address = take_node(options)
    if address is None:
        raise click.UsageError(f"Missing option '--node' (or set {NODE}).")
    with (
        running.RemoteNode(address, stays=True) as node,
        showing.show_steps("Pushing", wanted=progress) as bar,
    ):
        found = {each["name"]: each for each in node.client.inputs()}
        if name not in found:
            expected = f"one of {', '.join(found)}"
            raise EngineError(Problem(address.root, f"there is no input {name!r}", expected))
        schema, done, bad = parse_schema(str(found[name]["schema"])), Receipt(0), 0
        # A node of an earlier version says nothing of weights.
        taken = Input(schema, weight=found[name].get("weight")).arriving
        with open_reader(
            path, taken, stream_format=stream_format if path == STANDARD_STREAM else None
        ) as reader:
            for batch in reader.batches():
                bad += len(batch.rejected)
                if batch.table.num_rows:
                    done += node.client.push(name, batch.table)
                    bar.advance(batch.table.num_rows)
    bad += done.rejected_count
    if as_json:
        click.echo(json.dumps({"input": name, "accepted": done.accepted, "rejected": bad, "end": done.end}))
    else:
        click.echo(f"{done.accepted:,} tuples are in {name}")
        if bad:
            click.echo(f"australis: {bad:,} rows of {path} are no tuples of ({schema})", err=True)
    if bad:
        ctx.exit(FAILED)
