"""`australis simulate`: the distributed policies in a virtual world, beside the numbers of the papers."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from australis.app.eddies_model import Model


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Hold the distributed policies against the numbers of the papers.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table model --json
    """


@command.command(short_help="Distributed eddies: routing tuples between operators.")
@click.option(
    "--table",
    type=click.Choice(["model"]),
    default="model",
    show_default=True,
    help="What to compute: `model`, the optima of the queueing model for the plans S3, J3 and DS3.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def eddies(table: str, as_json: bool) -> None:
    """Distributed eddies: what routing tuples between operators can reach.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table model --json | jq .s3_mdr
    """
    # Loaded when it is asked for: scipy takes its time.
    model: Model = importlib.import_module("australis.app.eddies_model").computed()
    if as_json:
        click.echo(json.dumps(asdict(model), indent=2))
    else:
        _show(model)


def _show(model: Model) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("plan", "what"):
        table.add_column(name)
    for name in ("paper", "ours"):
        table.add_column(name, justify="right")
    for row in model.rows():
        table.add_row(*row)
    Console(highlight=False, width=80).print(table)
    click.echo(f"\n{importlib.import_module('australis.app.eddies_model').NOTE}")
