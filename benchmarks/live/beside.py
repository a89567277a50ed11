"""The cost of a long train to others: another query is attached while it runs."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis import NetworkBuilder, Node, Order, register_function
from australis.algebra.network import Network

SLOW_S = 15.0
PUSHES_PER_S, TUPLES = 10, 100


def _slow(values: pa.Array) -> pa.Array:
    """True for all, after a delay."""
    time.sleep(SLOW_S)
    return pc.is_valid(values)


register_function("bench:slow", _slow, takes=("long",), returns="boolean")


def measure(quick: bool, say: Callable[[str], None]) -> dict[str, float]:
    """Attach a query during a train of 15 s, and measure the delay of the main output.

    Alone, during the slow train, in the second of the attach, and with both queries after it.
    """
    seconds = SLOW_S + (3 if quick else 15)
    with tempfile.TemporaryDirectory(prefix="bench-live-") as root, Node(root, in_flight=2) as node:
        node.deploy(_network())
        late: list[tuple[float, float]] = []
        reader = threading.Thread(target=_read, args=(node, late), daemon=True)
        reader.start()
        trains: list[float] = []
        node.on_train(lambda train: trains.append(train.run_us / 1e3) if train.superbox == "main" else None)
        _push_for(node, 1.0)
        node.drain()
        late.clear()  # The first trains load code.
        _push_for(node, 5.0)
        node.attach(_query("`bench:slow`(v)"), name="slow")
        slow_from = time.perf_counter() + 1.0
        _push_for(node, 5.0)
        began = time.perf_counter()
        attaching = threading.Thread(target=lambda: node.attach(_query("v % 2 = 0"), name="other"))
        attaching.start()
        attached: list[float] = []
        _push_for(node, seconds, lambda: _note(attaching, attached, began))
        attaching.join()
        node.stop(now=True)
    phases = {
        "alone": (0.0, slow_from - 1.0),
        "slow": (slow_from, began),
        "attach": (began, began + 1.0),
        "after": (began + 1.0, slow_from + SLOW_S - 2.0),
    }
    figures = {"beside_attach_ms": 1e3 * (attached or [time.perf_counter() - began])[0]}
    for phase, (begin, end) in phases.items():
        delays = [1e3 * delay for at, delay in late if begin <= at < end]
        figures[f"beside_{phase}_ms_p50"], figures[f"beside_{phase}_ms_max"] = median(delays), max(delays)
    figures["beside_train_ms_max"] = max(trains)
    say(f"during a train of {SLOW_S:g} s: {figures}")
    return figures


def _note(attaching: threading.Thread, attached: list[float], began: float) -> None:
    if not attached and not attaching.is_alive():
        attached.append(time.perf_counter() - began)


def _network() -> Network:
    net = NetworkBuilder("beside")
    stream = net.input("s", "v long, at long")
    stream.point("past", history="1 h")
    stream.aggregate({"n": "count(*)"}, Order("at"), size=1, as_="main").output("main")
    return net.build()


def _query(where: str) -> Network:
    net = NetworkBuilder("query")
    net.input("past", "v long, at long").filter(where).output("found")
    return net.build()


def _push_for(node: Node, seconds: float, then: Callable[[], None] = lambda: None) -> None:
    """Push at a steady rate; each push has its own order value, which closes the window before it."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        at = time.time_ns() // 1_000
        node.push("s", pa.table({"v": np.arange(TUPLES), "at": np.full(TUPLES, at)}))
        then()
        time.sleep(1 / PUSHES_PER_S)


def _read(node: Node, late: list[tuple[float, float]]) -> None:
    """Note how late each window is: since the next push, which closed it."""
    for table in node.subscribe("main"):
        now = time.time_ns() // 1_000
        late += [(time.perf_counter(), (now - at) / 1e6) for at in table["at"].to_pylist()]
