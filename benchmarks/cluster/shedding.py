"""Shedding upstream: a node that is overloaded, and the outputs with their graphs at the next one.

The first node parses requests, which is expensive, and is offered twice what it can do. The second one has
the outputs: alarms, of which none may be lost, and visits, of which some may. Either only the last node
sheds, or the first one as well, by the graphs that the last one tells it. The utility is that of all tuples
that were pushed: by how late each is, or is at the least if it is still on its way at the end, and by how
many were shed anywhere. Runs with and without alternate, each pair after the capacity is measured.
"""

from __future__ import annotations

import multiprocessing as mp
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from benchmarks.cluster.scene import folder
from benchmarks.saying import say, steps

import australis
from australis.algebra.network import Network
from australis.algebra.quality import Quality
from australis.cluster import Cluster
from australis.engine import Node
from australis.qos.graphs import utilities, utility

PAIRS, SECONDS, LOAD = 3, 30, 2.0
HOW: dict[str, Any] = {"runner": "light[1]", "discipline": "branch", "train": 5_000, "in_flight": 1}
"""As a node with graphs of its own runs, in trains that are no longer than a decision may wait."""
PERIOD_S = 0.1
SEALS = 12
SCHEMA = "host long not null, status int not null, line string not null"
PARSED = "host long not null, status int not null, user string, seal string"
PARSE = {
    "host": "host",
    "status": "status",
    "user": "upper(lpad(split_part(split_part(line, 'user=', 2), '&', 1), 12, '0'))",
    "seal": " || ".join(f"left(sha2(line || '{number}', 256), 4)" for number in range(SEALS)),
}
"""Expensive, so that parsing is nearly all that there is to do."""
QUALITIES = {
    "alarms": Quality(delay=((0, 1), (2, 1), (6, 0)), weight=4),
    "visits": Quality(delay=((0, 1), (2, 1), (6, 0)), loss=((0, 0), (0.5, 0.7), (1, 1)), weight=2),
}
ALARMING = 0.02
"""The fraction of requests that fail."""
Times = npt.NDArray[np.float64]


def upstream() -> Network:
    """What parses: a branch for each stream, whose results go on."""
    net = australis.NetworkBuilder("parse")
    for name in QUALITIES:
        net.input(f"{name}_raw", SCHEMA).map(PARSE, as_=f"parse_{name}").output(name)
    return net.build()


def downstream() -> Network:
    """The outputs, each behind a filter."""
    net = australis.NetworkBuilder("show")
    for name, quality in QUALITIES.items():
        net.input(name, PARSED).filter("host >= 0", as_=f"all_{name}").output(f"{name}_seen", quality)
    return net.build()


def requests(rows: int) -> pa.Table:
    """Requests of a shop."""
    chance = np.random.default_rng(7)
    status = np.where(chance.random(rows) < ALARMING, 503, 200).astype(np.int32)
    hosts = chance.integers(100, size=rows)
    lines = [
        f"host-{host:03d} GET /shop/item/{number}?user=u{number % 977}&session=00ab{number:08x} {code} 1532"
        for number, (host, code) in enumerate(zip(hosts, status, strict=True))
    ]
    return pa.table({"host": hosts, "status": status, "line": lines})


