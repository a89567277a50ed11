"""The network of the demonstration: the intrusion query of Medusa 4.1, and a branch that finds beacons."""

from __future__ import annotations

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.algebra.schema import TUP

CONNECTIONS = {
    "time": "timestamp not null",
    "src": "string not null",
    "dst": "string not null",
    "port": "int not null",
    "bytes": "long not null",
}
PERIOD = "60 s"
SLACK = 16
NEIGHBOURHOOD = "concat(split_part(src, '.', 1), '.', split_part(src, '.', 2), '.', split_part(src, '.', 3))"


def network(active: int = 200, services: int = 50) -> Network:
    """Operators a to g of the paper, where a service is a port; and the beacons.

    A source is active above a number of connections per minute, and scans above a number of services: the
    thresholds depend on the network that is monitored.
    """
    net = NetworkBuilder("intrusion", description="scans, clusters of active sources, and beacons")
    connections = net.input("connections", CONNECTIONS)
    busy = _active(connections, active)
    _clusters(busy)
    _scans(connections, busy, services)
    _beacons(net, connections)
    return net.build()


def _active(connections: Stream, least: int) -> Stream:
    order = Order("time", slack=SLACK, group_by=("src",))
    a = connections.aggregate({"connections": "count(*)"}, order, PERIOD, align=True, as_="a")
    return a.filter(f"connections >= {least}", as_="b").output("active")


def _clusters(active: Stream) -> None:
    near = active.map({"time": "time", "src": "src", "net": NEIGHBOURHOOD}, as_="near")
    order = Order("time", slack=50, group_by=("net",))
    c = near.aggregate({"sources": "count(DISTINCT src)"}, order, PERIOD, align=True, as_="c")
    c.filter("sources >= 4", as_="d").output("clusters")


def _scans(connections: Stream, active: Stream, least: int) -> None:
    order = Order("time", slack=SLACK, group_by=("src",))
    e = connections.aggregate({"services": "count(DISTINCT port)"}, order, PERIOD, align=True, as_="e")
    f = e.filter(f"services >= {least}", as_="f")
    by_source = Order("time", group_by=("src",))
    g = active.join(f, "left.src = right.src", size="0 s", left=by_source, right=by_source, as_="g")
    both = {"time": "left_time", "src": "left_src", "connections": "connections", "services": "services"}
    g.map(both, as_="both").output("scans")


def _beacons(net: NetworkBuilder, connections: Stream) -> None:
    """Sources that call one host repeatedly at even intervals, too rarely for counts to find them."""
    pair = ("src", "dst")
    with net.group(
        "beacon", description="connections of one pair of hosts, and how even their intervals are"
    ):
        in_order = connections.filter("port = 443 AND bytes < 2000", as_="small").bsort(
            Order("time", slack=SLACK, group_by=pair), as_="sorted"
        )
        twos = in_order.aggregate(
            {"before": "first(time)", "time": "last(time)"},
            Order(TUP, group_by=pair),
            2,
            advance=1,
            as_="twos",
        )
        interval = {"src": "src", "dst": "dst", "time": "time", "seconds": _SECONDS}
        gaps = twos.filter("time > before", as_="next").map(interval, as_="interval")
        even = gaps.aggregate(
            {"calls": "count(*)", "every": "avg(seconds)", "deviation": "stddev(seconds)"},
            Order("time", slack=SLACK, group_by=pair),
            "20 min",
            as_="even",
        )
        even.filter("calls >= 20 AND deviation < every * 0.05", as_="regular").output("beacons")


_SECONDS = "(unix_micros(time) - unix_micros(before)) / 1000000"
