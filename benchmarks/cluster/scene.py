"""Two nodes for a benchmark: the one that writes in a process of its own, the one that reads in this one."""

from __future__ import annotations

import multiprocessing as mp
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import australis
from australis.algebra.network import Network
from australis.cluster import Cluster
from australis.cluster.identity import Authority, NodeName, new_node
from australis.engine import Node

SCHEMA = "k long, v double, w long, x long"
BATCH = 100_000


def network(streams: int = 1) -> Network:
    """Streams of four columns that pass through."""
    net = australis.NetworkBuilder("passing")
    for number in range(streams):
        net.input(f"s{number}", SCHEMA).output(f"o{number}")
    return net.build()


def batch(rows: int = BATCH, seed: int = 7) -> pa.Table:
    """Tuples of four columns."""
    chance = np.random.default_rng(seed)
    count = np.arange(rows)
    return pa.table(
        {"k": count % 1_000, "v": chance.random(rows), "w": count, "x": chance.integers(1 << 40, size=rows)}
    )


def identities(folder: Path) -> None:
    """The identities of the nodes a and b."""
    authority = Authority.new("bench", folder / "authority")
    for name in ("a", "b"):
        authority.admit(folder / name, new_node(NodeName("bench", name), folder / name))


def _serve(
    folder: Path,
    streams: int,
    act: Callable[[Node, Connection, Any], None],
    given: Any,
    offers: Mapping[str, Sequence[str]],
    pipe: Connection,
) -> None:
    with (
        Node(folder / "root-a", runner="light") as node,
        Cluster(node, folder / "a", listen=("127.0.0.1", 0), offers=offers) as cluster,
    ):
        node.deploy(network(streams))
        pipe.send(cluster.listens)
        act(node, pipe, given)


@contextmanager
def writer(
    folder: Path,
    act: Callable[[Node, Connection, Any], None],
    given: Any = None,
    streams: int = 1,
    offers: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[tuple[tuple[str, int], Connection]]:
    """A node in a process of its own that acts as it is told; yields its place and a pipe to it."""
    here, there = mp.Pipe()
    process = mp.get_context("spawn").Process(
        target=_serve, args=(folder, streams, act, given, offers or {}, there)
    )
    process.start()
    try:
        yield here.recv(), here
        here.send("end")
        process.join(60)
    finally:
        process.kill()
        process.join()


@contextmanager
def folder() -> Iterator[Path]:
    """A folder with identities."""
    with tempfile.TemporaryDirectory(prefix="bench-cluster-") as place:
        identities(Path(place))
        yield Path(place)
