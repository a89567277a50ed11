"""`australis simulate recovery`: servers that fail, and what it costs that nothing is lost."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from australis.app.recovery_report import Report


@click.command(short_help="Recovery: servers that fail, and lose nothing.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="How many networks in which up to k servers fail; 50 in a second.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--plot",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write queues and recovery time against checkpoints into this directory, as SVG.",
)
def command(seed: int, seeds: int, as_json: bool, plot: Path | None) -> None:
    """Recovery: what k-safety costs in messages and queues, and how long it takes to catch up.

    \b
    Examples:
      australis simulate recovery --seeds 50
      australis simulate recovery --json | jq .trials
      australis simulate recovery --seeds 10000 --plot pictures
    """
    told = importlib.import_module("australis.app.recovery_report")
    with click.progressbar(length=seeds, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        report: Report = told.reported(seed, seeds, bar.update)
    if plot is not None:
        plot.mkdir(parents=True, exist_ok=True)
        for name, text in told.plots(report).items():
            (plot / name).write_text(text)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        told.printed(report)
