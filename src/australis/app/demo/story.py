"""`australis demo`: make a stream, draw the network, run it on Spark, say what it found, check it."""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING

import click
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from australis.algebra.network import QUARANTINE
from australis.app.cli import FAILED, INTERRUPTED
from australis.app.demo.agreement import Compared, engines_agree, results_agree
from australis.app.demo.network import network as demo_network
from australis.app.demo.stream import BEACON, HOME, SCANNER, WORM_NET, connections
from australis.app.pictures.tree import network_tree
from australis.app.running.stopping import Stop, stoppable
from australis.engine.sources.rates import parse_rate
from australis.errors import EngineError

if TYPE_CHECKING:
    from australis.app.demo.show import Shown

COUNT = 300_000
BATCH = 10_000
SAMPLE = 10_000
_WIDTH_OF_FILES = 120
_KEYS = {"scans": "src", "beacons": "src", "clusters": "net"}
"""By which attribute an intruder is known."""


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
@click.pass_context
def command(ctx: click.Context, seed: int, tuples: int, rate: str) -> None:
    """Watch a network find intruders in a stream of connections, on Spark.

    Makes up an hour of network connections that arrive a little out of order, hides a port scan, a worm and a
    beacon in it, and streams it through the intrusion detection query of the Medusa paper. It shows what was
    found and how long after the connections, and checks the results against the same query without Spark.

    \b
    Examples:
      australis demo
      australis demo --seed 7 --rate 20000/s
    """
    tuples_per_s = _rate(rate)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    with stoppable() as stop:
        try:
            is_right = _story(console, seed, tuples, tuples_per_s, stop)
        except KeyboardInterrupt:
            click.echo("australis: interrupted", err=True)
            ctx.exit(INTERRUPTED)
    ctx.exit(0 if is_right else FAILED)


def _rate(text: str) -> float:
    try:
        return parse_rate(text)
    except EngineError as error:
        raise click.UsageError(f"--{error}") from None


def _story(console: Console, seed: int, tuples: int, tuples_per_s: float, stop: Stop) -> bool:
    network = demo_network()
    console.print(network_tree(network))
    console.print()
    began = time.perf_counter()
    stream = connections(network.inputs["connections"].schema, tuples, seed)
    console.print(f"Made {stream.num_rows:,} connections in {time.perf_counter() - began:.1f} s.")
    show = importlib.import_module("australis.app.demo.show").show
    shown: Shown = show(console, network, stream, tuples_per_s, stop)
    found = _tell(console, shown)
    batches = [stream.slice(begin, BATCH) for begin in range(0, stream.num_rows, BATCH)]
    on_kernels = results_agree(network, batches, shown.outputs)
    by_meaning = engines_agree(network, _cut(stream, SAMPLE))
    checks = [
        _said(console, "The same query without Spark", on_kernels),
        _said(console, "The reference, tuple at a time,", by_meaning),
    ]
    return found and all(checks)


def _cut(stream: pa.Table, count: int) -> list[pa.Table]:
    """The part of the stream around the scan, in two batches."""
    middle = int(stream.num_rows * 0.42)
    return [stream.slice(middle, count // 2), stream.slice(middle + count // 2, count // 2)]


def _tell(console: Console, shown: Shown) -> bool:
    """Print what was found, and how late; whether it is what was hidden."""
    for name, table in shown.outputs.items():
        if name not in ("active", QUARANTINE):
            console.print(_listed(name, table))
    found = {name: {row[key] for row in shown.outputs[name].to_pylist()} for name, key in _KEYS.items()}
    is_right = found == {"scans": {SCANNER}, "beacons": {BEACON}, "clusters": {WORM_NET}}
    hidden = f"the scan by {SCANNER}, the beacon from {BEACON} to {HOME}, the worm in {WORM_NET}"
    verdict = "[green]Found[/green]" if is_right else "[red]Did not find just[/red]"
    console.print(f"{verdict} {hidden}{', and nothing else' if is_right else ''}.")
    console.print()
    console.print(shown.delays)
    console.print("Delay is counted from the arrival of the oldest connection that a tuple was made of.")
    console.print()
    return is_right


def _listed(name: str, table: pa.Table) -> Table:
    count = f"{table.num_rows:,} tuple{'s' if table.num_rows != 1 else ''}"
    shown = Table(title=f"output {name}: {count}", title_justify="left", box=box.SIMPLE_HEAD)
    names = [column for column in table.column_names if not column.startswith("#")]
    for column in names:
        shown.add_column(column)
    for row in table.slice(0, 6).select(names).to_pylist():
        shown.add_row(*(_text(row[column]) for column in names))
    return shown


def _text(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value).replace("+00:00", "Z")


def _said(console: Console, who: str, compared: Compared) -> bool:
    """Print how a comparison ended; whether everything was equal."""
    if compared.differences:
        console.print(f"{who} [red]differs[/red] in {', '.join(compared.differences)}.")
        return False
    console.print(f"{who} [green]agrees[/green] on all {compared.count:,} {compared.what}.")
    return True
