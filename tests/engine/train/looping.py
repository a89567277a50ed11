"""What the tests of the loop share: a network with a query on it, and runners that fail."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from tests.engine import in_process

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.engine.running import Running
from australis.engine.worker import Manifest, Waybill
from australis.errors import EngineError, Problem

SECONDS_MOST = 60
BROKEN = EngineError(Problem("disk", "is broken"))


def network(least: int = 0) -> Network:
    """A filter and a map after it, and a window that closes by a timeout, on another input."""
    net = NetworkBuilder("n")
    some = net.input("s", "k long").point("past", history="forever").filter(f"k >= {least}", as_="some")
    some.map({"k": "k"}, as_="same").output("out")
    counted = {"n": "count(*)"}
    window = net.input("b", "t long").aggregate(counted, Order("t"), size=10, timeout="5 s", as_="window")
    window.output("counts")
    return net.build()


def query() -> Network:
    net = NetworkBuilder("ask")
    net.input("past", "k long").filter("k > 1", as_="asked").output("found")
    return net.build()


def ks(*values: int) -> pa.Table:
    return pa.table({"k": pa.array(values, pa.int64())})


def steps(running: Running) -> list[str]:
    """The superboxes of all trains that can run now, one after the other."""
    found = []
    while (train := running.loop.step()) is not None:
        found.append(train.superbox)
    return found


def failing(superbox: str, error: Exception) -> Callable[[Waybill], list[Manifest]]:
    """A runner on which the trains of a superbox fail."""

    def run(waybill: Waybill) -> list[Manifest]:
        if waybill.superbox == superbox:
            raise error
        return in_process.run(waybill)

    return run
