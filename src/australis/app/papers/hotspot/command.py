"""`australis simulate hotspots`: peers that move components away from overloaded peers."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import hotspot, jobs
from australis.app.papers.experiments import ending_options, hand_out, progress, spread_options


@click.command(short_help="Hot spots: peers that move components away.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="How many unreliable worlds, with lost and repeated messages and crashes; 80 per second.",
)
@click.option("--runs", type=click.IntRange(min=1), default=5, show_default=True, help="To take means over.")
@spread_options("runs")
@ending_options("Figures 4 to 7")
def hotspots(
    seed: int, seeds: int, runs: int, processes: int, spark: str | None, as_json: bool, plot: Path | None
) -> None:
    """Hot spots: 30 peers with 10 operators, with and without migrations; and unreliable worlds.

    \b
    Examples:
      australis simulate hotspots --runs 2 --seeds 50
      australis simulate hotspots --json | jq .first.overhead
      australis simulate hotspots --seeds 10000 --plot pictures
    """
    told = hotspot.report
    every = told.jobs(seed, runs, seeds)
    with progress(len(every)) as bar:
        outcomes = jobs.mapper(processes, spark)(told.run_job, every)
        report = told.make_report(every, jobs.counted(outcomes, bar.update))
    hand_out(report, told, as_json=as_json, plot=plot)
