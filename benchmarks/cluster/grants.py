"""Boxes at the other participant's node: what crosses over, and what it costs on either side.

A node of one participant reads a hundredth of a stream of another one, each in a process of its own: once the
whole stream comes and is filtered here, once the filter runs there, by a grant. Both nodes are light, on one
machine, and durable. Passes alternate. Seconds of CPU are those of the process and its workers.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.cluster.scene import BATCH, SCHEMA, batch, writer
from benchmarks.saying import say, steps

import australis
from australis.algebra.boxes import Filter
from australis.algebra.network import Network
from australis.cluster import Cluster
from australis.cluster.grants import Grant, Limits, signed
from australis.cluster.identity import Authority, Credentials, NodeName, new_node
from australis.engine import Node

TUPLES, PASSES, PLACED = 4_000_000, 3, 20
_WANTED = Filter(("k % 100 = 0",))
_TICKS = os.sysconf("SC_CLK_TCK")


def _cpu_s() -> float:
    """The CPU time of this process and all that it has started."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            # It has just ended.
            continue
        number = int(place.parent.name)
        parents[number], ticks[number] = int(fields[1]), int(fields[11]) + int(fields[12])

    def is_own(number: int) -> bool:
        while number and number != os.getpid():
            number = parents.get(number, 0)
        return number != 0

    return sum(count for number, count in ticks.items() if is_own(number)) / _TICKS


def _act(node: Node, pipe: Connection, given: None) -> None:
    """Push so many batches as it is asked to, and tell how much CPU that took."""
    table = batch()
    node.push("s0", table)
    node.drain()
    while (asked := pipe.recv()) != "end":
        began = _cpu_s()
        for _ in range(asked):
            node.push("s0", table)
        node.drain()
        pipe.send(_cpu_s() - began)


def _network(*, at_home: bool) -> Network:
    net = australis.NetworkBuilder("reading")
    if at_home:
        net.input("s0", SCHEMA, source="shop/a/o0").filter(*_WANTED.predicates, as_="wanted").output("seen")
    else:
        net.input("s0", SCHEMA, source="shop/a/o0", before=[_WANTED]).output("seen")
    return net.build()


@contextmanager
def _folder() -> Iterator[Path]:
    """The identities of two participants' nodes, and a grant."""
    with tempfile.TemporaryDirectory(prefix="bench-grants-") as text:
        place = Path(text)
        for participant, node in (("shop", "a"), ("lab", "b")):
            name = NodeName(participant, node)
            Authority.new(participant, place / participant).admit(place / node, new_node(name, place / node))
        for node, other in (("a", "lab"), ("b", "shop")):
            shutil.copy(place / other / "authority.pem", place / node / "authorities" / f"{other}.pem")
        grant = Grant(
            "0" * 32, 1, "shop", ("*",), ("lab/*",), ("o0",), 0, 1 << 52, ("filter",), limits=Limits(PLACED)
        )
        file = place / "some.grant"
        file.write_bytes(signed(grant, Credentials.load(place / "a")).data)
        yield place


def _passed(tuples: int, *, at_home: bool) -> dict[str, float]:
    """One pass: bytes on the link, and seconds of CPU on both sides."""
    with (
        _folder() as place,
        writer(place, _act, offers={"o0": ["lab/*"]}) as (address, pipe),
        Node(place / "root-b", runner="light") as node,
    ):
        node.deploy(_network(at_home=at_home))
        with Cluster(node, place / "b", grants=[place / "some.grant"]) as cluster:
            cluster.connect("shop/a", address)
            cluster.link("s0", "shop/a/o0")
            while cluster.status().links_in[0].state != "running":
                time.sleep(0.01)
            # What was there before the link, and the first trains of both, which start workers.
            pipe.send(4)
            _wait(cluster, 5 * BATCH if at_home else 4 * BATCH // 100)
            node.drain()
            pipe.recv()
            before, began, known = _cpu_s(), time.perf_counter(), cluster.status().links_in[0]
            pipe.send(tuples // BATCH)
            _wait(cluster, known.tuples + (tuples if at_home else tuples // 100))
            node.drain()
            seconds, there = time.perf_counter() - began, pipe.recv()
            link = cluster.status().links_in[0]
            return {
                "bytes": float(link.bytes - known.bytes),
                "here_s": _cpu_s() - before,
                "there_s": there,
                "seconds": seconds,
            }


def _wait(cluster: Cluster, tuples: int) -> None:
    while cluster.status().links_in[0].tuples < tuples:
        time.sleep(0.05)


def _placing() -> list[float]:
    """Milliseconds from drawing a link until its piece runs and the link does."""
    net = australis.NetworkBuilder("many")
    for number in range(PLACED):
        net.input(f"s{number}", SCHEMA, source="shop/a/o0", before=[_WANTED]).output(f"o{number}")
    found = []
    with (
        _folder() as place,
        writer(place, _act, offers={"o0": ["lab/*"]}) as (address, _),
        Node(place / "root-b", runner="light") as node,
    ):
        node.deploy(net.build())
        with Cluster(node, place / "b", grants=[place / "some.grant"]) as cluster:
            cluster.connect("shop/a", address)
            while not cluster.status().peers[0].is_connected:
                time.sleep(0.01)
            for number in range(PLACED):
                began = time.perf_counter()
                cluster.link(f"s{number}", "shop/a/o0")
                while {each.input: each for each in cluster.status().links_in}[
                    f"s{number}"
                ].state != "running":
                    time.sleep(0.001)
                found.append((time.perf_counter() - began) * 1e3)
    return found


def measure(tuples: int = TUPLES) -> dict[str, float]:
    """Bytes and CPU of the whole stream, in proportion to those of what is needed."""
    whole: list[dict[str, float]] = []
    piece: list[dict[str, float]] = []
    for _ in steps("the whole stream and a hundredth, in turn", range(PASSES)):
        whole.append(_passed(tuples, at_home=True))
        piece.append(_passed(tuples, at_home=False))
    placed = _placing()
    middle: dict[str, Any] = {
        name: [statistics.median(each[name] for each in found) for found in (whole, piece)]
        for name in whole[0]
    }
    for name, (all_of_it, some) in middle.items():
        say(f"{name}: {all_of_it:,.2f} for the whole stream, {some:,.2f} with the filter at the other node")
    return {
        "grants_bytes_x": middle["bytes"][0] / middle["bytes"][1],
        "grants_here_x": middle["here_s"][0] / middle["here_s"][1],
        "grants_there_x": middle["there_s"][0] / middle["there_s"][1],
        "grants_placed_ms": statistics.median(placed),
    }
