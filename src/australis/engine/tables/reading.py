"""Reads a store once: all of it, or what is new in it, in the form that is logged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from australis.algebra.network import Network
from australis.algebra.store import Pull
from australis.engine.files import Batch, Mark, Reader
from australis.engine.ingest import Position, loaded
from australis.engine.ledger import LOAD, PUSH
from australis.engine.tables.ascending import read_new
from australis.engine.tables.choosing import chosen
from australis.engine.tables.needed_rows import wanted
from australis.engine.tables.opening import open_store
from australis.engine.tables.stored import Stored


@dataclass(frozen=True)
class Found:
    """What was read of a store."""

    name: str
    path: str
    batch: Batch
    kind: str
    """Its kind in the log: a version of a table, or more tuples of a stream."""
    how: str
    position: Position
    is_news: bool = True
    """Whether it should be logged."""

    @property
    def rows(self) -> int | None:
        return None if self.how == Pull.LOOKUP else int(self.batch.table.num_rows)


def note_of(network: Network, name: str) -> str:
    """The source that represents a store: it has a position once the store was read."""
    return loaded(name) if network.inputs[name].table else f"{PUSH} {name}"


def read(network: Network, name: str, position: str | None, how: str | None) -> Found:
    """Read the store of an input; `position` is the note of the last time, `how` what was decided by then."""
    with open_store(network, name) as stored:
        return _read(network, name, stored, position, how)


def _read(network: Network, name: str, stored: Stored, position: str | None, how: str | None) -> Found:
    """Read an open store."""
    if not network.inputs[name].table:
        return _pushed(network, name, stored, position)
    pull = how or chosen(network, name, stored).value
    empty = Batch(stored.schema.arrow.empty_table())
    batch = empty if pull == Pull.LOOKUP else stored.read(wanted(network, name))
    return Found(name, stored.path, batch, LOAD, pull, (note_of(network, name), pull))


class StoreReader(Reader):
    """The rows of an input's store, in one batch; even a table that would be looked up is read whole."""

    def __init__(self, network: Network, name: str) -> None:
        self._network, self._name = network, name
        self._stored = open_store(network, name)
        self._is_read = False

    def batches(self) -> Iterator[Batch]:
        found = _read(self._network, self._name, self._stored, None, Pull.LOAD.value)
        self._is_read = True
        yield found.batch

    @property
    def mark(self) -> Mark:
        return Mark()

    def resume(self, mark: Mark) -> None:
        """A store cannot be resumed: it is read from its beginning."""

    def position(self) -> int:
        return int(self._is_read)

    @property
    def size(self) -> int:
        return 1

    def close(self) -> None:
        self._stored.close()


def _pushed(network: Network, name: str, stored: Stored, position: str | None) -> Found:
    where = wanted(network, name)
    if stored.store.ascending:
        batch, reached = read_new(stored, position, where)
    else:
        batch, reached = stored.read(where), json.dumps({"last": None})
    is_news = position is None or batch.table.num_rows > 0 or len(batch.rejected) > 0
    return Found(name, stored.path, batch, PUSH, PUSH, (note_of(network, name), reached), is_news)
