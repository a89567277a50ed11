"""`australis simulate recovery`: servers that fail, and what it costs that nothing is lost."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from australis.app.papers.experiments import ending_options, hand_out, progress, spread_options

if TYPE_CHECKING:
    from australis.app.papers.recover.report import Report


@click.command(short_help="Recovery: servers that fail, and lose nothing.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="How many networks in which up to k servers fail; 50 in a second.",
)
@spread_options("runs")
@ending_options("queues and recovery time against checkpoints")
def command(
    seed: int, seeds: int, processes: int, spark: str | None, as_json: bool, plot: Path | None
) -> None:
    """Recovery: what k-safety costs in messages and queues, and how long it takes to catch up.

    \b
    Examples:
      australis simulate recovery --seeds 50
      australis simulate recovery --json | jq .trials
      australis simulate recovery --seeds 10000 --plot pictures
    """
    work, told = (
        importlib.import_module(f"australis.app.papers.{name}") for name in ("jobs", "recover.report")
    )
    every = told.jobs(seed, seeds)
    with progress(len(every)) as bar:
        outcomes = work.mapper(processes, spark)(told.done, every)
        report: Report = told.reported(seed, work.counted(outcomes, bar.update))
    hand_out(report, told, as_json=as_json, plot=plot)
