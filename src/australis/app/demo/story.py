"""`australis demo`: make a stream, draw the network, run it, say what it found, check it."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator

import click
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from australis.algebra.network import QUARANTINE, Network
from australis.app.cli import FAILED
from australis.app.demo.agreement import Compared, engines_agree, evaluators_agree
from australis.app.demo.network import network as demo_network
from australis.app.demo.stream import BEACON, HOME, SCANNER, WORM_NET, connections
from australis.app.engines import Engine, start
from australis.app.pictures.tree import network_tree

COUNT = 300_000
BATCH = 10_000
SAMPLE, SPARK_SAMPLE = 10_000, 30_000
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
@click.option("--spark/--no-spark", default=True, show_default=True, help="Compare with Spark at the end.")
@click.pass_context
def command(ctx: click.Context, seed: int, tuples: int, spark: bool) -> None:
    """Watch a network find intruders in a stream of connections.

    Makes up an hour of network connections that arrive a little out of order, hides a port scan, a worm and a
    beacon in it, and runs the intrusion detection query of the Medusa paper over it. Then it checks a sample
    against the reference and evaluates the network's expressions on an embedded Spark.

    \b
    Examples:
      australis demo
      australis demo --seed 7 --no-spark
    """
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    network = demo_network()
    console.print(network_tree(network))
    console.print()
    began = time.perf_counter()
    stream = connections(network.inputs["connections"].schema, tuples, seed)
    console.print(f"Made {stream.num_rows:,} connections in {time.perf_counter() - began:.1f} s.")
    outputs = _run(console, network, stream)
    found = _tell(console, outputs)
    checks = [_said(console, "The reference, tuple at a time,", engines_agree(network, _cut(stream, SAMPLE)))]
    if spark:
        checks.append(_spark_agrees(console, network, stream))
    ctx.exit(0 if found and all(checks) else FAILED)


def _spark_agrees(console: Console, network: Network, stream: pa.Table) -> bool:
    console.print("Starting Spark, to evaluate the same expressions there ...")
    session = importlib.import_module("australis.engine.session").local_session("australis-demo")
    try:
        return _said(console, "Spark", evaluators_agree(network, _cut(stream, SPARK_SAMPLE), session))
    finally:
        session.stop()


def _cut(stream: pa.Table, count: int) -> list[pa.Table]:
    """The part of the stream around the scan, in two batches."""
    middle = int(stream.num_rows * 0.42)
    return [stream.slice(middle, count // 2), stream.slice(middle + count // 2, count // 2)]


def _run(console: Console, network: Network, stream: pa.Table) -> dict[str, pa.Table]:
    """Run the stream on the kernels, with a bar on a terminal; give the outputs."""
    began = time.perf_counter()
    start("kernels", network).push("connections", stream.slice(0, 100), 0)
    console.print(f"Made the kernels ready in {time.perf_counter() - began:.1f} s.")
    engine = start("kernels", network)
    began = time.perf_counter()
    events = list(_events(console, engine, stream))
    seconds = time.perf_counter() - began
    late = sum(counted.late for counted in engine.counters().values())
    rate = stream.num_rows / seconds
    console.print(
        f"Ran {stream.num_rows:,} tuples through {len(network.boxes)} boxes in {seconds:.2f} s: "
        f"[bold]{rate:,.0f} tuples/s[/bold]; {late:,} came too late for some box."
    )
    console.print()
    return {name: pa.concat_tables([event[name] for event in events]) for name in events[0]}


def _events(console: Console, engine: Engine, stream: pa.Table) -> Iterator[dict[str, pa.Table]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} tuples"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Running", total=stream.num_rows)
        for begin in range(0, stream.num_rows, BATCH):
            batch = stream.slice(begin, BATCH)
            yield engine.push("connections", batch, begin)
            progress.advance(task, batch.num_rows)
        yield engine.flush(stream.num_rows)


def _tell(console: Console, outputs: dict[str, pa.Table]) -> bool:
    """Print what was found; whether it is what was hidden."""
    for name, table in outputs.items():
        if name not in ("active", QUARANTINE):
            console.print(_listed(name, table))
    found = {name: {row[key] for row in outputs[name].to_pylist()} for name, key in _KEYS.items()}
    is_right = found == {"scans": {SCANNER}, "beacons": {BEACON}, "clusters": {WORM_NET}}
    hidden = f"the scan by {SCANNER}, the beacon from {BEACON} to {HOME}, the worm in {WORM_NET}"
    verdict = "[green]Found[/green]" if is_right else "[red]Did not find just[/red]"
    console.print(f"{verdict} {hidden}{', and nothing else' if is_right else ''}.")
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
