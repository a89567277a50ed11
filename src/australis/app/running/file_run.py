"""Runs files through a network: stored tables and stores first, then the inputs in turns, then the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Network
from australis.app.running.engines import Engine
from australis.app.running.tally import RunTally
from australis.engine import LogClock, wall_clock
from australis.engine.files import Batch, Reader, Rejected, Writer


@dataclass(frozen=True)
class RunSetup:
    """Everything that a run needs."""

    network: Network
    engine: Engine
    readers: Mapping[str, Reader]
    writers: Mapping[str, Writer]
    batch: int
    flush: bool
    strict: bool
    now: Callable[[], int]


def stopped_clock() -> Callable[[], int]:
    """A clock that always shows the time at which it was made."""
    moment = wall_clock()
    return lambda: moment


def run(plan: RunSetup, progressed: Callable[[int], None]) -> RunTally:
    """Run a plan; `progressed` is called after every turn with the number of tuples so far."""
    return _FileRun(plan, progressed).run()


class _FileRun:
    def __init__(self, plan: RunSetup, progressed: Callable[[int], None]) -> None:
        self._plan, self._progressed = plan, progressed
        self._now = LogClock(plan.now)
        self._tally = RunTally.of(plan.network)

    def run(self) -> RunTally:
        inputs = self._plan.network.inputs
        for name in (name for name, given in inputs.items() if given.table):
            for batch in self._batches(name):
                self._take(name, batch, partial(self._plan.engine.load, name))
        for name in (name for name in self._streams() if inputs[name].store is not None):
            self._push_store(name)
        turns = [(name, self._batches(name)) for name in self._streams() if inputs[name].store is None]
        for name in self._streams():
            self._plan.readers[name].while_waiting(self._wait)
        while turns:
            turns = [(name, batches) for name, batches in turns if self._turn(name, batches)]
        if self._plan.flush:
            self._emit(self._plan.engine.flush(self._now()))
        return self._tally

    def _push_store(self, name: str) -> None:
        """Push all rows of a store, before the inputs take turns, as a node does."""
        batches = self._batches(name)
        while self._turn(name, batches):
            pass

    def _streams(self) -> Iterator[str]:
        return (name for name, given in self._plan.network.inputs.items() if not given.table)

    def _batches(self, name: str) -> Iterator[Batch]:
        reader = self._plan.readers[name]
        return (_cut if reader.is_live else _sized)(reader.batches(), self._plan.batch)

    def _wait(self) -> None:
        """Let timeouts fall due while an input has nothing to deliver."""
        self._emit(self._plan.engine.tick(self._now()))
        self._progressed(sum(self._tally.read.values()))

    def _turn(self, name: str, batches: Iterator[Batch]) -> bool:
        batch = next(batches, None)
        if batch is None:
            return False
        self._take(name, batch, lambda table: self._plan.engine.push(name, table, self._now()))
        return True

    def _take(self, name: str, batch: Batch, event: Callable[[pa.Table], dict[str, pa.Table]]) -> None:
        self._tally.read[name] += batch.table.num_rows
        self._tally.rejected[name] += len(batch.rejected)
        if batch.rejected:
            self._quarantine(_quarantined(batch.rejected, f"{self._plan.network.name}.{name}"))
        if batch.table.num_rows:
            self._emit(event(batch.table))
        self._progressed(sum(self._tally.read.values()))

    def _emit(self, outputs: Mapping[str, pa.Table]) -> None:
        for name, table in outputs.items():
            if not table.num_rows:
                continue
            if name == QUARANTINE:
                self._quarantine(table)
                continue
            self._tally.written[name] += table.num_rows
            if name in self._plan.writers:
                self._plan.writers[name].write(table)

    def _quarantine(self, table: pa.Table) -> None:
        self._tally.quarantine(table, strict=self._plan.strict)
        if QUARANTINE in self._plan.writers:
            self._plan.writers[QUARANTINE].write(table)


def _quarantined(rows: tuple[Rejected, ...], path: str) -> pa.Table:
    columns = [[path] * len(rows), [row.reason for row in rows], [row.tuple for row in rows]]
    return pa.Table.from_arrays(
        [pa.array(column, pa.string()) for column in columns], schema=QUARANTINE_SCHEMA.arrow
    )


def _cut(batches: Iterator[Batch], size: int) -> Iterator[Batch]:
    """The same rows in batches of at most a size, without waiting for rows that may never come."""
    for batch in batches:
        yield Batch(batch.table.slice(0, size), batch.rejected)
        for start in range(size, batch.table.num_rows, size):
            yield Batch(batch.table.slice(start, size))


def _sized(batches: Iterator[Batch], size: int) -> Iterator[Batch]:
    """The same rows in batches of a size; rejected rows go with the first rows read after them."""
    waiting: list[pa.Table] = []
    rejected: tuple[Rejected, ...] = ()
    count = 0
    for batch in batches:
        rejected += batch.rejected
        waiting.append(batch.table)
        count += batch.table.num_rows
        if count >= size or len(rejected) >= size:
            whole = pa.concat_tables(waiting)
            for start in range(0, count - count % size, size):
                yield Batch(whole.slice(start, size), rejected)
                rejected = ()
            count %= size
            waiting = [whole.slice(whole.num_rows - count)]
            if rejected:
                yield Batch(whole.slice(0, 0), rejected)
                rejected = ()
    if count or rejected:
        yield Batch(pa.concat_tables(waiting), rejected)
