"""What every stored data set is: one that can be read whole, or queried for the rows of some keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.algebra.expr import Expr
from australis.algebra.schema import Schema
from australis.algebra.store import Store, StoreKind
from australis.engine.addresses import filled_in
from australis.engine.files import Batch, Rejected, as_json, null_faults, without
from australis.errors import EngineError, Problem


class Stored(ABC):
    """An open data set, whose schema was checked. A context manager that closes it."""

    def __init__(self, path: str, store: Store, schema: Schema, timezone: str) -> None:
        self.path, self.store, self.schema, self.timezone = path, store, schema, timezone

    @abstractmethod
    def size(self) -> int:
        """About how many rows there are."""

    @abstractmethod
    def read(self, where: Expr | None = None) -> Batch:
        """All rows as of one moment; some for which `where` is not true may be left out."""

    @abstractmethod
    def looks_up(self, names: Sequence[str]) -> bool:
        """Whether rows can be looked up by the values of some attributes."""

    @abstractmethod
    def lookup(self, keys: pa.Table) -> Batch:
        """The rows with one of some keys, which are distinct and without NULLs; others may be among them."""

    @abstractmethod
    def close(self) -> None:
        """Close the file or the connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def trouble(self, what: str, expected: str = "") -> EngineError:
        """An error of the store; its text never shows secrets."""
        return EngineError(Problem(self.path, f"{self.store} {what}", expected))

    def fitting(self, columns: Mapping[str, pa.Array], faults: Mapping[int, str]) -> Batch:
        """Columns as rows of the schema, without those that have a fault or a NULL where none is allowed."""
        arrays = [columns[name] for name in self.schema.names]
        table = pa.Table.from_arrays(arrays, schema=_nullable(self.schema))
        found = {**null_faults(self.schema, dict(columns)), **faults}
        rejected = (
            Rejected(reason, as_json(table.slice(row, 1).to_pylist()[0]))
            for row, reason in sorted(found.items())
        )
        return Batch(without(table, found).cast(self.schema.arrow), tuple(rejected))


def _nullable(schema: Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema.arrow])


def resolved(store: Store, path: str) -> str:
    """The address of a store, with the values of the environment variables that it names."""
    is_url = store.kind is not StoreKind.FILE
    return filled_in(store.at, f"{path}.store.at", "a store", quoted=is_url)
