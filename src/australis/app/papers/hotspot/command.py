"""`australis simulate hotspots`: peers that move components away from overloaded peers."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import hotspot, jobs
from australis.app.papers.experiments import (
    Sizes,
    ending_options,
    experiment,
    full_option,
    hand_out,
    spread_options,
)

SEEDS, RUNS = Sizes(50, 10_000), Sizes(1, 5)


@click.command(short_help="Hot spots: peers that move components away.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    help=f"How many unreliable worlds, with lost and repeated messages and crashes; 80 per second.  {SEEDS}",
)
@click.option("--runs", type=click.IntRange(min=1), help=f"To take means over.  {RUNS}")
@full_option(seeds=SEEDS, runs=RUNS)
@spread_options("runs")
@ending_options("Figures 4 to 7")
def hotspots(
    seed: int,
    seeds: int,
    runs: int,
    processes: int,
    spark: str | None,
    as_json: bool,
    plot: Path | None,
    progress: bool | None,
) -> None:
    """Hot spots: 30 peers with 10 operators, with and without migrations; and unreliable worlds.

    \b
    Examples:
      australis simulate hotspots
      australis simulate hotspots --runs 2 --json | jq .first.overhead
      australis simulate hotspots --full --plot pictures
    """
    told = hotspot.report
    every = told.jobs(seed, runs, seeds)
    with experiment("hot spots", len(every), progress) as done:
        outcomes = jobs.mapper(processes, spark)(told.run_job, every)
        report = told.make_report(every, jobs.counted(outcomes, done))
    hand_out(report, told, as_json=as_json, plot=plot)
