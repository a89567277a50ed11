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
    """What happens at a local time: tuples on an input, or `tick`, or `flush`."""

    what: str
    now: int
    batch: pa.Table | None = None


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
    return Scenario(network, tuple(_events(names, seed, events)), tables=tables, **settings)


HOSTS = pa.table({"host": pa.array(range(12), pa.int32()), "zone": [f"zone {n % 3}" for n in range(12)]})


def _events(inputs: list[str], seed: int, count: int) -> Iterator[Event]:
    chance, now = np.random.default_rng(seed), 0
    for number in range(count):
        now += int(chance.integers(0, 2 * SECOND))
        if chance.random() < 0.1:
            yield Event(TICK, now)
        else:
            yield Event(str(chance.choice(inputs)), now, _batch(chance, number))
    yield Event(FLUSH, now + SECOND)


def _batch(chance: np.random.Generator, number: int) -> pa.Table:
    """Tuples out of order, some too late, some with NULL where none may be or an order needs a value."""
    rows = int(chance.integers(1, 40))
    at = number * 3 + chance.integers(-6, 7, rows)
    columns = [
        pa.array(chance.integers(0, 12, rows), pa.int32(), mask=chance.random(rows) < 0.02),
        pa.array(at, pa.int64(), mask=chance.random(rows) < 0.03),
        pa.array(np.round(chance.normal(50, 20, rows), 3), mask=chance.random(rows) < 0.05),
        pa.array([f'n{value}, "q"' for value in chance.integers(0, 9, rows)]),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


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


CAME = 400
"""The tuples that the connection point `came` keeps at the least."""
SCENARIOS = {each.__name__: each for each in (keyed, boxes, unkeyed, trains, scans, parted, kept, changing)}
ON_SPARK = ("scans",)
"""What no other runner can run."""
UNORDERED = ("parted",)
"""Where tuples of one number may come out in another order: they do so partition by partition."""
