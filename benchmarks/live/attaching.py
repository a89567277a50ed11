"""Attaching to a running stream: equal to a query from the start, with nothing lost or duplicated."""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from benchmarks.live.scene import PLACES, SCHEMA, Feed, node_with_history, query
from rich.table import Table

from australis import Network, NetworkBuilder, Node

PER_SECOND = 20_000
WARM_S = 10
"""How long the stream flows before anything is measured."""
CARS_ASKED = range(4711, 4716)


@dataclass
class Attaching:
    """The results."""

    history: int
    equal: dict[str, bool] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    caught_up_s: dict[str, float] = field(default_factory=dict)
    rounds: int = 0
    lost: int = 0
    duplicated: int = 0
    attach_ms: list[float] = field(default_factory=list)
    detach_ms: list[float] = field(default_factory=list)
    lookups_s: list[float] = field(default_factory=list)
    scan_s: float = 0.0
    delays_ms: dict[str, float] = field(default_factory=dict)
    """The delay of the running queries, at the 95th percentile: before, and while others come and go."""


def measure(tuples: int, rounds: int, seed: int = 1) -> Attaching:
    """Measure everything on one node."""
    found, chance = Attaching(tuples), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="bench-live-") as root, node_with_history(root, tuples) as node:
        with Feed(node, tuples, PER_SECOND) as feed:
            time.sleep(WARM_S)
            found.delays_ms["before"] = _delay_ms(node, 3)
            _lookups(node, found)
            for name in ("fast", "average", "pairs"):
                _attach(node, name, found)
                time.sleep(chance.random())
            began = node.seen()
            for _ in range(rounds):
                _come_and_go(node, feed, chance, found)
            report = node.quality_since(began, 1).outputs["fast"]
            found.delays_ms["while queries attach and detach"] = report.delay_ms_p95 or 0.0
        node.drain()
        _compare(node, found)
    return found


def _delay_ms(node: Node, seconds: float) -> float:
    before = node.seen()
    time.sleep(seconds)
    return node.quality_since(before, seconds).outputs["fast"].delay_ms_p95 or 0.0


# --- equal to a query that ran from the start


def _attach(node: Node, name: str, found: Attaching) -> None:
    """Attach a query that also runs from the start, and wait until it has caught up with the stream."""
    began = time.monotonic()
    node.attach(query(name), name=f"late_{name}")
    while _waiting(node, f"late_{name}") > 2 * PER_SECOND:
        time.sleep(0.05)
    found.caught_up_s[name] = time.monotonic() - began


def _waiting(node: Node, name: str) -> int:
    """How many tuples wait for a query."""
    superboxes = node.statistics().superboxes
    return sum(each.queue for superbox, each in superboxes.items() if superbox.startswith(f"{name}."))


def _compare(node: Node, found: Attaching) -> None:
    for name in ("fast", "average", "pairs"):
        early, late = (_rows(node.read(each)) for each in (name, f"late_{name}"))
        found.rows[name], found.equal[name] = late.num_rows, late.equals(early)


def _rows(table: pa.Table) -> pa.Table:
    """Tuples by number; those of one number in any order."""
    keys = [(name, "ascending") for name in ("#seq", *(n for n in table.column_names if n[0] != "#"))]
    return table.sort_by(keys).combine_chunks()


# --- nothing lost or duplicated


def everything() -> Network:
    net = NetworkBuilder("everything")
    net.input("lately", PLACES).map({"car": "car"}, as_="cars").output("cars")
    return net.build()


def _come_and_go(node: Node, feed: Feed, chance: random.Random, found: Attaching) -> None:
    """Attach briefly, and count the results for the tuples of that time."""
    time.sleep(chance.random() * 0.1)
    name = f"q{found.rounds}"
    began = time.perf_counter()
    attached = node.attach(everything(), name=name)
    found.attach_ms.append(1000 * (time.perf_counter() - began))
    numbers: list[npt.NDArray[np.int64]] = []
    until = time.monotonic() + chance.uniform(0.05, 0.4)
    for table in attached.subscribe():
        numbers.append(table["#seq"].to_numpy())
        if time.monotonic() >= until:
            break
    began = time.perf_counter()
    attached.detach()
    found.detach_ms.append(1000 * (time.perf_counter() - began))
    _count(np.concatenate(numbers), feed, found)


def _count(numbers: npt.NDArray[np.int64], feed: Feed, found: Attaching) -> None:
    """Check that every tuple that was pushed between the first and the last number is there, once."""
    pushed = np.concatenate([np.arange(begin, end) for begin, end in list(feed.pushed)])
    due = pushed[(pushed >= numbers[0]) & (pushed <= numbers[-1])]
    own = np.unique(numbers[numbers >= pushed[0]])
    found.rounds += 1
    found.lost += len(np.setdiff1d(due, own))
    found.duplicated += len(numbers) - len(np.unique(numbers))


# --- by key, and by a scan


def _first_answer(node: Node, condition: str, name: str) -> float:
    net = NetworkBuilder(name)
    net.input("reports", SCHEMA).filter(condition, as_="asked").output("found")
    began = time.perf_counter()
    with node.attach(net.build(), name=name) as attached:
        next(iter(attached.subscribe()))
        return time.perf_counter() - began


def _lookups(node: Node, found: Attaching) -> None:
    """The first answers for some cars by key; and how long a query by note takes over the same history."""
    found.lookups_s = [_first_answer(node, f"car = {car}", f"lookup_{car}") for car in CARS_ASKED]
    net = NetworkBuilder("scan")
    net.input("reports", SCHEMA).filter("note LIKE '%report 4711'", as_="asked").output("found")
    end, began = node.statistics().log_end, time.perf_counter()
    with node.attach(net.build(), name="scan"):
        while min(s.head for n, s in node.statistics().superboxes.items() if n.startswith("scan.")) < end:
            time.sleep(0.02)
        found.scan_s = time.perf_counter() - began


def table(found: Attaching) -> Table:
    """The results as a table."""
    shown = Table(title=f"attaching to {PER_SECOND:,} tuples/s with {found.history:,} tuples of history")
    for column in ("query", "tuples", "abreast after", "equal to the one that ran from the start"):
        shown.add_column(column, justify="left" if column == "query" else "right")
    for name, equal in found.equal.items():
        shown.add_row(
            name, f"{found.rows[name]:,}", f"{found.caught_up_s[name]:.1f} s", "yes" if equal else "NO"
        )
    return shown
