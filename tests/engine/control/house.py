"""A small node for the tests of the channel: ad hoc queries on the reference, over one connection point."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis import NetworkBuilder
from australis.algebra.grafting import output_names
from australis.algebra.network import Network
from australis.app.running.engines import Engine, start_engine
from australis.engine.control.client import Control, reach
from australis.engine.control.server import ControlServer
from australis.engine.deliver.subscription import Ending, Readers, Subscription
from australis.errors import EngineError, PolicyError, Problem

SCHEMA = "car int not null, speed double"


def running(name: str = "cars") -> Network:
    """The network that the house runs."""
    net = NetworkBuilder(name)
    net.input("pos", SCHEMA).point("pos", history="forever").output("all")
    return net.build()


def fast(least: int = 80) -> Network:
    """A query for fast cars."""
    net = NetworkBuilder("fast")
    net.input("pos", SCHEMA).filter(f"speed > {least}").output("fast")
    return net.build()


def both() -> Network:
    """A query with two outputs."""
    net = NetworkBuilder("both")
    quick, slow = net.input("pos", SCHEMA).route("speed > 80")
    quick.output("quick")
    slow.output("slow")
    return net.build()


def cars(*speeds: float) -> pa.Table:
    """Tuples of so many cars."""
    return pa.table(
        {
            "car": pa.array(range(len(speeds)), pa.int32()),
            "speed": pa.array([float(speed) for speed in speeds], pa.float64()),
        }
    )


@dataclass
class Difference:
    """What another network changes."""

    name: str
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "lost": [], "tables": {n: t.num_rows for n, t in self.tables.items()}}

    def lines(self) -> Iterable[str]:
        yield f"the network is {self.name}"


class Query:
    """A query, whose results are kept for whoever subscribes."""

    def __init__(self, house: House, name: str, network: Network) -> None:
        self.name, self.network, self._house = name, network, house
        self.outputs = output_names(name, network)
        self.engine: Engine = start_engine("reference", network)
        self.found: dict[str, list[pa.Table]] = {output: [] for output in self.outputs.values()}
        self.taken = dict.fromkeys(self.outputs.values(), 0)
        """How many tables of each output were acknowledged."""

    def push(self, table: pa.Table) -> None:
        found = self.engine.push("pos", table, 0)
        for name, output in self.outputs.items():
            if found[name].num_rows:
                self.found[output].append(found[name])

    def subscribe(self, wanted: str, follow: bool, ending: Ending) -> Generator[pa.Table, None, None]:
        changed = self._house.changed
        while True:
            with changed:
                at = self.taken[wanted]
                while len(self.found[wanted]) == at and self.name in self._house.queries:
                    if not follow or ending.is_asked:
                        return
                    changed.wait()
                if self.name not in self._house.queries:
                    return
                table = self.found[wanted][at]
            yield table
            with changed:
                self.taken[wanted] += 1
                changed.notify_all()


class House:
    """Serves what a node serves."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.queries: dict[str, Query] = {}
        self.readers = Readers()
        self.current, self.paused = running(), False
        self.history: list[pa.Table] = []

    def push(self, table: pa.Table) -> None:
        with self.changed:
            self.history.append(table)
            for query in self.queries.values():
                query.push(table)
            self.changed.notify_all()

    def network(self) -> Network:
        return self.current

    def statistics(self) -> House:
        return self

    def as_dict(self) -> dict[str, Any]:
        return {"log_end": sum(table.num_rows for table in self.history)}

    def difference(self, network: Network) -> Difference:
        if network.name == "refused":
            raise EngineError(Problem("refused.pos", "would lose its type", "the type that it has"))
        if network.name == "broken":
            raise ValueError("nobody foresaw this")
        return Difference(network.name)

    def change(self, network: Network, *, tables: Mapping[str, pa.Table] | None = None) -> Difference:
        self.difference(network)
        self.current = network
        return Difference(network.name, tables or {})

    def attach(self, network: Network, *, name: str = "query") -> Query:
        with self.changed:
            if name in self.queries:
                raise EngineError(Problem(name, "is attached already", "another name"))
            query = self.queries[name] = Query(self, name, network)
            for table in self.history:
                query.push(table)
            self.changed.notify_all()
            return query

    def split(
        self,
        box: str,
        into: int = 2,
        *,
        by: Sequence[str] = (),
        any_order: bool = False,
        dry_run: bool = False,
    ) -> Difference:
        if box == "refused":
            raise PolicyError(Problem("refused", "has no groups"))
        return Difference(f"{box} {into} {list(by)} {any_order} {dry_run}")

    def unsplit(self, box: str, *, dry_run: bool = False) -> Difference:
        return Difference(f"{box} {dry_run}")

    def detach(self, name: str) -> None:
        with self.changed:
            if name not in self.queries:
                raise EngineError(Problem(name, "is no query"))
            del self.queries[name]
            self.changed.notify_all()

    def subscribe(self, output: str, *, consumer: str = "subscriber", follow: bool = True) -> Subscription:
        query = self.queries[consumer]
        claimed = (self.readers, (consumer, output, id(query)), output)
        return Subscription(claimed, lambda ending: query.subscribe(output, follow, ending), self.wake)

    def wake(self) -> None:
        with self.changed:
            self.changed.notify_all()

    def attached(self) -> dict[str, Network]:
        with self.changed:
            return {name: query.network for name, query in self.queries.items()}

    def refresh(self, name: str) -> int:
        raise EngineError(Problem("cars", f"{name!r} is no input with a store", "one of none"))

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def until(self, said: Any) -> None:
        """Wait until something is so; a test that waits in vain has a time limit."""
        with self.changed:
            self.changed.wait_for(said)


def reached(directory: Path) -> Control:
    found = reach(directory)
    assert found is not None
    return found


def bare(server: ControlServer) -> socket.socket:
    """A connection of somebody who does not know the rules."""
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.connect(server.place.address)
    return connected
