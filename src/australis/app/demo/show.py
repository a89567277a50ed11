"""The demonstration on a node: starts and warms Spark, then streams the connections with live progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from australis.algebra.network import QUARANTINE, Network
from australis.app.demo.replay import TableSource
from australis.app.running import Conductor, Stop, quietly
from australis.app.showing import ProgressSample, announce, draw_live
from australis.app.showing import statistics_tables as shown
from australis.engine import Node
from australis.engine.observe import Statistics
from australis.engine.sinks import OutputTaker
from australis.engine.sources import Delivery, Rate
from australis.engine.spark import is_running, local_session

_WARMING = 1_000
"""How many tuples are run first, so that the workers have everything loaded."""


@dataclass(frozen=True)
class Shown:
    """The results of the demonstration, and their delays."""

    outputs: dict[str, pa.Table]
    delays: Table


def stream_on_node(
    console: Console, network: Network, stream: pa.Table, tuples_per_s: float, stop: Stop
) -> Shown:
    """Stream a table through a network on a node, with live progress on a terminal."""
    with _spark(console), Node() as node:
        # Spark has installed its own handler for Ctrl-C.
        stop.listen()
        with announce(console, "Warming the workers"):
            _warm(network, stream.slice(0, _WARMING))
        node.deploy(network)
        if not console.is_terminal:
            console.print(
                f"Streaming them through {len(network.boxes)} boxes, {tuples_per_s:,.0f} a second ..."
            )
        return _Streaming(network, stream, Rate(tuples_per_s)).through(node, console)


@contextmanager
def _spark(console: Console) -> Iterator[None]:
    """Spark for the nodes inside, started here if necessary."""
    is_ours = not is_running()
    began = time.perf_counter()
    with announce(console, "Starting Spark"), quietly(None):
        session = local_session("australis-demo")
    console.print(f"Started Spark in {time.perf_counter() - began:.1f} s.")
    try:
        yield
    finally:
        if is_ours:
            session.stop()


def _warm(network: Network, rows: pa.Table) -> None:
    (name,) = network.inputs
    with Node() as node:
        node.deploy(network)
        node.push(name, rows)
        node.flush()
        node.drain()


@dataclass
class _Streaming:
    network: Network
    stream: pa.Table
    rate: Rate
    read: dict[str, int] = field(default_factory=dict)
    taken: dict[str, list[pa.Table]] = field(default_factory=dict)

    def through(self, node: Node, console: Console) -> Shown:
        (name,) = self.network.inputs
        self.read[name] = 0
        self.taken = {output: [] for output in (*self.network.outputs, QUARANTINE)}
        takers = [
            OutputTaker(output, f"demo:{output}", tables.append) for output, tables in self.taken.items()
        ]
        conductor = Conductor(
            node, [TableSource(name, self.stream, self.rate)], takers, flush=True, heard=self._count
        )
        began = time.perf_counter()
        with draw_live(
            console, lambda: ProgressSample(time.perf_counter() - began, self.read, node.statistics())
        ):
            conductor.run()
        self._print_speed(console, node.statistics(), time.perf_counter() - began)
        return Shown(self._outputs(), shown.outputs(node.statistics().outputs))

    def _count(self, delivery: Delivery) -> None:
        self.read[delivery.input] += delivery.content.num_rows

    def _print_speed(self, console: Console, statistics: Statistics, seconds: float) -> None:
        trains = sum(each.trains for each in statistics.superboxes.values())
        late = sum(each.late for each in statistics.boxes.values())
        what = f"{self.stream.num_rows:,} tuples through {len(self.network.boxes)} boxes in {seconds:.1f} s"
        how = f"in {trains} trains of {len(statistics.superboxes)} superboxes"
        console.print(f"Ran {what}, {how}; {late:,} came too late for some box.")
        console.print()

    def _outputs(self) -> dict[str, pa.Table]:
        return {name: self._joined(name, tables) for name, tables in self.taken.items()}

    def _joined(self, name: str, tables: list[pa.Table]) -> pa.Table:
        empty = self.network.output_schema(name).arrow.empty_table()
        return pa.concat_tables(
            [empty, *(table.select(empty.column_names).cast(empty.schema) for table in tables)]
        )
