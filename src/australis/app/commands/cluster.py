"""`australis cluster`: many nodes, to look at."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from australis.app import demo, running
from australis.app.exit_codes import FAILED, INTERRUPTED
from australis.app.options import as_json_option, log_options
from australis.engine.sources import parse_rate
from australis.errors import EngineError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Watch how several nodes run one network.

    \b
    Examples:
      australis cluster demo
      australis cluster demo --seconds 60 --json
    """


@command.command(name="demo")
@click.option(
    "--seconds",
    type=click.FloatRange(min=5.0),
    default=45.0,
    show_default=True,
    help="For how long tuples are pushed.",
)
@click.option("--rate", default="8000/s", show_default=True, metavar="N/s", help="How fast they arrive.")
@click.option("--seed", type=int, default=2003, show_default=True, help="Another seed makes another stream.")
@as_json_option("what slid and whether the outputs are right")
@log_options
@click.pass_context
def show(ctx: click.Context, seconds: float, rate: str, seed: int, as_json: bool) -> None:
    """Watch boxes slide from a node that has too much to do to its neighbours.

    Starts three services on this machine, deploys a network that looks for intruders on the first one, and
    pushes connections faster than it may process them. The nodes decide by themselves which boxes go where.
    In the end the outputs are compared with those of one undisturbed node; the command fails if they differ,
    or if nothing has moved. Ctrl-C ends the services as well.

    \b
    Examples:
      australis cluster demo
      australis cluster demo --seconds 60 --rate 20000/s
      australis cluster demo --json | jq .moves
    """
    try:
        tuples_per_s = parse_rate(rate)
    except EngineError as error:
        raise click.UsageError(f"--{error}") from None
    with running.stoppable():
        try:
            found = demo.tell_of_nodes(
                lambda text: click.echo(text, err=as_json), seconds, tuples_per_s, seed
            )
        except KeyboardInterrupt:
            click.echo("australis: interrupted", err=True)
            ctx.exit(INTERRUPTED)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    ctx.exit(0 if found.is_right else FAILED)
