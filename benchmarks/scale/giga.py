"""A thousand million tuples through a keyed average on one light node: time per tuple, and memory.

Tuples are pushed a million at a time, ten times, then drained. The first ten million warm the node up. The
time is CPU time of all processes: that of the clock depends on what else runs on the machine.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from statistics import mean, median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.engine.processes import cpu_seconds
from benchmarks.saying import say
from benchmarks.soak import below, resident_mb

from australis import Network, NetworkBuilder, Node, Order

TUPLES = 1_000_000_000
"""How many there are after those that warm up."""
PUSH, LOT = 1_000_000, 10
"""The tuples of a push, and the pushes of a lot."""
KEYS, STEP_US = 1_000, 1_000


@dataclass(frozen=True)
class Lot:
    """What ten million tuples took, and the memory after them."""

    cpu_us: float
    clock_us: float
    driver_mb: float
    workers_mb: float


def measure(tuples: int = TUPLES) -> dict[str, float]:
    """The time per tuple of all and of the first lots, and the memory in the last and the second tenth."""
    with TemporaryDirectory(prefix="bench-scale-") as folder, Node(folder, runner="light") as node:
        node.deploy(network())
        node.discard("means")
        pushed = Pushed(node)
        pushed.lot()
        lots = [_told(pushed.lot(), number) for number in range(tuples // (PUSH * LOT))]
        node.stop(now=True)
    first, tenth = lots[:3], max(1, len(lots) // 10)
    early, late = lots[tenth : 2 * tenth] or lots, lots[-tenth:]
    return {
        "giga_tuples": tuples,
        "giga_spread": mean(lot.cpu_us for lot in lots) / median(lot.cpu_us for lot in first),
        "giga_cpu_us": mean(lot.cpu_us for lot in lots),
        "giga_clock_us": mean(lot.clock_us for lot in lots),
        "giga_driver_mb": median(lot.driver_mb for lot in late),
        "giga_driver_x": median(lot.driver_mb for lot in late) / median(lot.driver_mb for lot in early),
        "giga_workers_mb": median(lot.workers_mb for lot in late),
        "giga_workers_x": median(lot.workers_mb for lot in late) / median(lot.workers_mb for lot in early),
    }


def network() -> Network:
    """The average of each key over 10 seconds."""
    net = NetworkBuilder("average")
    events = net.input("events", "at timestamp not null, key long not null, value double not null")
    order = Order("at", group_by=("key",))
    events.aggregate({"mean": "avg(value)", "n": "count(*)"}, order, size="10 seconds").output("means")
    return net.build()


class Pushed:
    """Pushes ever later tuples to a node."""

    def __init__(self, node: Node) -> None:
        self._node, self._pushes = node, 0
        random = np.random.default_rng(1)
        self._keys = pa.array(random.integers(0, KEYS, PUSH))
        self._values = pa.array(random.random(PUSH))

    def lot(self) -> Lot:
        """Push ten million tuples, and wait until they are through."""
        clock, cpu = time.perf_counter(), cpu_seconds()
        for _ in range(LOT):
            self._node.push("events", self._batch())
        self._node.drain()
        tuples = PUSH * LOT
        spent = cpu_seconds() - cpu, time.perf_counter() - clock
        workers = sum(resident_mb(pid) for pid in below(os.getpid()))
        return Lot(*(1e6 * each / tuples for each in spent), resident_mb(os.getpid()), workers)

    def _batch(self) -> pa.Table:
        at = np.arange(self._pushes * PUSH, (self._pushes + 1) * PUSH) * STEP_US
        self._pushes += 1
        times = pa.array(at).cast(pa.timestamp("us", "UTC"))
        return pa.table({"at": times, "key": self._keys, "value": self._values})


def _told(lot: Lot, number: int) -> Lot:
    if number % 10 == 9:
        say(f"{(number + 1) * LOT} million tuples: {lot}")
    return lot