class _Deaf:
    """A node that heeds no graphs of others."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def infer(self, output: str, quality: Quality | None) -> None:
        """Go on as before."""


def _serve(place: Path, rate: float, *, heeds: bool, pipe: Connection) -> None:
    """The first node: pushes at a rate when it is told to, and tells what it has pushed and shed."""
    with Node(place / "root-a", **HOW) as node:
        node.deploy(upstream())
        linked: Any = node if heeds else _Deaf(node)
        with Cluster(linked, place / "a", listen=("127.0.0.1", 0)) as cluster:
            pipe.send(cluster.listens)
            pipe.recv()
            pushed = _feed(node, requests(max(1, round(rate * PERIOD_S))))
            pipe.send({"pushed": pushed, "kept": _kept(node), "waits": _waits(node)})
            pipe.recv()


def _feed(node: Node, batch: pa.Table) -> int:
    """Push batches by the clock; returns how many tuples that were."""
    began = time.monotonic()
    count = round(SECONDS / PERIOD_S)
    for number in range(count):
        time.sleep(max(0.0, began + number * PERIOD_S - time.monotonic()))
        _push(node, batch)
    return count * batch.num_rows


def _push(node: Node, batch: pa.Table) -> None:
    """Push requests, those that have failed as alarms."""
    failed = pc.greater_equal(batch["status"], 500)
    node.push("alarms_raw", batch.filter(failed))
    node.push("visits_raw", batch.filter(pc.invert(failed)))


def _kept(node: Node) -> dict[str, float]:
    """The fraction of what came to the gates before each output that was not shed."""
    found: dict[str, float] = {}
    for superbox in node.statistics().superboxes.values():
        came = sum(each.arrived for each in superbox.gates.values())
        shed = sum(each.shed for each in superbox.gates.values())
        for output in superbox.outputs:
            found[output] = found.get(output, 1.0) * (1 - shed / came if came else 1.0)
    return found


def _waits(node: Node) -> dict[str, float]:
    """How long the oldest tuple on its way to each output has waited."""
    return {name: each.waiting_s or 0.0 for name, each in node.quality().outputs.items()}


def _capacity() -> float:
    """Tuples per second that the first node can do."""
    with folder() as place, Node(place / "root", **HOW) as node:
        node.deploy(upstream())
        batch = requests(10_000)
        _push(node, batch)
        node.drain()
        for _ in range(10):
            _push(node, batch)
        began = time.perf_counter()
        node.drain()
        return 10 * batch.num_rows / (time.perf_counter() - began)


class _Watch:
    """How late every tuple of an output was."""

    def __init__(self, node: Node, output: str) -> None:
        self._follower = node.follow(output, 0)
        self.delays: list[Times] = []
        self._thread = threading.Thread(target=self._follow)
        self._thread.start()

    def _follow(self) -> None:
        while (part := self._follower.next(1 << 20)) is not None:
            if part.table.num_rows:
                self.delays.append(time.time() - np.asarray(part.table["#ts"].cast(pa.int64())) / 1e6)

    def end(self) -> Times:
        """Every delay so far."""
        self._follower.close()
        self._thread.join()
        return np.concatenate([np.empty(0), *self.delays])


@contextmanager
def _first(place: Path, rate: float, *, heeds: bool) -> Iterator[tuple[tuple[str, int], Connection]]:
    here, there = mp.Pipe()
    options = {"heeds": heeds, "pipe": there}
    process = mp.get_context("spawn").Process(target=_serve, args=(place, rate), kwargs=options)
    process.start()
    try:
        yield here.recv(), here
        here.send("end")
        process.join(60)
    finally:
        process.kill()
        process.join()


def _run(rate: float, *, heeds: bool) -> tuple[float, dict[str, float]]:
    """The utility of a run, of 1 at most, and what it was made of."""
    with (
        folder() as place,
        _first(place, rate, heeds=heeds) as (address, pipe),
        Node(place / "root-b", **HOW) as node,
    ):
        node.deploy(downstream())
        watches = {name: _Watch(node, f"{name}_seen") for name in QUALITIES}
        with Cluster(node, place / "b") as cluster:
            cluster.connect("bench/a", address)
            for name in QUALITIES:
                cluster.link(name, f"bench/a/{name}")
            while any(link.state != "running" for link in cluster.status().links_in):
                time.sleep(0.01)
            pipe.send("go")
            told = pipe.recv()
            delays = {name: each.end() for name, each in watches.items()}
            here = _kept(node)
        return _judged(told, delays, here)


def _judged(
    told: dict[str, Any], delays: dict[str, Times], here: dict[str, float]
) -> tuple[float, dict[str, float]]:
    whole, found = 0.0, dict[str, float]()
    for name, quality in QUALITIES.items():
        due = told["pushed"] * (ALARMING if name == "alarms" else 1 - ALARMING)
        kept, came = told["kept"][name] * here[f"{name}_seen"], delays[name]
        # What is still on its way came last: evenly over the time that the oldest of it has waited.
        left = max(0, round(due * kept) - len(came))
        late = np.concatenate([came, np.linspace(told["waits"][name], 0, left)])
        by_delay = float(utilities(quality.delay, late).mean()) if len(late) else 0.0
        by_loss = utility(quality.loss, kept) if quality.loss else 1.0
        whole += quality.weight * by_delay * by_loss
        found |= {f"{name}_delay": by_delay, f"{name}_kept": kept, f"{name}_left": left / due}
    return whole / sum(each.weight for each in QUALITIES.values()), found


def measure(pairs: int = PAIRS) -> dict[str, float]:
    """The utility at 200 % of the capacity when the first node sheds as well, and only the last one."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in steps("a pair of runs", range(pairs)):
        rate = LOAD * _capacity()
        for heeds in (False, True):
            worth, parts = _run(rate, heeds=heeds)
            found[heeds].append(worth)
            shown = ", ".join(f"{name} {value:.2f}" for name, value in parts.items())
            say(f"{'upstream' if heeds else 'at the end'} at {rate:,.0f}/s: {worth:.3f} ({shown})")
    upstream_, last = statistics.median(found[True]), statistics.median(found[False])
    return {"shed_upstream": upstream_, "shed_last": last, "shed_upstream_x": upstream_ / max(last, 0.01)}
