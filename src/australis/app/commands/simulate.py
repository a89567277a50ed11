"""`australis simulate`: the distributed policies in a virtual world, beside the numbers of the papers."""

from __future__ import annotations

import click

from australis.app.papers.hotspot import command as hotspots
from australis.app.papers.place import command as placement
from australis.app.papers.recover import command as recovery
from australis.app.papers.route import command as eddies
from australis.app.papers.trade import command as market


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Hold the distributed policies against the numbers of the papers.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table 4.10 --seed 7
      australis simulate market --contracts 10 --runs 3
      australis simulate hotspots --runs 2 --seeds 50
      australis simulate recovery --seeds 50
      australis simulate placement --runs 1
    """


command.add_command(eddies.command, "eddies")
command.add_command(market.command, "market")
command.add_command(hotspots.command, "hotspots")
command.add_command(recovery.command, "recovery")
command.add_command(placement.command, "placement")
