"""The network of the demonstration: the intrusion query of Medusa 4.1, and a branch that finds beacons."""

from __future__ import annotations

from dataclasses import dataclass, replace

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import ConnectionPoint, Network, Output, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.quality import Quality

CONNECTIONS = {
    "time": "timestamp not null",
    "src": "string not null",
    "dst": "string not null",
    "port": "int not null",
    "bytes": "long not null",
}
NEIGHBOURHOOD = "concat(split_part(src, '.', 1), '.', split_part(src, '.', 2), '.', split_part(src, '.', 3))"


@dataclass(frozen=True)
class Beacons:
    """Which repeated calls of one host are suspicious: small ones, on one port or any, at even intervals.

    There are at least so many `calls` in a `window`; `deviation` is a fraction of their mean interval.
    """

    port: int | None = 443
    bytes_max: int = 2000
    window: str = "20 min"
    calls: int = 20
    deviation: float = 0.05

    @property
    def small(self) -> str:
        """The predicate of the connections that are looked at."""
        on_port = "" if self.port is None else f"port = {self.port} AND "
        return f"{on_port}bytes < {self.bytes_max}"

    @property
    def regular(self) -> str:
        """The predicate of the windows that are reported."""
        return f"calls >= {self.calls} AND deviation < every * {self.deviation}"


USUAL_BEACONS = Beacons()


def network(
    active: int = 200,
    services: int = 50,
    *,
    sources: int = 4,
    period: str = "60 s",
    slack: str = "10 s",
    beacons: Beacons = USUAL_BEACONS,
) -> Network:
    """Operators a to g of the paper, where a service is a port; and the beacons.

    A source is active above a number of connections in a period, and scans above a number of services; a
    cluster has at least so many active sources. The thresholds, and how late a connection may be in the log
    (`slack`), depend on the network that is monitored. From there on marks tell each box what is complete.

    >>> by_any_port = Beacons(port=None, window="1 h", deviation=0.1)
    >>> watched = network(30, 30, slack="1 min", beacons=by_any_port)
    >>> watched.boxes["beacon.regular"].box.predicates
    ('calls >= 20 AND deviation < every * 0.1',)
    """
    net = NetworkBuilder("intrusion", description="scans, clusters of active sources, and beacons")
    connections = net.input("connections", CONNECTIONS, progress=Progress("time", slack=slack))
    by_source = Order("time", group_by=("src",), by="progress")
    busy = _active(connections, by_source, period, active)
    _clusters(busy, period, sources)
    _scans(connections, busy, by_source, period, services)
    _beacons(net, connections, beacons)
    return net.build()


def watched(network: Network) -> Network:
    """The network with graphs of quality, and with a connection point for queries: as the editor shows it."""
    delay = ((0, 1), (15, 1), (40, 0))
    graphs = {
        "active": Quality(delay=delay, loss=((0, 0), (1, 1)), weight=2),
        "scans": Quality(delay=delay, loss=((0, 0), (1, 1))),
        "beacons": Quality(delay=((0, 1), (90, 1), (180, 0))),
    }
    outputs = {
        name: Output(output.source, graphs.get(name), output.description)
        for name, output in network.outputs.items()
    }
    points = {"recent": ConnectionPoint(Ref("connections"), "10 min", "src")}
    return replace(network, outputs=outputs, connection_points=points)


def _active(connections: Stream, order: Order, period: str, least: int) -> Stream:
    a = connections.aggregate({"connections": "count(*)"}, order, period, align=True, as_="a")
    return a.filter(f"connections >= {least}", as_="b").output("active")


def _clusters(active: Stream, period: str, least: int) -> None:
    near = active.map({"time": "time", "src": "src", "net": NEIGHBOURHOOD}, as_="near")
    order = Order("time", group_by=("net",), by="progress")
    c = near.aggregate({"sources": "count(DISTINCT src)"}, order, period, align=True, as_="c")
    c.filter(f"sources >= {least}", as_="d").output("clusters")


def _scans(connections: Stream, active: Stream, order: Order, period: str, least: int) -> None:
    e = connections.aggregate({"services": "count(DISTINCT port)"}, order, period, align=True, as_="e")
    f = e.filter(f"services >= {least}", as_="f")
    g = active.join(f, "left.src = right.src", size="0 s", left=order, right=order, as_="g")
    both = {"time": "left_time", "src": "left_src", "connections": "connections", "services": "services"}
    g.map(both, as_="both").output("scans")


def _beacons(net: NetworkBuilder, connections: Stream, wanted: Beacons) -> None:
    """Sources that call one host repeatedly at even intervals, too rarely for counts to find them."""
    pair = ("src", "dst")
    order = Order("time", group_by=pair, by="progress")
    with net.group(
        "beacon", description="connections of one pair of hosts, and how even their intervals are"
    ):
        in_order = connections.filter(wanted.small, as_="small").bsort(order, as_="sorted")
        calls = in_order.lag({"before": "time"}, group_by=pair, as_="call")
        interval = {"src": "src", "dst": "dst", "time": "time", "seconds": _SECONDS}
        gaps = calls.filter("time > before", as_="next").map(interval, as_="interval")
        even = gaps.aggregate(
            {"calls": "count(*)", "every": "avg(seconds)", "deviation": "stddev(seconds)"},
            order,
            wanted.window,
            as_="even",
        )
        even.filter(wanted.regular, as_="regular").output("beacons")


_SECONDS = "(unix_micros(time) - unix_micros(before)) / 1000000"
