"""The parts of a network that runs, put together in the test's own process: nothing starts by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from tests.engine import in_process

from australis.algebra.network import Network
from australis.engine.deliver.subscriptions import Subscriptions
from australis.engine.ingest import Arrival, Ingest
from australis.engine.ledger import NETWORK, OpenRoot, Record
from australis.engine.running import Running, assemble
from australis.engine.settings import NodeSettings
from australis.engine.store import Root
from australis.engine.tables import Keeper, Tables
from australis.engine.threads import SYSTEM
from australis.engine.worker import Manifest, RunTrain, Waybill
from australis.plan.superboxes import Discipline


@dataclass
class World:
    """What is outside of the parts: a clock that stands still, and what runs trains."""

    now: int = 1_000_000
    run: RunTrain = in_process.run
    waybills: list[Waybill] = field(default_factory=list)
    """The trains that were tried."""
    asked: int = 0
    """How often the clock was looked at."""

    def clock(self) -> int:
        self.asked += 1
        return self.now

    def runner(self, waybill: Waybill) -> list[Manifest]:
        self.waybills.append(waybill)
        return self.run(waybill)


@contextmanager
def assembled(
    folder: Path, network: Network, world: World, settings: NodeSettings | None = None, **queries: Network
) -> Iterator[Running]:
    """The parts of a network and of ad hoc queries; a loop that was started is stopped at the end."""
    settings = settings or NodeSettings(Discipline.TRAIN)
    place, tables = OpenRoot(Root.of(folder)), Tables(clock=world.clock)
    ledger = place.ledger
    record = Record(network, settings.discipline or Discipline.TRAIN, settings.partitions, queries)
    text, plan = record.to_json(), record.plan
    with ledger.change() as change:
        change.set_meta(NETWORK, text)
        change.run_plan(plan)
    ingest = Ingest(ledger, SYSTEM)
    keeper = Keeper(ledger, ingest, tables, world.clock, SYSTEM)
    running = assemble(
        ledger,
        ingest,
        tables,
        keeper,
        settings,
        world.runner,
        tasks=2,
        clock=world.clock,
        threads=SYSTEM,
    )
    try:
        yield running
    finally:
        keeper.stop()
        running.loop.end()
        running.loop.stop()
        place.close()


def push(running: Running, name: str, table: pa.Table) -> int:
    """Tuples arrive on an input; gives the end of the log."""
    now = running.clock()
    return running.ingest.append(Arrival(name, running.ingest.store(name, table, now), now))


def read(running: Running, output: str, column: str = "k") -> list[object]:
    """All values of a column that an output keeps."""
    subscriptions: Subscriptions = running.subscriptions
    found: list[object] = subscriptions.read(output)[column].to_pylist()
    return found
