"""What consumers can know of the tuples that they did not get: the fraction that was delivered."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from australis.engine.ledger import Catalog, taken_and_shed

DELIVERED = b"australis.delivered"
"""The metadata of a table with the fraction of its tuples that was delivered; absent if unknown."""


def delivered(catalog: Catalog, way: Iterable[str], lo: int, hi: int) -> float | None:
    """The fraction of an output's tuples with numbers from `lo` up to `hi` that was not shed.

    None if the trains that delivered them are no longer recorded.
    """
    fraction = 1.0
    for superbox in way:
        counted = taken_and_shed(catalog, superbox, lo, hi)
        if counted is None:
            return None
        taken, shed = counted
        fraction *= taken / (taken + shed) if shed else 1.0
    return fraction


def labelled(table: pa.Table, fraction: float | None) -> pa.Table:
    """A table with the fraction that was delivered in its metadata."""
    if fraction is None:
        return table
    known = table.schema.metadata or {}
    return table.replace_schema_metadata({**known, DELIVERED: repr(fraction).encode()})
