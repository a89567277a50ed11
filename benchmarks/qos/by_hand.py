"""Manual drop boxes: at a chosen rate, on a node that does not shed by itself."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis import Network, Node
from australis.policy.shed import DropBox, Insert


@dataclass(frozen=True)
class Outcome:
    """What an output received after a drop box, and the fraction of the input that was admitted."""

    output: pa.Table
    delivered: float
    box: DropBox | None


def run_shedding(
    network: Network, files: Sequence[Path], rate: float, scratch: Path, *, by_value: bool = False
) -> Outcome:
    """All files through a network of one input, one superbox and one output, with a drop box."""
    root = scratch / "by-hand"
    try:
        with Node(root, shed=False) as node:
            node.deploy(network)
            node.pause()
            for path in files:
                node.adopt(next(iter(network.inputs)), path)
            box = _place(node, rate, by_value) if rate else None
            node.resume()
            node.drain()
            arrived = sum(entry.arrived for entry in node.shed())
            shed = sum(entry.shed for entry in node.shed())
            return Outcome(
                node.read(next(iter(network.outputs))), 1 - shed / arrived if arrived else 1.0, box
            )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _place(node: Node, rate: float, by_value: bool) -> DropBox:
    """Place a drop box at the gate, chosen as the shedder would."""
    deployed = node._deployed
    steering = deployed.steering
    (stage,) = deployed.ledger.plan.superboxes
    found = steering.by_value(stage, rate) if by_value else DropBox.random(rate)
    if found is None:
        raise SystemExit(
            f"{deployed.ledger.plan.network.name}: the values do not show which tuples matter least"
        )
    steering.dropboxes.obey([Insert(stage, found)], int(time.time() * 1e6))
    return found
