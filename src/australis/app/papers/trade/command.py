"""`australis simulate market`: participants that trade load by contracts."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import jobs, trade
from australis.app.papers.experiments import (
    Sizes,
    ending_options,
    experiment,
    full_option,
    hand_out,
    spread_options,
)

PRICES = ("fixed", "bounded", "random", "random-bounded")
CONTRACTS = (1, 3, 5, 7, 9, 10)
LEAST, KINDS, RUNS = Sizes((10,), CONTRACTS), Sizes(PRICES[:2], PRICES), Sizes(1, 9)


@click.command(short_help="Contracts: participants that trade load.")
@click.option(
    "--contracts",
    type=click.IntRange(min=1),
    multiple=True,
    help=f"The least number of contracts of a node; repeatable.  {LEAST}",
)
@click.option(
    "--prices",
    type=click.Choice(PRICES),
    multiple=True,
    help="One price in all contracts, or a small range; the same for all nodes, or random. Repeatable.  "
    f"{KINDS}",
)
@click.option(
    "--spread",
    type=click.Choice(["chance", "even"]),
    default="chance",
    show_default=True,
    help="How operators are spread over nodes that are not crowded, of which the paper gives the mean.",
)
@click.option("--nodes", type=click.IntRange(min=4), default=995, show_default=True, help="Participants.")
@click.option("--runs", type=click.IntRange(min=1), help=f"To take means over.  {RUNS}")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of chance.")
@full_option(contracts=LEAST, prices=KINDS, runs=RUNS)
@spread_options("runs")
@ending_options("Figures 8 to 11")
def market(
    contracts: tuple[int, ...],
    prices: tuple[str, ...],
    spread: str,
    nodes: int,
    runs: int,
    seed: int,
    processes: int,
    spark: str | None,
    as_json: bool,
    plot: Path | None,
    progress: bool | None,
) -> None:
    """Contracts: participants that trade load, and how close they come to an acceptable allocation.

    \b
    Examples:
      australis simulate market
      australis simulate market --contracts 10 --runs 3
      australis simulate market --prices fixed --json | jq '.results[] | {contracts, excess_moved}'
      australis simulate market --full --plot pictures
    """
    # Loaded on demand: numpy is slow to load.
    told = trade.report
    even = spread == "even"
    every = told.jobs(prices, sorted(set(contracts)), nodes=nodes, runs=runs, seed=seed, even=even)
    with experiment("the market", len(every), progress) as done:
        outcomes = jobs.mapper(processes, spark)(told.run_job, every)
        report = told.make_report(every, jobs.counted(outcomes, done))
    hand_out(report, told, as_json=as_json, plot=plot)
