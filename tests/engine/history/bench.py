"""What the tests of history share: a network on a root, whose superboxes are moved by hand, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.engine.change.deployment import deploy
from australis.engine.history.gathering import Gathering
from australis.engine.history.questions import question
from australis.engine.history.reading import recall
from australis.engine.ingest.log import Arrival, Ingest
from australis.engine.ledger.ledger import Ledger
from australis.engine.ledger.log import Head
from australis.engine.ledger.open_root import OpenRoot
from australis.engine.ledger.retention import arcs_with_history, log_needed_from, unneeded
from australis.engine.settings import NodeSettings
from australis.engine.store.root import Root
from australis.engine.store.segments import Segment, write_segment
from australis.engine.tables.known_tables import Tables
from australis.engine.threads import SYSTEM
from australis.engine.train.dispatch import Dispatch, TrainSettings
from australis.engine.worker.waybill import Waybill
from australis.plan.superboxes import Discipline

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

    ledger: Ledger
    ingest: Ingest
    now: int = 0
    gathering: Gathering = field(init=False)

    def __post_init__(self) -> None:
        self.gathering = Gathering(self.ledger, lambda: self.now)

    def push(self, table: pa.Table, name: str = "s") -> None:
        self.ingest.append(Arrival(name, self.ingest.store(name, table, self.now), self.now))

    def passed(self) -> None:
        """All superboxes have read all."""
        head = Head(self.ledger.queues.log_end, 1)
        self.stand(dict.fromkeys(self.ledger.plan.superboxes, head))

    def stand(self, heads: Mapping[str, Head]) -> None:
        """Superboxes have come so far, and no further."""
        with self.ledger.change() as change:
            for name, head in heads.items():
                change.set_head(name, head)

    def gather(self, arc: str = "s") -> int:
        """Make runs as long as there are full batches; gives how many tuples went into them."""
        total = 0
        while found := self.gathering.gather(arc):
            total += found
        return total

    def expire(self) -> int:
        """Drop what nobody needs, as the commit of a train does; gives how many tuples went."""
        with self.ledger.change() as change:
            dropped = unneeded(change.queues, arcs_with_history(change.queues), self.now)
            change.drop_segments(dropped)
            change.forget_events(log_needed_from(change.queues))
        return sum(segment.rows for segment in dropped)

    def emit(self, arc: str, table: pa.Table, part: int = 0) -> Segment:
        """Tuples that a superbox has written, as a train would."""
        writer = self.ledger.plan.arcs[arc].writer or ""
        segment = write_segment(self.ledger.root, arc, table, writer=writer, part=part)
        with self.ledger.change() as change:
            change.add_segments([segment])
        return segment

    def history(self, point: str = "past", **asked: object) -> pa.Table:
        """All that a connection point answers, as one table."""
        limit = asked.pop("limit", None)
        found = question(self.ledger.plan, point, **asked)  # type: ignore[arg-type]
        tables = list(recall(self.ledger, found, limit))  # type: ignore[arg-type]
        return pa.concat_tables(tables) if tables else pa.table({})

    def segments(self, arc: str = "s") -> list[Segment]:
        """What the catalogue has, which must be what the queues have."""
        found = self.ledger.catalog.segments(arc)
        assert sorted(found, key=repr) == sorted(self.ledger.queues.segments[arc], key=repr)
        return sorted(found, key=lambda each: each.base)

    def runs(self, arc: str = "s") -> list[Segment]:
        return [segment for segment in self.segments(arc) if segment.is_run]

    def files(self, point: str = "past") -> list[Path]:
        root = self.ledger.root.local
        assert root is not None
        return sorted((root / "history" / point).glob("*.parquet"))

    # --- trains

    def dispatch(self) -> Dispatch:
        return Dispatch(self.ledger, TrainSettings(1, 1, 1 << 20, 0), Tables())

    def make_waybill(self, dispatch: Dispatch, members: tuple[str, ...], most: int) -> Waybill:
        """The next train of some superboxes, of about so many tuples."""
        queues = self.ledger.queues
        end = queues.end(queues.plan.superboxes[members[0]])
        return dispatch.make_waybill(queues, members, end, most, {})[0]

    def waiting(self, dispatch: Dispatch, superbox: str) -> int:
        """How many tuples a train of a superbox would read."""
        queues = self.ledger.queues
        made = queues.plan.superboxes[superbox]
        return dispatch.waiting(queues, {made.id: queues.end(made)})[made.id]


@contextmanager
def opened(
    folder: Path, given: Network | None = None, discipline: Discipline = Discipline.TRAIN, now: int = 0
) -> Iterator[Bench]:
    """A bench on a root, new or as it was left."""
    place = OpenRoot(Root.of(folder))
    try:
        deploy(place.ledger, given or network(), NodeSettings(discipline))
        yield Bench(place.ledger, Ingest(place.ledger, SYSTEM), now)
    finally:
        place.close()
