"""The state of a stream of ever new keys, each with a few tuples, through windows whose groups are forgotten.

Windows begin at the first tuple of their key, so a key has to be remembered until the box forgets it.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from benchmarks.engine.processes import cpu_seconds, resident_bytes

from australis import NetworkBuilder, Node, Order, Progress
from australis.algebra.network import Network

TUPLES = 100_000_000
PUSH = 1_000_000
PER_KEY = 4
PUSH_LASTS_US = 600_000_000
"""What a push is of order time: so a minute has 25,000 new keys, and 150,000 are remembered at a time."""
SAMPLES = {"10": 0.1, "50": 0.5, "100": 1.0}
MEGABYTE = 1e6


def network(forget: str | None) -> Network:
    """Averages by key over windows of a minute; no result is kept, as only the state is measured."""
    net = NetworkBuilder("visits")
    schema = "k long not null, at timestamp not null, v double not null"
    stream = net.input("s", schema, progress=Progress("at", "1 s"))
    order = Order("at", group_by=("k",), by="progress")
    means = stream.aggregate({"mean": "avg(v)"}, order, "1 min", forget=forget, as_="mean")
    means.filter("mean < 0").output("never")
    return net.build()


def push(number: int) -> pa.Table:
    """A million tuples of keys that none before had; those of a key are 0.2 s apart."""
    place = np.arange(number * PUSH, (number + 1) * PUSH)
    at = place * (PUSH_LASTS_US // PUSH)
    later = (place % PER_KEY) * 200_000
    times = pa.array(at + later, pa.timestamp("us", tz="UTC"))
    return pa.table({"k": pa.array(place // PER_KEY), "at": times, "v": pa.array(np.full(PUSH, 0.5))})


def run(tuples: int, forget: str | None) -> tuple[list[float], list[float]]:
    """The megabytes of the state on disk and of all processes after each push."""
    states, resident = [], []
    with TemporaryDirectory(prefix="australis-forgetting-") as folder, Node(folder, runner="light") as node:
        node.deploy(network(forget))
        for number in range(tuples // PUSH):
            node.push("s", push(number))
            node.drain()
            states.append(sum(map(_size, (Path(folder) / "states").iterdir())) / MEGABYTE)
            resident.append(resident_bytes() / MEGABYTE)
    return states, resident


def _size(path: Path) -> int:
    """The bytes of a file; none if the node has just deleted it."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def measure(tuples: int = TUPLES) -> dict[str, float]:
    """The state after a tenth, a half and all of the tuples, and after a tenth if nothing is forgotten."""
    began = cpu_seconds()
    states, resident = run(tuples, "5 min")
    spent = cpu_seconds() - began
    places = {name: max(int(share * len(states)), 1) - 1 for name, share in SAMPLES.items()}
    return {
        "forget_state_mb": states[-1],
        **{f"forget_state_mb_{name}": states[place] for name, place in places.items()},
        "forget_state_most_mb": max(states),
        **{f"forget_memory_mb_{name}": resident[place] for name, place in places.items()},
        "forget_us_per_tuple": 1e6 * spent / tuples,
        "forget_never_mb_10": run(max(tuples // 10, PUSH), None)[0][-1],
    }
