"""What consumers can know of the tuples that they did not get: the fraction delivered of what they read."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from australis.engine.ledger.catalog import Catalog

DELIVERED = b"australis.delivered"
"""The metadata of a table that says which fraction of what was due is in it; not there if it is not known."""


def delivered(catalog: Catalog, way: Iterable[str], lo: int, hi: int) -> float | None:
    """The fraction of an output's tuples with numbers from `lo` up to `hi` that was not shed on the way.

    None where the trains that they came with are too long ago.
    """
    fraction = 1.0
    query = "select sum(received), sum(shed) from train where superbox = ? and lo < ? and hi > ?"
    for superbox in way:
        received, shed = catalog.rows(query, superbox, hi, lo)[0]
        if _is_forgotten(catalog, superbox, lo):
            return None
        fraction *= received / (received + shed) if shed else 1.0
    return fraction


def _is_forgotten(catalog: Catalog, superbox: str, lo: int) -> bool:
    """Whether trains with numbers from `lo` on are not known any more."""
    query = "select count(*), coalesce(min(lo), ?) from train where superbox = ?"
    kept, oldest = catalog.rows(query, lo + 1, superbox)[0]
    return bool(catalog.head(superbox).version > kept and oldest > lo)


def labelled(table: pa.Table, fraction: float | None) -> pa.Table:
    """A table that tells which fraction of what was due is in it."""
    if fraction is None:
        return table
    known = table.schema.metadata or {}
    return table.replace_schema_metadata({**known, DELIVERED: repr(fraction).encode()})
