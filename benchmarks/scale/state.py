"""Trains over a state of many groups against trains over one of few, on light nodes.

Each node counts the tuples of ever more keys in windows that stay open, and its state is as large as its keys
are many. A small train then touches few groups, a big one as many as it has tuples. Big trains make layers,
which are merged beside them: `state_big_x` is by the CPU time of all processes for a row of such trains and
all merges that they cause. The row is so long that the lowest layer is merged in it, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.engine.processes import cpu_seconds

from australis import NetworkBuilder, Node, Order
from australis.algebra.network import Network

FEW, MANY = 1_000, 10_000_000
FILLING = 1_000_000
SMALL, BIG = 1_000, 1_000_000
PASSES = 9
BIG_PASSES = 13
QUIET_S = 0.5
"""A node that has changed no file and used hardly any CPU for so long merges nothing."""


def network() -> Network:
    """Averages by key, in windows that no tuple closes."""
    net = NetworkBuilder("keys")
    stream = net.input("s", "k long not null, at timestamp not null, v double not null")
    stream.aggregate({"mean": "avg(v)"}, Order("at", 0, ("k",)), "1 day", as_="mean").output("means")
    return net.build()


def batch(keys: np.ndarray, at: int) -> pa.Table:
    times = pa.array(np.full(len(keys), at), pa.timestamp("us", tz="UTC"))
    return pa.table({"k": pa.array(keys), "at": times, "v": pa.array(np.full(len(keys), float(at)))})


class Filled:
    """A node with a number of open groups."""

    def __init__(self, root: Path, keys: int, runner: str = "light") -> None:
        self.root, self.keys, self.at = root, keys, 0
        self._random = np.random.default_rng(1)
        self.node = Node(root, runner=runner)
        self.node.deploy(network())

    def fill(self) -> None:
        """A group for each key."""
        for begin in range(0, self.keys, FILLING):
            self._run(np.arange(begin, min(begin + FILLING, self.keys)))

    def train(self, tuples: int) -> tuple[float, float, int]:
        """The clock and the CPU time of a train, and the bytes of the state that it writes."""
        before = self._states()
        clock, cpu = time.perf_counter(), cpu_seconds()
        self._run(self._random.integers(0, self.keys, tuples))
        spent = time.perf_counter() - clock, cpu_seconds() - cpu
        after = self._states()
        return *spent, sum(size for name, size in after.items() if name not in before)

    def big_train(self, passes: int = BIG_PASSES) -> float:
        """The average CPU time of a row of big trains, with the merges that they cause."""
        self.settle()
        began = cpu_seconds()
        for _ in range(passes):
            self.train(BIG)
        self.settle()
        return (cpu_seconds() - began) / passes

    def settle(self) -> None:
        """Wait until nothing is merged any more."""
        is_quiet = False
        while not is_quiet:
            files, cpu = self._states(), cpu_seconds()
            time.sleep(QUIET_S)
            is_quiet = files == self._states() and cpu_seconds() - cpu < QUIET_S / 10

    def bytes(self) -> int:
        """The bytes of the whole state."""
        return sum(self._states().values())

    def _run(self, keys: np.ndarray) -> None:
        self.at += 1
        self.node.push("s", batch(keys, self.at))
        self.node.drain()

    def _states(self) -> dict[str, int]:
        return dict(_sizes(self.root / "states"))


def _sizes(folder: Path) -> Iterator[tuple[str, int]]:
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # it was merged meanwhile
            yield path.name, path.stat().st_size


@contextmanager
def filled(keys: int) -> Iterator[Filled]:
    """A node with some keys in a folder of its own."""
    with TemporaryDirectory(prefix="australis-state-") as folder:
        found = Filled(Path(folder) / "root", keys)
        with found.node:
            found.fill()
            yield found


def measure(many: int = MANY) -> dict[str, float]:
    """Ratios of trains with many open groups to trains with few, taken in turn."""
    with filled(FEW) as small, filled(many) as large:
        large.settle()
        group_bytes = large.bytes() / large.keys
        for each in (small, large):
            each.train(SMALL)
        pairs = [(small.train(SMALL), large.train(SMALL)) for _ in range(PASSES)]
        big_few, big_many = small.big_train(), large.big_train()
        began = time.perf_counter()
        large.node.stop()
        with Node(large.root, runner="light") as again:
            again.deploy(network())
            again.push("s", batch(np.arange(SMALL), 1))
            again.drain()
            opened = time.perf_counter() - began
    return {
        "state_small_x": median(b[0] for _, b in pairs) / median(a[0] for a, _ in pairs),
        "state_small_ms": 1e3 * median(b[0] for _, b in pairs),
        "state_big_x": big_many / big_few,
        "state_big_cpu_s": big_many,
        "state_bytes_x": sum(b[2] for _, b in pairs) / len(pairs) / (group_bytes * SMALL),
        "open_s": opened,
    }
