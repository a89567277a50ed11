"""Ten links with the weights 1 to 10 share a connection that is full: each should have its share of bytes.

A proxy between the nodes lets through so many bytes a second, and all links have more than that to send.
"""

from __future__ import annotations

import time
from multiprocessing.connection import Connection

from benchmarks.cluster.scene import batch, folder, network, writer
from benchmarks.saying import say
from tests.cluster.proxy import Proxy

from australis.cluster import Cluster
from australis.engine import Node

LINKS, SECONDS = 10, 30
BYTES_PER_S = 20e6
_ROWS = 20_000


def _backlogs(node: Node, pipe: Connection, batches: int) -> None:
    for number in range(LINKS):
        for _ in range(batches):
            node.push(f"s{number}", batch(_ROWS))
    node.drain()
    pipe.send("ready")
    pipe.recv()


def measure(seconds: int = SECONDS) -> dict[str, float]:
    """The greatest error of a share, as a fraction of what the share should be."""
    # The heaviest link must still have tuples at the end: it gets 10/55 of all, and a tuple has 40 bytes.
    batches = int(seconds * 2 * BYTES_PER_S * LINKS / 55 / (_ROWS * 40)) + 10
    with (
        folder() as place,
        writer(place, _backlogs, batches, LINKS) as (address, pipe),
        Node(place / "root-b", runner="light") as node,
    ):
        node.deploy(network(LINKS))
        pipe.recv()
        proxy = Proxy(address, BYTES_PER_S)
        try:
            with Cluster(node, place / "b") as cluster:
                for number in range(LINKS):
                    cluster.link(f"s{number}", f"bench/a/o{number}", weight=number + 1.0)
                cluster.connect("bench/a", proxy.place)
                found = _shares(cluster, seconds)
        finally:
            proxy.close()
    wanted = {f"s{number}": (number + 1) / (LINKS * (LINKS + 1) / 2) for number in range(LINKS)}
    errors = {name: found[name] / wanted[name] - 1 for name in wanted}
    say("errors of the shares: " + ", ".join(f"{name} {100 * each:+.1f} %" for name, each in errors.items()))
    return {"weight_error": max(map(abs, errors.values()))}


def _shares(cluster: Cluster, seconds: int) -> dict[str, float]:
    """The shares of the links in what came, from a while after the start."""

    def bytes_of() -> dict[str, int]:
        return {each.input: each.bytes for each in cluster.status().links_in}

    while min(bytes_of().values()) == 0:
        time.sleep(0.1)
    time.sleep(seconds / 5)
    before = bytes_of()
    time.sleep(seconds)
    came = {name: size - before[name] for name, size in bytes_of().items()}
    return {name: size / sum(came.values()) for name, size in came.items()}
