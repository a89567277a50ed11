"""`australis simulate eddies`: tuples routed between the operators of distributed plans."""

from __future__ import annotations

from pathlib import Path

import click

from australis.app.papers import jobs, route
from australis.app.papers.experiments import (
    Sizes,
    ending_options,
    experiment,
    full_option,
    hand_out,
    spread_options,
)

TABLES = ("model", "4.10", "4.11", "4.12", "4.13", "4.14", "5.2", "5.3", "5.4", "5.5", "5.6")

TABLE, PLANS = Sizes("model", "all"), Sizes(1, 100)


@click.command(short_help="Distributed eddies: routing tuples between operators.")
@click.option(
    "--table",
    type=click.Choice([*TABLES, "all"]),
    help="`model`: the optima of the queueing model for the plans S3, J3 and DS3. The others are simulated, "
    "with six routing policies: the response times of S3 (4.10) and of DS3 (5.2); response times and maximum "
    "data rates of plans drawn at random, alone (4.11, 4.12) and twenty together (4.13, 4.14), and of the "
    f"same where operators are split and moved (5.4, 5.3; 5.5, 5.6).  {TABLE}",
)
@click.option(
    "--plans",
    type=click.IntRange(min=1),
    help=f"How many random plans; where twenty run together, at least this many.  {PLANS}",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The seed of the simulations."
)
@full_option(table=TABLE, plans=PLANS)
@spread_options("worlds")
@ending_options("pictures of simulated tables")
def eddies(
    table: str,
    plans: int,
    seed: int,
    processes: int,
    spark: str | None,
    as_json: bool,
    plot: Path | None,
    progress: bool | None,
) -> None:
    """Distributed eddies: what routing tuples between operators can achieve, and what it does achieve.

    \b
    Examples:
      australis simulate eddies --table model
      australis simulate eddies --table model --json | jq .s3_mdr
      australis simulate eddies --table 4.10 --seed 7
      australis simulate eddies --table 5.3 --plans 20 --plot pictures
      australis simulate eddies --full
    """
    # Loaded on demand: scipy and numba are slow to load.
    if table == "model":
        model = route.model
        with experiment("the model", 1, progress):
            optima = model.compute()
        hand_out(optima, model, as_json=as_json, plot=plot)
        return
    told = route.report
    tables = TABLES if table == "all" else (table,)
    every = told.jobs(tables, seed, plans)
    with experiment("eddies", len(every), progress) as done:
        # One job is not worth a separate process.
        outcomes = jobs.mapper(processes if len(every) > 1 else 1, spark)(told.run_job, every)
        report = told.make_report(tables, jobs.counted(outcomes, done))
    hand_out(report, told, as_json=as_json, plot=plot)
