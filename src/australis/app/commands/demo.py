"""`australis demo`: a network that finds intruders in a generated stream, on Spark."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click
from rich.console import Console

from australis.app import demo, running
from australis.app.exit_codes import FAILED, INTERRUPTED
from australis.app.options import as_json_option, log_options
from australis.engine.sources import parse_rate
from australis.errors import EngineError

COUNT = 300_000
_WIDTH_OF_FILES = 120


@click.command()
@click.option("--seed", type=int, default=2003, show_default=True, help="Another seed makes another hour.")
@click.option(
    "--tuples",
    type=click.IntRange(min=50_000),
    default=COUNT,
    show_default=True,
    help="How many connections.",
)
@click.option("--rate", default="50000/s", show_default=True, metavar="N/s", help="How fast they arrive.")
@as_json_option("what was found and whether it is right")
@log_options
@click.pass_context
def command(ctx: click.Context, seed: int, tuples: int, rate: str, as_json: bool) -> None:
    """Watch a network find intruders in a stream of connections, on Spark.

    Makes up an hour of network connections that arrive a little out of order, hides a port scan, a worm and a
    beacon in it, and streams it through the intrusion detection query of the Medusa paper. It shows what was
    found and how long after the connections, and checks the results against the same query without Spark.

    \b
    Examples:
      australis demo
      australis demo --seed 7 --rate 20000/s
      australis demo --json | jq .is_right
    """
    tuples_per_s = _rate(rate)
    is_terminal = (sys.stderr if as_json else sys.stdout).isatty()
    console = Console(highlight=False, stderr=as_json, width=None if is_terminal else _WIDTH_OF_FILES)
    with running.stoppable() as stop:
        try:
            result = demo.tell_story(console, seed, tuples, tuples_per_s, stop)
        except KeyboardInterrupt:
            click.echo("australis: interrupted", err=True)
            ctx.exit(INTERRUPTED)
    if as_json:
        click.echo(json.dumps(asdict(result), indent=2))
    ctx.exit(0 if result.is_right else FAILED)


def _rate(text: str) -> float:
    try:
        return parse_rate(text)
    except EngineError as error:
        raise click.UsageError(f"--{error}") from None
