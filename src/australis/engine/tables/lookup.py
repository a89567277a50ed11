"""Lookups: how a task queries a database for the keys of its tuples, and caches the answers.

An answer, even that there is no row, is cached until a refresh gives the table another version or memory is
short. Connections are opened in the worker that asks, and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.network import Input, Network
from australis.algebra.schema import Schema
from australis.engine.tables.opening import open_store
from australis.engine.tables.stored import Stored
from australis.errors import EngineError
from australis.kernels.arrays import Indexes, encode

Names = tuple[str, ...]


class LookupFailed(EngineError):
    """A database did not answer: the train that asked never happened, and is to be retried."""


@dataclass(frozen=True)
class Answers:
    """Keys that were asked for, and their rows, sorted by the index of their keys."""

    keys: pa.Table
    rows: pa.Table
    starts: Indexes
    """Where the rows of each key begin, and where the last ones end."""

    @classmethod
    def none(cls, schema: Schema, names: Names) -> Answers:
        empty = schema.arrow.empty_table()
        return cls(empty.select(list(names)), empty, np.zeros(1, np.int64))

    def more(self, keys: pa.Table, found: pa.Table) -> Answers:
        """Add keys after those that are known, and the rows that were found for them."""
        codes = encode(keys, keys.num_rows, found.select(keys.column_names)).codes
        # A database may equate more than we do, and find rows for keys that nobody asked for.
        places = np.flatnonzero((codes >= self.keys.num_rows) & (codes < keys.num_rows))
        places = places[np.argsort(codes[places], kind="stable")]
        rows = pa.concat_tables([self.rows, found.take(pa.array(places))]).combine_chunks()
        ends = np.searchsorted(codes[places], np.arange(self.keys.num_rows, keys.num_rows), "right")
        return Answers(keys, rows, np.concatenate([self.starts, self.rows.num_rows + ends]))

    def of(self, codes: Indexes) -> pa.Table:
        """The rows of some keys, by their indices."""
        lows = self.starts[codes]
        counts = self.starts[codes + 1] - lows
        shifts = np.cumsum(counts) - counts
        places = np.repeat(lows - shifts, counts) + np.arange(counts.sum())
        return self.rows.take(pa.array(places))

    @property
    def nbytes(self) -> int:
        return int(self.keys.nbytes + self.rows.nbytes)


class TableLookup:
    """Queries one stored table."""

    def __init__(self, network: Network, name: str) -> None:
        self._network, self._name = network, name
        self._schema = network.inputs[name].schema
        self._stored: Stored | None = None
        self._version = -1
        self._budget = 0
        self._answers: dict[Names, Answers] = {}

    def renew(self, version: int, budget: int) -> None:
        """Forget all answers of another version; at most `budget` bytes of them are kept."""
        self._budget = budget
        if version != self._version:
            self._version = version
            self._forget()

    def __call__(self, keys: pa.Table) -> pa.Table:
        """All rows that have one of some keys."""
        names = tuple(keys.column_names)
        known = self._answers.pop(names, None) or Answers.none(self._schema, names)
        found = encode(known.keys, known.keys.num_rows, keys.cast(known.keys.schema))
        new = found.keys.slice(known.keys.num_rows)
        if new.num_rows:
            known = known.more(found.keys, self._ask(new))
        if known.nbytes <= self._budget:
            self._answers[names] = known
        return known.of(found.codes)

    def _ask(self, keys: pa.Table) -> pa.Table:
        """Query the database; a connection that has died since its last use is opened again."""
        is_fresh = self._stored is None
        try:
            return self._open().lookup(keys).table
        except EngineError as error:
            self._forget()
            if is_fresh:
                raise LookupFailed(error.problem) from error
        return self._ask(keys)

    def _open(self) -> Stored:
        if self._stored is None:
            self._stored = open_store(self._network, self._name)
        return self._stored

    def _forget(self) -> None:
        self._answers.clear()
        if self._stored is not None:
            self._stored.close()
            self._stored = None


_lookups: dict[tuple[str, str, Input], TableLookup] = {}


def lookups(root: str, network: Network, names: Iterable[str]) -> dict[str, TableLookup]:
    """The lookups of a network's tables, created once in a worker."""
    found = {name: (root, name, network.inputs[name]) for name in names if name in network.inputs}
    return {name: _lookups.setdefault(key, TableLookup(network, name)) for name, key in found.items()}


def renew(root: str, network: Network, versions: Mapping[str, int], budget: int) -> None:
    """Tell lookups the versions of their tables."""
    for name, lookup in lookups(root, network, versions).items():
        lookup.renew(versions[name], budget)
