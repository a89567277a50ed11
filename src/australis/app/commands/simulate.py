"""`australis simulate`: the distributed policies in a simulated world, beside the papers' numbers."""

from __future__ import annotations

import click

from australis.app.papers import eddies, hotspots, market, placement, recovery, replay, trials


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Compare the distributed policies with the numbers of the papers.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table 4.10 --seed 7
      australis simulate market --contracts 10 --runs 3
      australis simulate hotspots --runs 2 --seeds 50
      australis simulate recovery --seeds 50
      australis simulate placement --runs 1
      australis simulate trials market --journal market.jsonl
      australis simulate replay market.jsonl
    """


for each in (eddies, market, hotspots, recovery, placement, trials, replay):
    command.add_command(each)
