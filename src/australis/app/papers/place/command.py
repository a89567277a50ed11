"""`australis simulate placement`: boxes that slide and split while the load shifts between streams."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import place
from australis.app.papers.experiments import ending_options, hand_out, progress


@click.command(short_help="Placement: boxes that slide and split.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The first one.")
@click.option("--runs", type=click.IntRange(min=1), default=2, show_default=True, help="To take means over.")
@ending_options("the delays")
def placement(seed: int, runs: int, as_json: bool, plot: Path | None) -> None:
    """Placement: four regions over eight sites, with a hot region that changes every five minutes.

    \b
    Examples:
      australis simulate placement
      australis simulate placement --seed 7 --runs 1 --json | jq .variants
      australis simulate placement --plot pictures
    """
    told = place.report
    with progress(told.runs_of(runs)) as bar:
        report = told.make_report(seed, runs, bar.update)
    hand_out(report, told, as_json=as_json, plot=plot)
