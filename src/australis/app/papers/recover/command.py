"""`australis simulate recovery`: servers that fail, and the cost of losing nothing."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import jobs, recover
from australis.app.papers.experiments import (
    Sizes,
    ending_options,
    experiment,
    full_option,
    hand_out,
    spread_options,
)

SEEDS = Sizes(50, 10_000)


@click.command(short_help="Recovery: servers that fail, and lose nothing.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    help=f"How many networks in which up to k servers fail; 50 per second.  {SEEDS}",
)
@full_option(seeds=SEEDS)
@spread_options("runs")
@ending_options("queues and recovery time against checkpoints")
def recovery(
    seed: int,
    seeds: int,
    processes: int,
    spark: str | None,
    as_json: bool,
    plot: Path | None,
    progress: bool | None,
) -> None:
    """Recovery: the cost of k-safety in messages and queues, and the time to catch up.

    \b
    Examples:
      australis simulate recovery
      australis simulate recovery --seeds 200 --json | jq .trials
      australis simulate recovery --full --plot pictures
    """
    told = recover.report
    every = told.jobs(seed, seeds)
    with experiment("recovery", len(every), progress) as done:
        outcomes = jobs.mapper(processes, spark)(told.run_job, every)
        report = told.make_report(seed, jobs.counted(outcomes, done))
    hand_out(report, told, as_json=as_json, plot=plot)
