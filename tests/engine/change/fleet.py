"""A fleet that reports where it is: the network of these tests, and its tuples."""

from __future__ import annotations

import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order

SCHEMA = "t long, car long, speed double"
BY_CAR = Order("t", group_by=("car",))


def fleet(
    *, least: float = 5.0, size: int = 10, extra: bool = False, history: str | int = "forever"
) -> Network:
    """A filter and a window behind it; with `extra` another output."""
    net = NetworkBuilder("fleet")
    pos = net.input("pos", SCHEMA).point("reports", history=history)
    fast = pos.filter(f"speed > {least}", as_="fast").point("quick", history=history)
    fast.output("alarms")
    pos.aggregate({"n": "count(*)", "mean": "avg(speed)"}, BY_CAR, size=size, as_="windows").output("means")
    if extra:
        pos.map({"car": "car"}, as_="cars").output("cars")
    return net.build()


def ask(point: str = "reports", condition: str = "car = 1") -> Network:
    net = NetworkBuilder("ask")
    net.input(point, SCHEMA).filter(condition, as_="asked").output("found")
    return net.build()


def windows(point: str = "reports") -> Network:
    """The window of the fleet as a query."""
    net = NetworkBuilder("ask")
    stream = net.input(point, SCHEMA)
    stream.aggregate({"n": "count(*)", "mean": "avg(speed)"}, BY_CAR, size=10, as_="windows").output("found")
    return net.build()


def reports(times: range) -> pa.Table:
    return pa.table(
        {"t": list(times), "car": [t % 3 for t in times], "speed": [float(t * 7 % 11) for t in times]}
    )


def tuples(table: pa.Table) -> list[dict[str, object]]:
    """The tuples by number, without when they came."""
    return table.drop_columns(["#ts"]).sort_by("#seq").to_pylist()
