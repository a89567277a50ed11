"""Opens a store of any kind; and files as stores."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.algebra.expr import Expr
from australis.algebra.network import Network
from australis.algebra.schema import Schema
from australis.algebra.store import FileFormat, Store, StoreKind
from australis.engine.files import Batch, open_reader
from australis.engine.tables.postgresql import PostgresqlStored
from australis.engine.tables.sqlite import SqliteStored
from australis.engine.tables.stored import Stored, resolved


class FileStored(Stored):
    """A file: it has no index, so it is always read whole."""

    def __init__(
        self, path: str, store: Store, schema: Schema, timezone: str, format: FileFormat | None = None
    ) -> None:
        super().__init__(path, store, schema, timezone)
        self._reader = open_reader(resolved(store, path), schema, timezone=timezone, format=format)

    def size(self) -> int:
        return self._reader.size or 0

    def read(self, where: Expr | None = None) -> Batch:
        batches = list(self._reader.batches())
        table = pa.concat_tables([self.schema.arrow.empty_table(), *(batch.table for batch in batches)])
        return Batch(table, tuple(row for batch in batches for row in batch.rejected))

    def looks_up(self, names: Sequence[str]) -> bool:
        return False

    def lookup(self, keys: pa.Table) -> Batch:
        raise self.trouble("cannot be asked for keys", "a table of a database")

    def close(self) -> None:
        self._reader.close()


_OPENED: dict[StoreKind, type[Stored]] = {
    StoreKind.SQLITE: SqliteStored,
    StoreKind.POSTGRESQL: PostgresqlStored,
}


def open_store(network: Network, name: str) -> Stored:
    """The store of an input; one that is gone, or has another schema than the input, is refused."""
    given = network.inputs[name]
    assert given.store is not None, "the input has a store"
    path = f"{network.name}.{name}"
    if given.store.kind is StoreKind.FILE:
        return FileStored(path, given.store, given.arriving, network.timezone, given.format)
    return _OPENED[given.store.kind](path, given.store, given.arriving, network.timezone)
