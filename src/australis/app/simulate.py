"""`australis simulate`: the distributed policies in a virtual world, beside the numbers of the papers."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from australis.app import hotspots, market, placement, recovery
from australis.app.tables import print_table

if TYPE_CHECKING:
    from australis.app.eddies_model import Model
    from australis.sim.eddies.experiments import DataRates, ResponseTimes


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


command.add_command(market.command, "market")
command.add_command(hotspots.command, "hotspots")
command.add_command(recovery.command, "recovery")
command.add_command(placement.command, "placement")


@command.command(short_help="Distributed eddies: routing tuples between operators.")
@click.option(
    "--table",
    type=click.Choice(["model", "4.10", "4.12"]),
    default="model",
    show_default=True,
    help="`model`: the optima of the queueing model for the plans S3, J3 and DS3. `4.10`: the response times "
    "of six routing policies for S3, simulated. `4.12`: their maximum data rates for plans drawn at random.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of a simulation's chance."
)
@click.option(
    "--plans",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="For 4.12: how many plans; each takes some 15 s.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def eddies(table: str, seed: int, plans: int, as_json: bool) -> None:
    """Distributed eddies: what routing tuples between operators can reach, and what it does reach.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table model --json | jq .s3_mdr
      australis simulate eddies --table 4.10 --seed 7
      australis simulate eddies --table 4.12 --plans 100
    """
    if table == "model":
        _model(as_json)
    elif table == "4.10":
        _response_times(seed, as_json)
    else:
        _data_rates(seed, plans, as_json)


def _model(as_json: bool) -> None:
    # Loaded when it is asked for, as what is below: scipy and numba take their time.
    told = importlib.import_module("australis.app.eddies_model")
    model: Model = told.computed()
    if as_json:
        click.echo(json.dumps(asdict(model), indent=2))
        return
    print_table(["plan", "what", "paper", "ours"], model.rows(), names=2)
    click.echo(f"\n{told.NOTE}")


def _response_times(seed: int, as_json: bool) -> None:
    experiments = importlib.import_module("australis.sim.eddies.experiments")
    found: ResponseTimes = experiments.response_times_of_s3(seed)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    rows = [
        [policy, who, *(f"{time:.2f}" for time in times[policy])]
        for policy in found.ours
        for who, times in (("paper", found.paper), ("ours", found.ours))
    ]
    print_table(["policy", "", *(f"{rate:g}" for rate in found.rates)], rows, names=2)
    click.echo("\nThe average response time of S3 at a rate of tuples, by routing policy.")


def _data_rates(seed: int, plans: int, as_json: bool) -> None:
    experiments = importlib.import_module("australis.sim.eddies.experiments")
    with click.progressbar(
        range(seed, seed + plans), file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as numbers:
        found: DataRates = experiments.data_rates(seed, [experiments.data_rates_of(each) for each in numbers])
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    rows = [[policy, f"{found.paper[policy]:.0f}", f"{ours:.0f}"] for policy, ours in found.ours.items()]
    print_table(["policy", "paper", "ours"], rows, names=1)
    click.echo(f"\nThe geometric mean of the maximum data rates of {plans} plans, by routing policy.")
