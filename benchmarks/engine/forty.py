"""The paper's 40-box network under each discipline: the cost of scheduling, and the output (Aurora 4.3).

The paper: about 40 boxes, a depth of about four, 50,000 position reports of units, several consumers; about
3,200 boxes and 830 output tuples a second with superboxes and trains; and time in the scheduler cut by a
factor of 0.48 from box-at-a-time to trains, and by a further 0.43 with superboxes. The network itself is not
in the paper; this is one of that shape.

Measured: all reports are queued, then the node is started; from then until the last commit. A box call is one
box over the tuples of one train. Overhead is the time in which no box computes: choosing, Spark's jobs, files
between boxes, commits.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis import Network, NetworkBuilder, Node, Order

REPORTS = 50_000
CONSUMERS = 9
QUANTUM = 1_000
"""The tuples of a box-at-a-time train, and of the short trains of superboxes."""


def network() -> Network:
    """Four shared boxes, and nine consumers with four boxes each."""
    net = NetworkBuilder("positions")
    reports = net.input("reports", "unit int, kind int, at long, x double, y double, speed double")
    valid = reports.filter("x BETWEEN 0 AND 100 AND y BETWEEN 0 AND 100", as_="valid")
    placed = valid.map(
        {"unit": "unit", "kind": "kind", "at": "at", "x": "x", "y": "y", "speed": "speed * 3.6"}, as_="placed"
    )
    near = placed.filter("x < 50", as_="near")
    steady = near.bsort(Order("at", slack=4, group_by=("unit",)), as_="steady")
    for index in range(CONSUMERS):
        source = (placed, near, steady)[index % 3]
        _consumer(source, index)
    return net.build()


def _consumer(source: Any, index: int) -> None:
    chosen = source.filter(f"kind = {index % 5} OR y < {10 * (index + 1)}", as_=f"chosen_{index}")
    scaled = chosen.map(
        {"unit": "unit", "at": "at", "speed": "speed", "far": "sqrt(x * x + y * y)"}, as_=f"scaled_{index}"
    )
    order = Order("at", slack=4, group_by=("unit",))
    averaged = scaled.aggregate(
        {"mean": "avg(speed)", "far": "max(far)", "n": "count(*)"},
        order,
        size=20 + index,
        as_=f"averaged_{index}",
    )
    averaged.filter(f"mean > {20 + index} AND n > 1", as_=f"alert_{index}").output(f"consumer_{index}")


def position_reports(seed: int = 7) -> pa.Table:
    """Reports of 200 units, nearly in order."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.integers(0, REPORTS // 20, REPORTS)) + rng.integers(0, 2, REPORTS)
    columns = {
        "unit": rng.integers(0, 200, REPORTS).astype(np.int32),
        "kind": rng.integers(0, 5, REPORTS).astype(np.int32),
        "at": at,
        "x": rng.uniform(-5, 105, REPORTS),
        "y": rng.uniform(-5, 105, REPORTS),
        "speed": rng.gamma(2.0, 5.0, REPORTS),
    }
    return pa.table(columns)


@dataclass(frozen=True)
class Measured:
    """A run of the network under a discipline."""

    discipline: str
    train: int
    seconds: float
    trains: int
    box_calls: int
    compute_s: float
    outputs: int

    @property
    def overhead_s(self) -> float:
        return self.seconds - self.compute_s

    def as_dict(self) -> dict[str, Any]:
        rates = {
            "boxes_per_s": round(self.box_calls / self.seconds, 1),
            "outputs_per_s": round(self.outputs / self.seconds, 1),
            "overhead_s": round(self.overhead_s, 3),
        }
        return {
            **asdict(self),
            "seconds": round(self.seconds, 3),
            "compute_s": round(self.compute_s, 3),
            **rates,
        }


def run(discipline: str, train: int, reports: pa.Table) -> Measured:
    """Run the reports under a discipline, after one train to warm up."""
    with Node(discipline=discipline, train=train, in_flight=1) as node:
        node.deploy(network())
        node.push("reports", reports.slice(0, 500))
        node.drain()
        node.pause()
        before = node.statistics()
        node.push("reports", reports.slice(500))
        began = time.perf_counter()
        node.resume()
        node.drain()
        seconds = time.perf_counter() - began
        after = node.statistics()
    calls = sum(after.boxes[box].trains - before.boxes[box].trains for box in after.boxes)
    spent = sum(after.boxes[box].nanoseconds - before.boxes[box].nanoseconds for box in after.boxes)
    trains = sum(after.superboxes[name].trains - before.superboxes[name].trains for name in after.superboxes)
    outputs = sum(after.outputs[name].tuples - before.outputs[name].tuples for name in after.outputs)
    return Measured(discipline, train, seconds, trains, calls, spent / 1e9, outputs)


def measure() -> dict[str, Any]:
    """All disciplines, side by side; their outputs must be the same."""
    reports = position_reports()
    runs = {
        "box": run("box", QUANTUM, reports),
        "train": run("train", 1_000_000, reports),
        "superbox": run("superbox", 1_000_000, reports),
        "superbox_short": run("superbox", QUANTUM, reports),
    }
    for name, each in runs.items():
        print(name, json.dumps(each.as_dict()), file=sys.stderr, flush=True)
    if len({each.outputs for each in runs.values()}) != 1:
        raise AssertionError(f"disciplines differ: {[each.outputs for each in runs.values()]}")
    return {
        "boxes_per_s": runs["superbox_short"].as_dict()["boxes_per_s"],
        "train_factor": round(runs["train"].overhead_s / runs["box"].overhead_s, 3),
        "superbox_factor": round(runs["superbox"].overhead_s / runs["train"].overhead_s, 3),
        "disciplines": {name: each.as_dict() for name, each in runs.items()},
    }


if __name__ == "__main__":
    print(json.dumps(measure()))
