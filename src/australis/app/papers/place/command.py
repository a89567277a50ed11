"""`australis simulate placement`: boxes that slide and split while the load shifts between streams."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import place
from australis.app.papers.experiments import Sizes, ending_options, experiment, full_option, hand_out

RUNS = Sizes(1, 2)


@click.command(short_help="Placement: boxes that slide and split.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option("--runs", type=click.IntRange(min=1), help=f"To take means over.  {RUNS}")
@full_option(runs=RUNS)
@ending_options("the delays")
def placement(seed: int, runs: int, as_json: bool, plot: Path | None, progress: bool | None) -> None:
    """Placement: four regions over eight sites, with a hot region that changes every five minutes.

    \b
    Examples:
      australis simulate placement
      australis simulate placement --seed 7 --runs 1 --json | jq .variants
      australis simulate placement --full --plot pictures
    """
    told = place.report
    with experiment("placement", told.runs_of(runs), progress) as done:
        report = told.make_report(seed, runs, done)
    hand_out(report, told, as_json=as_json, plot=plot)
