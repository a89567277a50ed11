"""The demonstration: makes a stream, draws the network, runs it, prints what it found, checks it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from australis.algebra.network import QUARANTINE
from australis.app import demo
from australis.app.demo.agreement import Agreement, engines_agree, results_agree
from australis.app.demo.network import network as demo_network
from australis.app.demo.stream import BEACON, HOME, SCANNER, WORM_NET, connections
from australis.app.pictures import network_tree
from australis.app.running import Stop

BATCH = 10_000
SAMPLE = 10_000
_KEYS = {"scans": "src", "beacons": "src", "clusters": "net"}
"""The attribute that identifies an intruder."""


@dataclass(frozen=True)
class Story:
    """How a demonstration ended."""

    is_right: bool
    """Whether it found what was hidden, and all engines agree."""
    connections: int
    found: dict[str, list[str]]
    """The intruders that each output names."""
    differences: dict[str, list[str]]
    """Outputs that differ without Spark, and streams that differ in the reference."""


def tell_story(console: Console, seed: int, tuples: int, tuples_per_s: float, stop: Stop) -> Story:
    """Run the demonstration and print what happens."""
    network = demo_network()
    console.print(network_tree(network))
    console.print()
    began = time.perf_counter()
    stream = connections(network.inputs["connections"].schema, tuples, seed)
    console.print(f"Made {stream.num_rows:,} connections in {time.perf_counter() - began:.1f} s.")
    # Spark is loaded only here: there is something to read meanwhile.
    shown = demo.stream_on_node(console, network, stream, tuples_per_s, stop)
    is_found = _print_findings(console, shown)
    batches = [stream.slice(begin, BATCH) for begin in range(0, stream.num_rows, BATCH)]
    on_kernels = results_agree(network, batches, shown.outputs)
    by_meaning = engines_agree(network, _cut(stream, SAMPLE))
    checks = [
        _print_verdict(console, "The same query without Spark", on_kernels),
        _print_verdict(console, "The reference, tuple at a time,", by_meaning),
    ]
    differences = {
        "without_spark": list(on_kernels.differences),
        "reference": list(by_meaning.differences),
    }
    found = {name: sorted(each) for name, each in _found(shown).items()}
    return Story(is_found and all(checks), stream.num_rows, found, differences)


def _cut(stream: pa.Table, count: int) -> list[pa.Table]:
    """The part of the stream around the scan, in two batches."""
    middle = int(stream.num_rows * 0.42)
    return [stream.slice(middle, count // 2), stream.slice(middle + count // 2, count // 2)]


def _print_findings(console: Console, shown: demo.Shown) -> bool:
    """Print what was found, and how late; returns whether it is what was hidden."""
    for name, table in shown.outputs.items():
        if name not in ("active", QUARANTINE):
            console.print(_listed(name, table))
    is_right = _found(shown) == {"scans": {SCANNER}, "beacons": {BEACON}, "clusters": {WORM_NET}}
    hidden = f"the scan by {SCANNER}, the beacon from {BEACON} to {HOME}, the worm in {WORM_NET}"
    verdict = "[green]Found[/green]" if is_right else "[red]Did not find exactly[/red]"
    console.print(f"{verdict} {hidden}{', and nothing else' if is_right else ''}.")
    console.print()
    console.print(shown.delays)
    console.print("Delay counts from the arrival of the oldest connection that contributes to a tuple.")
    console.print()
    return is_right


def _found(shown: demo.Shown) -> dict[str, set[str]]:
    """The intruders that each output names."""
    return {name: {row[key] for row in shown.outputs[name].to_pylist()} for name, key in _KEYS.items()}


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


def _print_verdict(console: Console, who: str, compared: Agreement) -> bool:
    """Print the result of a comparison; returns whether everything was equal."""
    if compared.differences:
        console.print(f"{who} [red]differs[/red] in {', '.join(compared.differences)}.")
        return False
    console.print(f"{who} [green]agrees[/green] on all {compared.count:,} {compared.what}.")
    return True
