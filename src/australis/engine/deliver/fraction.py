"""What consumers can know of the tuples that they did not get: the fraction delivered of what they read."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from australis.engine.ledger import Catalog, taken_and_shed

DELIVERED = b"australis.delivered"
"""The metadata of a table that says which fraction of what was due is in it; not there if it is not known."""


def delivered(catalog: Catalog, way: Iterable[str], lo: int, hi: int) -> float | None:
    """The fraction of an output's tuples with numbers from `lo` up to `hi` that was not shed on the way.

    None where the trains that they came with are too long ago.
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
    """A table that says which fraction of what was due is in it."""
    if fraction is None:
        return table
    known = table.schema.metadata or {}
    return table.replace_schema_metadata({**known, DELIVERED: repr(fraction).encode()})
