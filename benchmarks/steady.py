"""Steady shedding: the fraction that each output gets of a constant overload, ten seconds by ten seconds.

A stream arrives at one and a half times what the node can do with it, for five minutes. Outputs with equal,
with concave and without loss graphs follow one shared box. After the first 20 seconds the fraction delivered
of an output should stay within 5 % of its mean; delays, drop boxes and the time of the cores are told beside.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks import held
from benchmarks.saying import run, say
from benchmarks.soak import below

from australis import Network, NetworkBuilder, Node, Order, Quality, Stream

PERIOD_S = 0.1
WINDOW_S = 10
SETTLING_S = 20
REST_S = 5
BACKLOG, BACKLOGS = 300_000, 3
LINES = 20_000
DELAY = ((0, 1), (2, 1), (6, 0))
LINE = ((0, 0), (1, 1))
BENT = ((0, 0), (0.5, 0.8), (1, 1))
STATUS = "CAST(split_part(line, ' ', 4) AS int)"
PAGE = "split_part(split_part(line, ' ', 3), '?', 1)"
USER = "split_part(split_part(line, 'user=', 2), '&', 1)"


COSTS_US = {"status": 10, "user": 30, "page": 25, "size": 35}
"""What a tuple takes in each branch, where the clock counts."""


def network(by_clock: bool = False) -> Network:
    """One shared filter, and a branch for each output; boxes of known cost if the clock counts."""
    net = NetworkBuilder("steady")
    shop = net.input("lines", "host long not null, at long not null, line string not null")
    shop = shop.filter("contains(line, '/shop/')", as_="shop")

    def branch(name: str, attributes: dict[str, str]) -> Stream:
        taken = (
            shop.filter(f"`{held.NAME}`({COSTS_US[name]}L, host)", as_=f"{name}_cost") if by_clock else shop
        )
        return taken.map(attributes, as_=name)

    failed = branch("status", {"host": "host", "status": STATUS}).filter("status >= 500", as_="failed")
    failed.output("alarms", Quality(delay=DELAY, weight=4))
    users = branch("user", {"host": "host", "user": f"lpad({USER}, 12, '0')"})
    users.output("users", Quality(delay=DELAY, loss=LINE))
    pages = branch("page", {"host": "host", "page": f"upper({PAGE})"})
    pages.output("pages", Quality(delay=DELAY, loss=LINE))
    sizes = branch("size", {"host": "host", "at": "at", "size": "CAST(split_part(line, ' ', 5) AS double)"})
    by_host = Order("at", group_by=("host",))
    means = sizes.aggregate({"mean": "avg(size)", "n": "count(*)"}, by_host, size=1, align=True, as_="mean")
    means.output("means", Quality(delay=DELAY, loss=BENT, weight=1.5))
    return net.build()


OUTPUTS = tuple(network().outputs)


class Lines:
    """The lines of a shop, drawn once; batches are runs of them with the second of their arrival."""

    def __init__(self) -> None:
        chance = np.random.default_rng(5)
        status = chance.choice([200, 302, 404, 500], LINES, p=[0.8, 0.1, 0.07, 0.03])
        items, users, sizes = (chance.integers(10, most, LINES) for most in (100_000, 10_000, 90_000))
        self._hosts = np.arange(LINES) % 100
        self._lines = pa.array(
            f"host-{host:03d} GET /shop/item/{item}?user=u{user}&session={item:010x} {code} {size}"
            for host, item, user, code, size in zip(self._hosts, items, users, status, sizes, strict=True)
        )

    def batch(self, number: int, tuples: int, at: int) -> pa.Table:
        places = (number * tuples + np.arange(tuples)) % LINES
        columns = {"host": pa.array(self._hosts[places]), "at": pa.array(np.full(tuples, at))}
        return pa.table({**columns, "line": self._lines.take(pa.array(places))})


@dataclass
class Told:
    """What was seen of a run, window by window."""

    fractions: dict[str, list[float]] = field(default_factory=dict)
    delays: dict[str, list[float | None]] = field(default_factory=dict)
    utilities: list[float] = field(default_factory=list)

    def note(self, node: Node) -> None:
        found = node.quality(window_s=WINDOW_S)
        for name, each in found.outputs.items():
            if name in OUTPUTS:
                self.fractions.setdefault(name, []).append(each.fraction)
                self.delays.setdefault(name, []).append(each.delay_ms_p95)
        self.utilities.append(found.utility)
        rounded = {name: round(each[-1], 3) for name, each in self.fractions.items()}
        say(f"  {len(self.utilities) * WINDOW_S:4} s: {rounded}, utility {found.utility:.2f}")

    def summary(self, output: str) -> dict[str, float]:
        """The mean fraction, and by how much of it a window differs at most."""
        kept = self.fractions[output][SETTLING_S // WINDOW_S :]
        mean = fmean(kept)
        late = [each for each in self.delays[output][SETTLING_S // WINDOW_S :] if each is not None]
        return {
            "delivered": round(mean, 4),
            "varies": round(max(abs(each - mean) for each in kept) / mean, 4) if mean else 0.0,
            "range": round((max(kept) - min(kept)) / mean, 4) if mean else 0.0,
            "p95_ms": round(max(late, default=0.0)),
        }


def capacity(node: Node, lines: Lines, backlog: int) -> float:
    """Tuples per second of a backlog, the best of some."""
    found = []
    for attempt in range(BACKLOGS + 1):
        node.pause()
        for part in range(10):
            node.push("lines", lines.batch(part, backlog // 10, attempt))
        began = time.perf_counter()
        node.resume()
        node.drain()
        found.append(backlog / (time.perf_counter() - began))
    return max(found[1:])


def measure(given: argparse.Namespace) -> dict[str, Any]:
    lines, rate, load, seconds = Lines(), given.rate, given.load, given.seconds
    runner, headroom, net = given.runner, given.headroom, network(given.by_clock)
    with folder() as root:
        if rate is None:
            with Node(root / "capacity", runner=runner, shed=False, discipline="branch") as node:
                node.deploy(net)
                rate = load * headroom * capacity(node, lines, BACKLOG // 10 if given.by_clock else BACKLOG)
        say(f"{rate:,.0f} tuples a second, {load:.0%} of what the node can do")
        with Node(root / "root", runner=runner, headroom=headroom) as node:
            node.deploy(net)
            warm_up(node, lines)
            before = cpu_s()
            told, late = overload(node, lines, rate, seconds)
            spent, shed = cpu_s() - before, node.shed()
            node.stop(now=True)
    return {
        "by_clock": given.by_clock,
        "rate": round(rate),
        "load": load,
        "seconds": seconds,
        "outputs": {output: told.summary(output) for output in OUTPUTS},
        "utility": round(fmean(told.utilities[SETTLING_S // WINDOW_S :]), 3),
        "drop_boxes": len(shed),
        "feed_late_s": round(late, 2),
        "cpu_us_per_tuple": round(spent * 1e6 / (rate * seconds), 3),
        "cores_used": round(spent / seconds, 2),
        "machine_load": round(os.getloadavg()[1], 1),
    }


def warm_up(node: Node, lines: Lines) -> None:
    """Trains of several lengths, so that kernels are loaded and costs are known."""
    for number, tuples in enumerate((1_000, 1_000, 5_000, 20_000, 80_000, 10_000, 40_000)):
        node.push("lines", lines.batch(number, tuples, number))
        node.drain()
    # So that the rates of the warm-up are not taken for those of the load.
    time.sleep(REST_S)


def overload(node: Node, lines: Lines, rate: float, seconds: int) -> tuple[Told, float]:
    """Push batches at a constant pace, and note what outputs got in each window."""
    told, latest, ended = Told(), 0.0, threading.Event()
    tuples = max(1, round(rate * PERIOD_S))
    began = time.monotonic()

    def watch() -> None:
        for window in range(1, seconds // WINDOW_S + 1):
            if ended.wait(max(0.0, began + window * WINDOW_S - time.monotonic())):
                return
            told.note(node)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(round(seconds / PERIOD_S)):
            due = began + number * PERIOD_S
            time.sleep(max(0.0, due - time.monotonic()))
            node.push("lines", lines.batch(number, tuples, 100 + int(number * PERIOD_S)))
            latest = max(latest, time.monotonic() - due)
        watcher.join()
    finally:
        ended.set()
        watcher.join()
    return told, latest


def cpu_s() -> float:
    """The time of the cores that this process and those below it have used."""
    ticks = os.sysconf("SC_CLK_TCK")
    own = resource.getrusage(resource.RUSAGE_SELF)
    spent = own.ru_utime + own.ru_stime
    for pid in below(os.getpid()):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent += (int(fields[11]) + int(fields[12])) / ticks
    return spent


@contextmanager
def folder() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="australis-steady-"))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", default="light")
    parser.add_argument("--load", type=float, default=1.5, help="as a part of what the node can do")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--rate", type=float, help="tuples a second, instead of what the load says")
    parser.add_argument("--headroom", type=float, default=1.0)
    parser.add_argument(
        "--by-clock",
        action="store_true",
        help="boxes take a fixed time: other work on the machine hardly counts",
    )
    given = parser.parse_args()
    print(json.dumps(measure(given)))


if __name__ == "__main__":
    run(main)
