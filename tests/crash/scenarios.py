"""The networks that are killed, and what they are fed: for one seed the same events at the same times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np
import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import ConnectionPoint, Network, Ref
from australis.algebra.order import Order
from australis.algebra.progress import Progress

TICK, FLUSH = "tick", "flush"
SECOND = 1_000_000
SCHEMA = pa.schema([("host", pa.int32()), ("at", pa.int64()), ("load", pa.float64()), ("note", pa.string())])


class Settings(TypedDict, total=False):
    """How a node runs, where it is not as usual."""

    discipline: str
    train: int
    way: str
    partitions: tuple[int, ...]
    changes: tuple[Network, ...]
    query: Network


@dataclass(frozen=True)
class Event:
    """What happens at a local time: tuples on an input, or a promise of its source, or `tick`, or `flush`."""

    what: str
    now: int
    batch: pa.Table | None = None
    promise: int | None = None


@dataclass(frozen=True)
class Scenario:
    """A network, the events that it gets, and how its node runs."""

    network: Network
    events: tuple[Event, ...]
    discipline: str = "superbox"
    train: int = 1_000_000
    way: str = "fused"
    partitions: tuple[int, ...] = (2,)
    """In how many parts state is kept, child by child in turn."""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    changes: tuple[Network, ...] = ()
    """What the node changes to while it runs, in turn."""
    query: Network | None = None
    """What is attached and detached, if what runs has its connection points."""


def scenario(name: str, seed: int, events: int) -> Scenario:
    """A scenario by its name."""
    network, settings = SCENARIOS[name]()
    names = [each for each, given in network.inputs.items() if not given.table]
    tables = {each: HOSTS for each, given in network.inputs.items() if given.table}
    return Scenario(network, tuple(_events(network, names, seed, events)), tables=tables, **settings)


HOSTS = pa.table({"host": pa.array(range(12), pa.int32()), "zone": [f"zone {n % 3}" for n in range(12)]})


def _events(network: Network, inputs: list[str], seed: int, count: int) -> Iterator[Event]:
    chance, now = np.random.default_rng(seed), 0
    for number in range(count):
        now += int(chance.integers(0, 2 * SECOND))
        if chance.random() < 0.1:
            yield Event(TICK, now)
            continue
        name = str(chance.choice(inputs))
        given = network.inputs[name]
        # A clock is about as far as the log; any other order is as far as the number of events.
        kind = given.schema["at"].type
        middle, step = (now, SECOND) if kind.name == "timestamp" else (number * 3, 1)
        if given.progress is not None and chance.random() < 0.15:
            yield Event(name, now, promise=middle - step * int(chance.integers(0, 12)))
        else:
            yield Event(name, now, _batch(chance, middle, step, kind.arrow))
    yield Event(FLUSH, now + SECOND)


def _batch(chance: np.random.Generator, middle: int, step: int, at_type: pa.DataType) -> pa.Table:
    """Tuples out of order, some too late, some with NULL where none may be or an order needs a value."""
    rows = int(chance.integers(1, 40))
    at = middle + step * chance.integers(-6, 7, rows)
    columns = [
        pa.array(chance.integers(0, 12, rows), pa.int32(), mask=chance.random(rows) < 0.02),
        pa.array(at, pa.int64(), mask=chance.random(rows) < 0.03).cast(at_type),
        pa.array(np.round(chance.normal(50, 20, rows), 3), mask=chance.random(rows) < 0.05),
        pa.array([f'n{value}, "q"' for value in chance.integers(0, 9, rows)]),
    ]
    return pa.table(columns, SCHEMA.names)


READINGS = "host int not null, at long, load double, note string"


def keyed() -> tuple[Network, Settings]:
    """Everything by host: one superbox in two partitions, with an aggregate that times out and a join."""
    return _keyed().build(), {}


def _keyed(*, more: bool = False) -> NetworkBuilder:
    net = NetworkBuilder("keyed")
    left, right = net.input("left", READINGS), net.input("right", READINGS)
    busy, idle = left.route("load > 60", as_="busy")
    order = Order("at", slack=3, group_by=("host",))
    windows = busy.aggregate(
        {"n": "count(*)", "mean": "avg(load)", "last": "last(note)"}, order, size=10, timeout="2 seconds"
    )
    windows.output("windows")
    windows.filter("n > 1").output("crowded")
    pairs = idle.join(
        right, "left.host = right.host", size=4, left=Order("at", slack=2), right=Order("at", slack=2)
    )
    pairs.output("pairs")
    busy.union(right.filter("load > 80")).map({"host": "host", "at": "at", "load": "load * 2"}).output("hot")
    if more:
        busy.point("busy", history=200)
        # What comes and goes must not reject: when it was there depends on the kills.
        timed = busy.filter("at is not null", as_="timed")
        totals = timed.aggregate({"n": "count(*)"}, order, size=7, as_="totals")
        totals.output("totals")
        right.map({"host": "host"}, as_="hosts").output("hosts")
    return net


def boxes() -> tuple[Network, Settings]:
    """The same boxes one at a time, in short trains: queues between all of them."""
    return keyed()[0], {"discipline": "box", "train": 200}


def many() -> tuple[Network, Settings]:
    """Some thousand groups, of which each train changes few: states in several layers, which are merged."""
    net = NetworkBuilder("many")
    columns = {name: name for name in SCHEMA.names} | {"key": "host + 12 * (at % 200)"}
    left, right = (net.input(name, READINGS).map(columns) for name in ("left", "right"))
    order = Order("at", slack=3, group_by=("key",))
    windows = left.aggregate({"n": "count(*)", "last": "last(note)"}, order, size=10)
    windows.output("windows")
    windows.filter("n > 1").output("crowded")
    right.aggregate({"n": "count(*)", "most": "max(load)"}, order, size=4).output("pairs")
    left.union(right.filter("load > 80")).map(HOT).output("hot")
    return net.build(), {"train": 200}


def unkeyed() -> tuple[Network, Settings]:
    """Order across all hosts: one partition; a stored table; sliding windows; two superboxes."""
    net = NetworkBuilder("unkeyed")
    schema = "host int, at long, load double, note string"
    left, right = net.input("left", schema), net.input("right", schema)
    hosts = net.table("hosts", "host int, zone string")
    named = left.join(hosts, "left.host = right.host", left=Order("at", slack=4))
    named.output("windows")
    left.bsort(Order("at", slack=5)).filter("load > 55").output("crowded")
    total = {"n": "count(*)", "most": "max(load)"}
    left.aggregate(total, Order("at", slack=4), size=20, advance=5).output("pairs")
    right.map({"host": "host", "at": "at", "load": "load + 1"}).output("hot")
    return net.build(), {"train": 500}


def trains() -> tuple[Network, Settings]:
    """The unkeyed network with every box a superbox of its own."""
    return unkeyed()[0], {"discipline": "train"}


def scans() -> tuple[Network, Settings]:
    """The keyed network by way of Spark, which reads the segments and runs the leading boxes."""
    return keyed()[0], {"way": "spark"}


def parted() -> tuple[Network, Settings]:
    """The keyed network with another number of partitions at every start: its states are rewritten."""
    return keyed()[0], {"partitions": (2, 3, 1)}


def changing() -> tuple[Network, Settings]:
    """The keyed network, which gets more boxes and loses them again, and queries that come and go."""
    ask = NetworkBuilder("ask")
    ask.input("busy", READINGS).filter("load > 70", as_="asked").output("found")
    return keyed()[0], {"changes": (_keyed(more=True).build(), keyed()[0]), "query": ask.build()}


def kept() -> tuple[Network, Settings]:
    """The keyed network with history: of tuples as they came, by host, and of what is derived from them."""
    net = keyed()[0]
    points = {
        "came": ConnectionPoint(Ref("left"), CAME, "host"),
        "met": ConnectionPoint(net.outputs["pairs"].source, "forever", "left_host"),
        "busy": ConnectionPoint(net.outputs["windows"].source, "1 min"),
    }
    return replace(net, connection_points=points), {}


def marked() -> tuple[Network, Settings]:
    """The keyed network by progress: windows of each host, then of all; late tuples; a join of streams."""
    return _marked().build(), {}


def _marked(*, more: bool = False) -> NetworkBuilder:
    net = NetworkBuilder("marked")
    left = net.input("left", READINGS, progress=Progress("at", slack=4))
    right = net.input("right", READINGS, progress=Progress("at", slack=7))
    busy, idle = left.route("load > 50", as_="busy")
    by_host = Order("at", group_by=("host",), by="progress")
    functions = {"n": "count(*)", "mean": "avg(load)", "last": "last(note)"}
    windows = busy.aggregate(functions, replace(by_host, late=True), size=10, align=True, as_="each")
    windows.output("windows")
    totals = windows.aggregate({"hosts": "count(*)", "most": "max(n)"}, IN_ORDER, size=20, align=True)
    totals.output("crowded")
    idle.join(right, "left.host = right.host", size=4, left=IN_ORDER, right=IN_ORDER).output("pairs")
    windows.port(1).union(right.filter("load > 80")).map(HOT).output("hot")
    if more:
        busy.point("busy", history=200)
        # What comes and goes must not reject: when it was there depends on the kills.
        timed = busy.filter("at is not null", as_="timed")
        timed.aggregate({"n": "count(*)"}, by_host, size=7, as_="sums").output("sums")
        timed.bsort(IN_ORDER, as_="sorted").output("sorted")
    return net


HOT = {"host": "host", "at": "at", "load": "load * 2"}
IN_ORDER = Order("at", by="progress")


def marked_boxes() -> tuple[Network, Settings]:
    """The same boxes one at a time, in short trains."""
    return marked()[0], {"discipline": "box", "train": 200}


def marked_parted() -> tuple[Network, Settings]:
    """The network by progress with another number of partitions at every start."""
    return marked()[0], {"partitions": (2, 3, 1)}


def marked_changing() -> tuple[Network, Settings]:
    """The network by progress, which gets more boxes and loses them again, and queries that come and go."""
    ask = NetworkBuilder("ask")
    asked = ask.input("busy", READINGS).filter("at is not null")
    asked.aggregate({"n": "count(*)"}, IN_ORDER, size=5, align=True, as_="asked").output("found")
    query = ask.build(query=True)
    return marked()[0], {"changes": (_marked(more=True).build(), marked()[0]), "query": query}


def quiet() -> tuple[Network, Settings]:
    """Two inputs that fall idle in turn, so that the clock raises marks; sessions; an as-of join."""
    net = NetworkBuilder("quiet")
    schema = READINGS.replace("at long", "at timestamp")
    left = net.input("left", schema, progress=Progress("at", slack="4 s", idle="3 s"))
    right = net.input("right", schema, progress=Progress("at", slack="7 s", idle="2 s"))
    both = left.union(right.filter("load > 20"))
    by_host = Order("at", group_by=("host",), by="progress", late=True)
    sessions = both.aggregate({"n": "count(*)", "least": "min(load)"}, by_host, session="2 s")
    sessions.output("windows")
    sessions.port(1).map(HOT).output("hot")
    left.bsort(IN_ORDER).filter("load > 55").output("crowded")
    latest = left.asof(right, "left.host = right.host", left=IN_ORDER, right=IN_ORDER, within="20 s")
    latest.output("pairs")
    return net.build(), {"train": 300}


CAME = 400
"""The tuples that the connection point `came` keeps at the least."""
BY_COUNT = (keyed, many, boxes, unkeyed, trains, scans, parted, kept, changing)
BY_PROGRESS = (marked, marked_boxes, marked_parted, marked_changing, quiet)
SCENARIOS = {each.__name__: each for each in (*BY_COUNT, *BY_PROGRESS)}
ON_SPARK = ("scans",)
"""What no other runner can run."""
UNORDERED = ("parted", "marked_parted")
"""Where tuples of one number may come out in another order: they do so partition by partition."""
