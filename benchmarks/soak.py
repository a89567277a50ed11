"""Whether a node's speed and memory stay constant: thousands of small trains, `python -m benchmarks.soak`.

Each train is a push of some tuples through a keyed aggregate and ends with its commit; a consumer reads the
output, so that the root stays small. After a warm-up, the last fifth of the trains must take no longer than
the first, and driver, JVM and Python workers must need no more memory. `--plot FILE.svg` draws both. The last
line is JSON; the exit code is 1 if something grew.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.saying import run

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

GROUPS = 1_000
MEGABYTE = 1 << 20
WARM_UP = 0.1
"""The share of the trains that is left out, while code is compiled and caches are filled."""


@dataclass(frozen=True)
class Bound:
    """How much more the last fifth may show than the first."""

    factor: float
    more: float

    def holds(self, first: float, last: float) -> bool:
        return last <= first * self.factor + self.more


BOUNDS = {
    # The quick trains show what a train takes; the others wait for whatever else the machine does.
    "quick_train_ms": Bound(1.25, 5.0),
    "driver_mb": Bound(1.05, 15.0),
    "workers_mb": Bound(1.05, 30.0),
    # A JVM uses what it may before it collects; what is alive after a collection must not grow.
    "jvm_mb": Bound(1.25, 100.0),
    "jvm_live_mb": Bound(1.10, 10.0),
    "files": Bound(1.0, 20.0),
    "catalog_kb": Bound(1.25, 500.0),
}


@dataclass(frozen=True)
class Sample:
    """The state of a node after some trains."""

    train: int
    train_ms: float
    """The median of the trains since the last sample."""
    quick_train_ms: float
    """A tenth of them took less."""
    driver_mb: float
    jvm_mb: float
    workers_mb: float
    jvm_live_mb: float
    java_objects: int
    """Those that the driver keeps."""
    files: int
    catalog_kb: float


@dataclass
class Soak:
    """A node, and its samples."""

    node: Node
    root: Path
    tuples: int
    samples: list[Sample] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)
    given_out: int = 0

    def run(self, trains: int, every: int) -> None:
        """Run the trains, and sample the node now and then."""
        self.node.consumer("soak", "averages")
        for number, batch in enumerate(_batches(trains, self.tuples), start=1):
            began = time.perf_counter()
            self.node.push("trades", batch, now=number)
            self.node.drain()
            self.times_ms.append((time.perf_counter() - began) * 1000)
            self._take()
            if number % every == 0:
                self.samples.append(self._sample(number, every))
                _say(self.samples[-1])

    def _take(self) -> None:
        for table in self.node.subscribe("averages", consumer="soak", follow=False):
            self.given_out += table.num_rows

    def _sample(self, number: int, every: int) -> Sample:
        gc.collect()
        gateway: Any = self.node.spark.sparkContext._gateway
        java = gateway.jvm.java.lang
        java.System.gc()
        runtime = java.Runtime.getRuntime()
        objects = gateway.java_gateway_server.getGateway().getBindings().size()
        jvm = gateway.proc.pid
        files = [path for path in self.root.rglob("*") if path.is_file()]
        return Sample(
            number,
            median(self.times_ms[-every:]),
            float(np.percentile(self.times_ms[-every:], 10)),
            resident_mb("self"),
            resident_mb(jvm),
            sum(resident_mb(pid) for pid in below(jvm)),
            (runtime.totalMemory() - runtime.freeMemory()) / MEGABYTE,
            objects,
            len(files),
            sum(path.stat().st_size for path in files if path.name.startswith("catalog")) / 1024,
        )


def network() -> Network:
    net = NetworkBuilder("soak")
    trades = net.input("trades", "sid int, time long, price double")
    order = Order("time", slack=2, group_by=("sid",))
    trades.aggregate({"n": "count(*)", "mean": "avg(price)"}, order, size=10).output("averages")
    return net.build()


def _batches(trains: int, tuples: int) -> Iterator[pa.Table]:
    chance = np.random.default_rng(5)
    for number in range(trains):
        keys = chance.integers(0, GROUPS, tuples, dtype=np.int32)
        prices = chance.normal(100, 5, tuples)
        yield pa.table({"sid": keys, "time": np.full(tuples, number), "price": prices})


# --- processes


def resident_mb(pid: int | str) -> float:
    """The memory of a process: its own, and its share of shared memory; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def below(pid: int) -> list[int]:
    """The descendants of a process."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(child) for each in children for child in each.read_text().split()]
    return found + [lower for child in found for lower in below(child)]


# --- printing


def fifths(samples: Sequence[Sample], name: str) -> tuple[float, float]:
    """The medians of a figure in the first and the last fifth, without the warm-up."""
    kept = samples[int(len(samples) * WARM_UP) :]
    size = max(1, len(kept) // 5)
    values = [getattr(each, name) for each in kept]
    return median(values[:size]), median(values[-size:])


def verdict(samples: Sequence[Sample], times_ms: Sequence[float]) -> dict[str, object]:
    """All figures, and what grew."""
    told: dict[str, object] = {"trains": len(times_ms)}
    told["median_ms"] = round(median(times_ms), 1)
    told["p95_ms"] = round(float(np.percentile(times_ms, 95)), 1)
    grew = []
    for name in (*BOUNDS, "train_ms", "java_objects"):
        first, last = fifths(samples, name)
        told[name] = [round(first, 1), round(last, 1)]
        if name in BOUNDS and not BOUNDS[name].holds(first, last):
            grew.append(name)
    return {**told, "grew": grew}


COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#6d597a")
WIDTH, HEIGHT, LEFT, PANEL = 760, 560, 60, 200


def plot(samples: Sequence[Sample]) -> str:
    """Train time above, memory below, over the trains."""
    memory = {"driver": "driver_mb", "JVM": "jvm_mb", "JVM, alive": "jvm_live_mb", "workers": "workers_mb"}
    parts = [
        *_panel(
            samples,
            40,
            "ms per train, push to commit",
            {"median": "train_ms", "quickest tenth": "quick_train_ms"},
        ),
        *_panel(samples, 320, "memory in MB", memory),
        _text(WIDTH / 2, HEIGHT - 8, "trains", "middle"),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *parts, "</svg>\n"])


def _panel(samples: Sequence[Sample], top: float, title: str, lines: dict[str, str]) -> Iterator[str]:
    most = max(getattr(each, name) for each in samples for name in lines.values()) * 1.1
    right, bottom = WIDTH - 20, top + PANEL

    def x(sample: Sample) -> float:
        return LEFT + (right - LEFT) * (sample.train / samples[-1].train)

    def y(value: float) -> float:
        return bottom - PANEL * (value / float(most))

    yield _text(LEFT, top - 12, title, "start")
    yield from _grid(most, y, right)
    for step in range(5):
        sample = samples[(len(samples) - 1) * step // 4]
        yield _text(x(sample), bottom + 16, f"{sample.train:,}", "middle")
    for index, (label, name) in enumerate(lines.items()):
        points = " ".join(f"{x(each):.1f},{y(getattr(each, name)):.1f}" for each in samples)
        yield f'<polyline points="{points}" fill="none" stroke="{COLOURS[index]}" stroke-width="1.5"/>'
        yield _text(right - 100 * index, top - 12, label, "end", COLOURS[index])


def _grid(most: float, y: Callable[[float], float], right: float) -> Iterator[str]:
    for step in range(5):
        value = most * step / 4
        yield f'<path d="M{LEFT} {y(value):.1f}H{right}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y(value) + 4, f"{value:.0f}", "end")


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} font-size="12" text-anchor="{anchor}" fill="{colour}">{text}</text>'


def _say(sample: Sample) -> None:
    told = asdict(sample).items()
    print(", ".join(f"{name} {value:,.1f}".replace(".0", "") for name, value in told), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trains", type=int, default=5_000)
    parser.add_argument("--tuples", type=int, default=100, help="in a train")
    parser.add_argument("--every", type=int, default=0, help="trains between samples; default: 100 samples")
    parser.add_argument("--plot", type=Path, help="an SVG file to write")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="australis-soak-") as folder,
        Node(Path(folder) / "root", clock=lambda: 0) as node,
    ):
        node.deploy(network())
        soak = Soak(node, Path(folder), given.tuples)
        soak.run(given.trains, given.every or max(1, given.trains // 100))
    if given.plot:
        given.plot.write_text(plot(soak.samples))
    told = verdict(soak.samples, soak.times_ms)
    print(json.dumps({**told, "given_out": soak.given_out}))
    return 1 if told["grew"] else 0


if __name__ == "__main__":
    run(main)
