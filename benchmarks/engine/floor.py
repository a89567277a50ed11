"""The floor: how long a small train takes through a keyed aggregate, from push to commit, when warm."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from benchmarks.engine.inputs import tuples_of
from benchmarks.engine.networks import network_of

from australis import Node

TRAINS, WARM_UP = 200, 30
FEWEST, MOST = 100, 1_000


def run(job: dict[str, Any]) -> dict[str, float]:
    """Pushes of 100 to 1,000 tuples, one by one; each waits until its train has been committed."""
    sizes = np.random.default_rng(0).integers(FEWEST, MOST + 1, WARM_UP + TRAINS).tolist()
    with Node(Path(job["scratch"]) / "floor") as node:
        node.deploy(network_of("keyed_average"))
        times, begin = [], 0
        for size in sizes:
            times.append(_train_ms(node, begin, begin + size))
            begin += size
    warm = times[WARM_UP:]
    return {"floor_ms": median(warm), "p95_ms": quantiles(warm, n=20)[-1], "least_ms": min(warm)}


def _train_ms(node: Node, begin: int, end: int) -> float:
    batch = tuples_of(begin, end, seed=0)
    started = time.perf_counter()
    node.push("events", batch)
    node.drain()
    return (time.perf_counter() - started) * 1e3
