"""The scene: reports of cars, whose history a connection point keeps by car, and a few accidents."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from australis import Network, NetworkBuilder, Node, Order
from australis.engine.history import RUN_ROWS_MOST

CARS = 10_000
ROADS = [f"road {number:03d} from somewhere to elsewhere" for number in range(500)]
SCHEMA = (
    "at timestamp not null, car long not null, road string not null, km double not null,"
    " speed double not null, plate string not null, driver string not null, note string not null"
)
PLACES = "at timestamp not null, car long not null, km double not null"
ACCIDENTS = "at timestamp not null, car long not null, cost double not null"
STEP_US = 50
"""Between two reports, in event time: 20,000 per second."""
ORDER = Order("at", slack=2)


def fast(net: NetworkBuilder, reports: str, accidents: str) -> None:
    """A filter that passes one of a thousand."""
    net.input(reports, SCHEMA).filter("speed > 199.8", as_="fast").output("fast")


def average(net: NetworkBuilder, reports: str, accidents: str) -> None:
    """The average speed on each road, every ten seconds."""
    stream = net.input(reports, SCHEMA).map({"at": "at", "road": "road", "speed": "speed"}, as_="narrow")
    by_road = Order("at", group_by=("road",))
    stream.aggregate({"speed": "avg(speed)", "n": "count(*)"}, by_road, "10 seconds", as_="average").output(
        "average"
    )


def pairs(net: NetworkBuilder, reports: str, accidents: str) -> None:
    """The reports of a car around its accidents."""
    left = net.input(accidents, ACCIDENTS)
    right = net.input(reports, SCHEMA).map({"at": "at", "car": "car", "km": "km"}, as_="places")
    left.join(right, "left.car = right.car", size="5 seconds", left=ORDER, right=ORDER, as_="pairs").output(
        "pairs"
    )


QUERIES = {"fast": fast, "average": average, "pairs": pairs}


def query(name: str) -> Network:
    """An ad hoc query over the connection points."""
    net = NetworkBuilder(name)
    QUERIES[name](net, "reports", "accidents")
    return net.build()


def network() -> Network:
    """The running network: the connection points, and the queries from the start, for comparison."""
    net = NetworkBuilder("cars")
    reports, accidents = net.input("pos", SCHEMA), net.input("crash", ACCIDENTS)
    reports.point("reports", history="forever", key="car")
    accidents.point("accidents", history="forever")
    reports.filter("speed > 199.8", as_="fast").output("fast")
    narrow = reports.map({"at": "at", "road": "road", "speed": "speed"}, as_="narrow")
    by_road = Order("at", group_by=("road",))
    narrow.aggregate({"speed": "avg(speed)", "n": "count(*)"}, by_road, "10 seconds", as_="average").output(
        "average"
    )
    places = reports.map({"at": "at", "car": "car", "km": "km"}, as_="places").point("lately", history=20_000)
    accidents.join(
        places, "left.car = right.car", size="5 seconds", left=ORDER, right=ORDER, as_="pairs"
    ).output("pairs")
    return net.build()


def reports(first: int, count: int) -> pa.Table:
    """The reports from number `first` on."""
    rng = np.random.default_rng(first)
    at = np.arange(first, first + count) * STEP_US
    cars = rng.integers(0, CARS, count)
    roads = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, len(ROADS), count)), pa.array(ROADS))
    columns = {
        "at": pa.array(at).cast(pa.timestamp("us", "UTC")),
        "car": cars,
        "road": roads.cast(pa.string()),
        "km": rng.random(count) * 300,
        "speed": rng.random(count) * 200,
        "plate": pa.array(np.char.add("PL-", cars.astype(str))),
        "driver": pa.array(np.char.add("driver number ", rng.integers(0, 50_000, count).astype(str))),
        "note": pa.array(np.char.add("all is well, report ", np.arange(first, first + count).astype(str))),
    }
    return pa.table(columns)


def accidents(first: int) -> pa.Table:
    """Some accidents at the time of a report."""
    rng = np.random.default_rng(first + 1)
    at = np.sort(rng.integers(first, first + 1_000, 3)) * STEP_US
    return pa.table(
        {
            "at": pa.array(at).cast(pa.timestamp("us", "UTC")),
            "car": rng.integers(0, CARS, 3),
            "cost": rng.random(3) * 1e4,
        }
    )


@dataclass
class Feed:
    """Pushes reports at a pace, in a thread, and keeps their numbers in the log."""

    node: Node
    first: int
    per_second: int
    batch: int = 1_000
    pushed: list[tuple[int, int]] = field(default_factory=list)
    """For each push the numbers of its tuples, from and to."""

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        begin, number = time.monotonic(), 0
        try:
            while not self._ended.wait(
                max(0.0, begin + number * self.batch / self.per_second - time.monotonic())
            ):
                self._push(self.first + number * self.batch)
                number += 1
        except Exception as error:
            self.error = error

    def _push(self, first: int) -> None:
        end = self.node.push("pos", reports(first, self.batch))
        self.pushed.append((end - self.batch, end))
        if first // self.batch % 20 == 0:
            self.node.push("crash", accidents(first))


@contextmanager
def node_with_history(root: str, tuples: int) -> Iterator[Node]:
    """A node that has already received a number of reports."""
    with Node(root) as node:
        node.deploy(network())
        for output in ("fast", "average", "pairs"):
            node.consumer("bench", output)
        step = min(tuples, 500_000)
        for first in range(0, tuples, step):
            node.push("pos", reports(first, step))
            node.push("crash", accidents(first))
        node.drain()
        while _gathered(root) < tuples - RUN_ROWS_MOST:
            time.sleep(0.5)
        yield node


def _gathered(root: str) -> int:
    """How many reports are in runs, sorted by car."""
    files = (Path(root) / "history" / "reports").glob("*.parquet")
    return sum(pq.read_metadata(file).num_rows for file in files)
