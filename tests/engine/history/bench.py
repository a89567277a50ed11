"""What the tests of history share: a network on a root, whose superboxes are moved by hand, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.change.deploy import deploy
from australis.engine.history.gathering import Gathering
from australis.engine.history.question import question
from australis.engine.history.reading import recall
from australis.engine.ingest.log import Ingest
from australis.engine.ledger.catalog import Head
from australis.engine.ledger.open_root import OpenRoot
from australis.engine.ledger.queues import Queues
from australis.engine.settings import NodeSettings
from australis.engine.shared import Ground
from australis.engine.steer.steering import Steering
from australis.engine.store.root import Root
from australis.engine.store.segments import Segment, write_segment
from australis.engine.train.trains import Settings, Trains
from australis.plan.superboxes import Discipline, plan

SECOND = 1_000_000
SCHEMA = "k int, v double, note string"


def network(history: str | int | None = "forever", key: str | None = "k", schema: str = SCHEMA) -> Network:
    """An input that is a connection point, and a filter that reads it."""
    net = NetworkBuilder("n")
    stream = net.input("s", schema).point("past", history=history, key=key)
    stream.filter("k > 2", as_="some").output("out")
    return net.build()


def tuples(first: int, count: int) -> pa.Table:
    """Tuples with keys that come again."""
    numbers = range(first, first + count)
    return pa.table(
        {
            "k": pa.array([number * 7 % 10 for number in numbers], pa.int32()),
            "v": pa.array([number / 2 for number in numbers], pa.float64()),
            "note": [f"note {number}" for number in numbers],
        }
    )


@dataclass
class Bench:
    """A network on a root; time and heads are moved by the test."""

    ground: Ground
    ingest: Ingest
    now: int = 0
    gathering: Gathering = field(init=False)

    def __post_init__(self) -> None:
        self.gathering = Gathering(self.ground)

    def push(self, table: pa.Table, name: str = "s") -> None:
        self.ingest.append(name, self.ingest.store(name, table, self.now), self.now)

    def passed(self) -> None:
        """All superboxes have read all."""
        with self.ground.catalog.transaction() as transaction:
            for name in self.ground.plan.superboxes:
                head = Head(self.ground.queues.log_end, 1)
                self.ground.queues.advance(name, head)
                transaction.set_head(name, head)

    def gather(self, arc: str = "s") -> int:
        """Make runs as long as there are full batches; gives how many tuples went into them."""
        total = 0
        while found := self.gathering.gather(arc):
            total += found
        return total

    def expire(self) -> int:
        """Drop what nobody needs, as the commit of a train does; gives how many tuples went."""
        queues = self.ground.queues
        dropped = queues.unneeded(queues.remembering, self.now)
        queues.remove(dropped)
        with self.ground.catalog.transaction() as transaction:
            transaction.drop_segments(dropped)
            transaction.forget_events(queues.log_needed())
        self.ground.graveyard.bury(segment.name for segment in dropped if not segment.adopted)
        return sum(segment.rows for segment in dropped)

    def emit(self, arc: str, table: pa.Table, part: int = 0) -> Segment:
        """Tuples that a superbox has written, as a train would."""
        writer = self.ground.plan.arcs[arc].writer or ""
        segment = write_segment(self.ground.root, arc, table, writer=writer, part=part)
        with self.ground.catalog.transaction() as transaction:
            transaction.add_segments([segment])
        self.ground.queues.add([segment])
        return segment

    def history(self, point: str = "past", **asked: object) -> pa.Table:
        """All that a connection point answers, as one table."""
        limit = asked.pop("limit", None)
        found = question(self.ground.plan, point, **asked)  # type: ignore[arg-type]
        tables = list(recall(self.ground, found, limit))  # type: ignore[arg-type]
        return pa.concat_tables(tables) if tables else pa.table({})

    def segments(self, arc: str = "s") -> list[Segment]:
        """What the catalogue has, which must be what the queues have."""
        found = self.ground.catalog.segments(arc)
        assert sorted(found, key=repr) == sorted(self.ground.queues.segments[arc], key=repr)
        return sorted(found, key=lambda each: each.base)

    def runs(self, arc: str = "s") -> list[Segment]:
        return [segment for segment in self.segments(arc) if segment.is_run]

    def files(self, point: str = "past") -> list[Path]:
        root = self.ground.root.local
        assert root is not None
        return sorted((root / "history" / point).glob("*.parquet"))

    def trains(self) -> Trains:
        settings = NodeSettings().for_network(self.ground.plan.network)
        return Trains(self.ground, Settings(1, 1, 1 << 20), Steering(self.ground, settings))


@contextmanager
def opened(
    folder: Path, given: Network | None = None, discipline: Discipline = Discipline.TRAIN, now: int = 0
) -> Iterator[Bench]:
    """A bench on a root, new or as it was left."""
    made = given or network()
    root = Root.of(folder)
    place = OpenRoot(root)
    try:
        deploy(root, place.catalog, made, NodeSettings(discipline))
        queues = Queues(plan(made, discipline), place.catalog)
        changed = threading.Condition(threading.RLock())
        ground = Ground(root, place.catalog, place.graveyard, queues, changed, lambda: bench.now)
        bench = Bench(ground, Ingest(root, place.catalog, queues), now)
        yield bench
    finally:
        place.close()
