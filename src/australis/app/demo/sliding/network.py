"""Scans, beacons and crowds in connections that come in the order of their times, without marks."""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.app.demo.network import CONNECTIONS, NEIGHBOURHOOD
from australis.app.demo.stream import connections

INPUT = "connections"
LEAST = 50_000
"""The fewest connections in which all intruders are hidden."""


def network() -> Network:
    """Four chains of boxes over one stream, each of which can go to another node box by box."""
    net = NetworkBuilder("intrusion", description="active sources, scans, crowded networks and beacons")
    seen = net.input(INPUT, CONNECTIONS)
    by_source = Order("time", group_by=("src",))
    active = seen.aggregate({"connections": "count(*)"}, by_source, "60 s", align=True, as_="active")
    active.filter("connections >= 20", as_="busy").output("busy")
    ports = seen.aggregate({"services": "count(DISTINCT port)"}, by_source, "60 s", align=True, as_="ports")
    ports.filter("services >= 50", as_="scanning").output("scans")
    _nets(seen)
    _beacons(seen)
    return net.build()


def idle(name: str) -> Network:
    """What a node runs that waits for boxes."""
    net = NetworkBuilder("idle")
    net.input(f"{name}_in", "x int").output(f"{name}_out")
    return net.build()


def stream(count: int, seed: int) -> pa.Table:
    """So many connections, in the order of their times."""
    made = connections(network().inputs[INPUT].schema, max(count, LEAST), seed)
    return made.sort_by("time").combine_chunks()


def _nets(seen: Stream) -> None:
    near = seen.map({"time": "time", "src": "src", "net": NEIGHBOURHOOD}, as_="near")
    functions = {"sources": "count(DISTINCT src)", "connections": "count(*)"}
    order = Order("time", group_by=("net",))
    crowd = near.aggregate(functions, order, "60 s", align=True, as_="crowd")
    crowd.filter("connections >= 100", as_="crowded").output("nets")


def _beacons(seen: Stream) -> None:
    pair = ("src", "dst")
    small = seen.filter("port = 443 AND bytes < 2000", as_="small")
    again = small.lag({"before": "time"}, group_by=pair, as_="again").filter("time > before", as_="next")
    seconds = "(unix_micros(time) - unix_micros(before)) / 1000000"
    gaps = again.map({"src": "src", "dst": "dst", "time": "time", "seconds": seconds}, as_="gaps")
    functions = {"calls": "count(*)", "every": "avg(seconds)", "deviation": "stddev(seconds)"}
    even = gaps.aggregate(functions, Order("time", group_by=pair), "20 min", as_="even")
    even.filter("calls >= 20 AND deviation < every * 0.05", as_="regular").output("beacons")
