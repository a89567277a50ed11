"""Commits on an S3 server of this machine: what the copy of each costs, and how many requests a train makes.

`python -m benchmarks.objects`. Three nodes take the same small trains in turn, so that all meet the same
load: one on a local root, one on S3 whose catalogue is not copied, one whose commits are copied. The last
line is JSON, times in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pyarrow as pa
from tests.objects.server import S3Server

from australis import Node
from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.store.objects import ObjectDisk

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL, PLAIN, COPIED = "local", "s3", "s3_copied"
WARM = 20
ALONE = 100


def counts() -> Network:
    net = NetworkBuilder("counts")
    tuples = net.input("s", "k long, t long").filter("k >= 0")
    tuples.aggregate({"n": "count(*)"}, Order("t", group_by=("k",)), size=100).output("n")
    return net.build()


@contextmanager
def opened(kind: str, server: S3Server, folder: Path) -> Iterator[Node]:
    """A node of a kind; its tasks run in one worker process."""
    root = str(folder / kind) if kind == LOCAL else server.uri(kind)
    catalog = None if kind == LOCAL else folder / f"{kind}-catalog"
    with patch.object(ObjectDisk, "keeps_catalog", kind == COPIED):
        node = Node(root, catalog=catalog, runner="light")
    with node:
        node.deploy(counts())
        node.discard("n")
        yield node


def commit_ms(node: Node) -> float:
    """How long an empty unit of work takes."""
    began = time.perf_counter()
    with node._ledger.change() as change:
        change.set_meta("benchmark", "1")
    return (time.perf_counter() - began) * 1e3


def train_ms(node: Node, number: int) -> float:
    """How long a push of 1,000 tuples and its train take."""
    rows = pa.table({"k": [n % 10 for n in range(1000)], "t": [number * 100 + n // 10 for n in range(1000)]})
    began = time.perf_counter()
    node.push("s", rows)
    node.drain()
    return (time.perf_counter() - began) * 1e3


def measure(trains: int, folder: Path) -> dict[str, object]:
    with S3Server(folder / "s3") as server, ExitStack() as stack:
        nodes = {kind: stack.enter_context(opened(kind, server, folder)) for kind in (LOCAL, PLAIN, COPIED)}
        commits: dict[str, list[float]] = {kind: [] for kind in nodes}
        times: dict[str, list[float]] = {kind: [] for kind in nodes}
        for number in range(trains):
            for kind, node in nodes.items():
                times[kind].append(train_ms(node, number))
                commits[kind].append(commit_ms(node))
        requests = {kind: count(server, node, trains) for kind, node in nodes.items() if kind != LOCAL}
        copies = nodes[COPIED].root.sizes("catalog").items()
        records = [size for name, size in copies if name.endswith(".commit")]
    return {
        "trains": trains,
        "commit_ms": {kind: quickest(found[WARM:]) for kind, found in commits.items()},
        "train_ms": {kind: quickest(found[WARM:]) for kind, found in times.items()},
        "requests_per_train": requests,
        "record_bytes": round(statistics.median(records)),
    }


def quickest(times: list[float]) -> float:
    """The quickest tenth: other jobs of the machine disturb it least."""
    return round(statistics.quantiles(times, n=10)[0], 2)


def count(server: S3Server, node: Node, first: int) -> dict[str, float]:
    """The requests of a train, by method, while no other node does anything."""
    before = server.requests()
    for number in range(first, first + ALONE):
        train_ms(node, number)
    return {method: round(n / ALONE, 2) for method, n in (server.requests() - before).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trains", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="australis-objects-") as folder:
        print(json.dumps(measure(given.trains, Path(folder))))


if __name__ == "__main__":
    main()
