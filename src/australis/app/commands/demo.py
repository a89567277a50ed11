"""`australis demo`: a network that finds intruders in a generated stream, on Spark."""

from __future__ import annotations

import json
import os
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
@click.option(
    "--page/--no-page",
    default=None,
    help="Serve the editor with the network at work afterwards, until Ctrl-C. Default: on a terminal.",
)
@click.option(
    "--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help="Where the page is."
)
@as_json_option("what was found and whether it is right")
@log_options
@click.pass_context
def command(
    ctx: click.Context,
    seed: int,
    tuples: int,
    rate: str,
    page: bool | None,
    listen: str,
    as_json: bool,
) -> None:
    """Watch a network find intruders in a stream of connections, on Spark.

    Makes up an hour of network connections that arrive a little out of order, hides a port scan, a worm and a
    beacon in it, and streams it through the intrusion detection query of the Medusa paper. It shows what was
    found and how long after the connections, and checks the results against the same query without Spark.
    On a terminal, it then prints the address of a page where the network is at work, and keeps it open.

    \b
    Examples:
      australis demo
      australis demo --seed 7 --rate 20000/s
      australis demo --json | jq .is_right
      australis demo --no-page
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
    if _keeps_page(page, as_json=as_json):
        demo.keep_page(console, seed, tuples, listen)
    ctx.exit(0 if result.is_right else FAILED)


def _keeps_page(wanted: bool | None, *, as_json: bool) -> bool:
    """Whether somebody may look: unless asked for, not where nobody can press Ctrl-C."""
    if wanted is not None:
        return wanted
    return sys.stdout.isatty() and not as_json and not os.environ.get("CI")


def _rate(text: str) -> float:
    try:
        return parse_rate(text)
    except EngineError as error:
        raise click.UsageError(f"--{error}") from None
