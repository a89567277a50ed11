"""A node on a cluster: `tests.spark_cluster.child MASTER FOLDER WAY` writes its outputs as Parquet."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.crash.child import log
from tests.crash.scenarios import FLUSH, SCHEMA, SECOND, Event, Scenario, keyed

from australis import Node

LARGE, SMALL, HOSTS = 150_000, 500, 5_000
"""Tuples of a push: a large one is a train of two tasks."""


def given() -> Scenario:
    """Grouped windows with timeouts and a join by host, over few large pushes and some small ones."""
    chance = np.random.default_rng(9)
    sizes = [("left", SMALL), ("right", SMALL), *[("left", LARGE), ("right", LARGE), ("left", SMALL)] * 2]
    events = [
        Event(name, turn * SECOND, _batch(chance, size, turn)) for turn, (name, size) in enumerate(sizes)
    ]
    return Scenario(keyed()[0], (*events, Event(FLUSH, len(sizes) * SECOND)))


def _batch(chance: np.random.Generator, rows: int, turn: int) -> pa.Table:
    at = np.sort(chance.integers(0, 400, rows)) + 200 * turn
    load = np.round(chance.normal(50, 20, rows), 3)
    notes = chance.integers(0, 99, rows).astype(str)
    hosts = pa.array(chance.integers(0, HOSTS, rows), pa.int32(), mask=chance.random(rows) < 0.001)
    return pa.Table.from_arrays([hosts, pa.array(at), pa.array(load), pa.array(notes)], schema=SCHEMA)


def main(master: str, folder: Path, way: str) -> None:
    scenario = given()
    options = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    with Node(folder / "root", master=master, way=way, clock=lambda: 0, spark_options=options) as node:
        node.deploy(scenario.network)
        for number in range(len(scenario.events)):
            log(node, scenario, number)
            if number == 1:
                node.drain()
                _say("running")
        node.drain()
        for name in (*scenario.network.outputs, "quarantine"):
            pq.write_table(node.read(name), folder / f"{name}.parquet")
    _say("done")


def _say(word: str) -> None:
    print(word, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
