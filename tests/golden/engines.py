"""What runs the papers' examples: every engine with one interface, so that one test serves all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import pyarrow as pa

from australis.algebra.expr.tree import Value
from australis.algebra.network import Network
from australis.algebra.schema import TS
from australis.algebra.spans import microseconds
from australis.kernels.run import PipelineRun
from australis.reference.network import Emission, ReferenceRun
from australis.reference.row import Row

Rows = list[dict[str, Value]]


class Running(Protocol):
    """A network that runs on some engine; emissions have an output, values and a ts."""

    def push_batch(self, input_name: str, rows: Iterable[tuple[Any, int]], now: int) -> list[Any]: ...
    def tick(self, now: int) -> list[Any]: ...
    def flush(self, now: int) -> list[Any]: ...
    def load(self, table: str, rows: Iterable[Any]) -> list[Any]: ...


class Trace:
    """A run of a network, written as the papers write them: tuple by tuple, with what each one causes.

    Tuples are numbered from 1; a tuple's number is also its ts. Local time stands still
    unless a step says `now`.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._number = 0
        self._now = 0

    def push(self, input_name: str, now: int | None = None, **values: Value) -> Rows:
        """One tuple arrives; what the network emits."""
        return self.push_all(input_name, [values], now)

    def push_all(self, input_name: str, rows: Iterable[Mapping[str, Value]], now: int | None = None) -> Rows:
        """Tuples arrive together, as one batch."""
        numbered = []
        for row in rows:
            self._number += 1
            numbered.append((row, self._number))
        self._now = self._now if now is None else now
        return _values(self._running.push_batch(input_name, numbered, self._now))

    def load(self, table: str, rows: Iterable[Mapping[str, Value]]) -> None:
        """A stored table is read."""
        assert self._running.load(table, rows) == []

    def tick(self, now: int) -> Rows:
        """Time passes."""
        self._now = now
        return _values(self._running.tick(now))

    def flush(self) -> Rows:
        """The streams end."""
        return _values(self._running.flush(self._now))


Engine = Callable[[Network], Trace]
"""Starts a network."""


def reference(network: Network) -> Trace:
    """A network run by its meaning."""
    return Trace(ReferenceRun(network))


def kernels(network: Network) -> Trace:
    """A network run by the kernels."""
    return Trace(KernelRun(network))


class KernelRun:
    """A network on kernels that takes and gives plain rows, as the reference does."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._run = PipelineRun(network)

    def push_batch(self, input_name: str, rows: Iterable[tuple[Row, int]], now: int) -> list[Emission]:
        """Tuples, each with its ts, arrive together on an input."""
        return _emissions(self._run.push(input_name, self._table(input_name, rows), now))

    def load(self, table: str, rows: Iterable[Row]) -> list[Emission]:
        """A stored table is read."""
        return _emissions(self._run.load(table, self._table(table, [(row, 0) for row in rows])))

    def tick(self, now: int) -> list[Emission]:
        """Time passes."""
        return _emissions(self._run.tick(now))

    def flush(self, now: int) -> list[Emission]:
        """The streams end."""
        return _emissions(self._run.flush(now))

    def _table(self, input_name: str, rows: Iterable[tuple[Row, int]]) -> pa.Table:
        schema = self._network.inputs[input_name].schema.arrow_with_ts
        return pa.Table.from_pylist([{**row, TS: ts} for row, ts in rows], schema=schema)


def _emissions(outputs: Mapping[str, pa.Table]) -> list[Emission]:
    emissions = []
    for name, table in outputs.items():
        for row in _plain(table).to_pylist():
            ts = row.pop(TS)
            emissions.append(Emission(name, row, ts))
    return emissions


def _plain(table: pa.Table) -> pa.Table:
    """The table with timestamps as whole microseconds."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, table[field.name].cast(pa.int64()))
    return table


def clock(text: str) -> int:
    """A time of the day on 1 January 1970, such as 1:45, as a timestamp."""
    hours, minutes = text.split(":")
    return int(hours) * microseconds("1 h") + int(minutes) * microseconds("1 min")


def _values(emissions: Iterable[Any]) -> Rows:
    return [dict(emission.values) for emission in emissions]
