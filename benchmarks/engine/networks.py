"""The cases as Australis networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.engine.cases import ADVANCE, BAND, DENSE_ADVANCE, DENSE_WINDOW, FAN_OUT, WINDOW, threshold
from benchmarks.engine.inputs import SCHEMA

from australis import Network, NetworkBuilder, Order, Progress, Stream

BY_KEY = Order("time", group_by=("key",))


def network_of(case: str) -> Network:
    """The network of a case."""
    return NETWORKS[case]()


def filter_map() -> Network:
    """The values above 50, scaled."""
    net = NetworkBuilder("filter_map")
    above = net.input("events", SCHEMA).filter("value > 50")
    above.map({"time": "time", "key": "key", "value": "value * 2 + 1"}).output("out")
    return net.build()


def keyed_average(advance: str = WINDOW, size: str = WINDOW) -> Network:
    """The average of each key in windows of 10 s, or another size."""
    net = NetworkBuilder("keyed_average")
    _average(net, advance, size).output("out")
    return net.build()


def progress_average(size: str, slack: str) -> Network:
    """The average of each key in tumbling windows that the progress of the whole stream closes."""
    net = NetworkBuilder("progress_average")
    events = net.input("events", SCHEMA, progress=Progress("time", slack))
    order = Order("time", group_by=("key",), by="progress")
    events.aggregate({"value": "avg(value)"}, order, size, align=True).output("out")
    return net.build()


def band_join() -> Network:
    """Pairs of one key that are at most half a second apart."""
    net = NetworkBuilder("band_join")
    left, right = net.input("left", SCHEMA), net.input("right", SCHEMA)
    pairs = left.join(right, "left.key = right.key", size=BAND, left=BY_KEY, right=BY_KEY)
    pairs.map({"time": "left_time", "key": "left_key", "value": "left_value - right_value"}).output("out")
    return net.build()


def fan_out() -> Network:
    """Ten outputs that share an average."""
    net = NetworkBuilder("fan_out")
    averages = _average(net, WINDOW, WINDOW)
    for number in range(FAN_OUT):
        averages.filter(f"value > {threshold(number)}").output(f"out{number}")
    return net.build()


def _average(net: NetworkBuilder, advance: str, size: str) -> Stream:
    events = net.input("events", SCHEMA)
    return events.aggregate({"value": "avg(value)"}, BY_KEY, size, advance=advance, align=True)


NETWORKS: Mapping[str, Callable[[], Network]] = {
    "filter_map": filter_map,
    "keyed_average": keyed_average,
    "sliding_average": lambda: keyed_average(ADVANCE),
    "dense_average": lambda: keyed_average(DENSE_WINDOW, DENSE_WINDOW),
    "dense_sliding": lambda: keyed_average(DENSE_ADVANCE, DENSE_WINDOW),
    "band_join": band_join,
    "fan_out": fan_out,
}
