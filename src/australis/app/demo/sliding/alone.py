"""One undisturbed node: what comes out, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.algebra.network import Network
from australis.app.demo.sliding.network import INPUT
from australis.engine import Node

_WARMING, _TIMED = 2, 10
"""How many batches are run before costs are taken, and of how many they are."""


@dataclass(frozen=True)
class Alone:
    """The outputs of one node, and the microseconds that its boxes take for a tuple of the input."""

    outputs: dict[str, pa.Table]
    tuple_us: float


def run_alone(network: Network, batches: Sequence[pa.Table], folder: Path) -> Alone:
    """Run all batches on one light node."""
    with Node(folder, runner="light[1]") as node:
        node.deploy(network)
        costs, before = list[float](), 0
        for number, batch in enumerate(batches):
            node.push(INPUT, batch)
            if number < _WARMING + _TIMED:
                # As small as the trains of a node that keeps pace.
                node.drain()
                taken = _taken_ns(node)
                costs.append((taken - before) / 1000 / batch.num_rows)
                before = taken
        node.drain()
        # Whatever else the machine has to do only makes it slower.
        tuple_us = min(costs[_WARMING:] or costs)
        return Alone({name: attributes(node.read(name)) for name in network.outputs}, tuple_us)


def attributes(table: pa.Table) -> pa.Table:
    """A table without arrival times and numbers, which differ from run to run."""
    return table.select([name for name in table.column_names if not name.startswith("#")]).combine_chunks()


def _taken_ns(node: Node) -> int:
    return sum(each.nanoseconds for each in node.statistics().boxes.values())
