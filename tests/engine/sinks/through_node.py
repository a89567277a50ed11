"""Files through a node into files; as a program it is one run, for a test to kill it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from australis import Network, NetworkBuilder, Node, Order
from australis.algebra.network import QUARANTINE
from australis.engine.sinks import parse_sink, write_out
from australis.engine.sources import Delivery, Options, SignalWaiter, feed, parse_source

ROWS, BATCH = 2000, 300
OUTPUTS = {"high": "high.csv", "mean": "mean.jsonl.gz", QUARANTINE: "bad.tsv", "all": "all.parquet"}


def network() -> Network:
    """A union of two streams, what is high in it, and averages by group."""
    net = NetworkBuilder("readings")
    both = net.input("a", "sid int, n long, v double").union(net.input("b", "sid int, n long, v double"))
    both.filter("v >= 50").output("high")
    order = Order("n", slack=100, group_by=("sid",))
    both.aggregate({"mean": "avg(v)"}, order, size=50).output("mean")
    both.map({"sid": "sid", "v": "v * 2"}).output("all")
    return net.build()


def write_inputs(folder: Path) -> None:
    """A CSV file in which some rows are none, and a Parquet file that can be adopted."""
    chance = np.random.default_rng(7)
    values = chance.uniform(0, 100, ROWS).round(3)
    lines = [f"{n % 4},{n},{'bad' if n % 400 == 7 else value}" for n, value in enumerate(values)]
    (folder / "a.csv").write_text("sid,n,v\n" + "\n".join(lines) + "\n")
    columns = {"sid": pa.array(np.arange(ROWS, dtype=np.int32) % 4), "n": pa.array(range(ROWS), pa.int64())}
    pq.write_table(pa.table({**columns, "v": pa.array(values)}), folder / "b.parquet")


def run(folder: Path, place: Path, most: int | None = None) -> int:
    """One run of a node: at most so many deliveries, then what came out; gives how many there were."""
    net, waiter, heard = network(), SignalWaiter(), list[Delivery]()

    def count(delivery: Delivery) -> None:
        heard.append(delivery)
        if len(heard) == most:
            waiter.end()

    with Node(place / "root") as node:
        node.deploy(net)
        files = {"a": "a.csv", "b": "b.parquet"}
        sources = [
            parse_source(name, str(folder / files[name]), given.schema, Options(batch=BATCH))
            for name, given in net.inputs.items()
        ]
        feed(node, sources, waiter, count)
        node.drain()
        for output, name in OUTPUTS.items():
            write_out(node, parse_sink(output, str(place / name), net.output_schema(output)))
    return len(heard)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
