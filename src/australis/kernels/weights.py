"""Weights: how many tuples of its stream each tuple stands for."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def weighed(batch: pa.Table, weight: str | None) -> pa.Table:
    """Arriving tuples with their weights: 1 where they come without.

    >>> weighed(pa.table({"bytes": [70, 80]}), "copies")["copies"].to_pylist()
    [1.0, 1.0]
    >>> weighed(pa.table({"copies": [None, 100.0]}), "copies")["copies"].to_pylist()
    [1.0, 100.0]
    """
    if weight is None:
        return batch
    if weight not in batch.column_names:
        return batch.append_column(weight, pa.repeat(1.0, batch.num_rows))
    if batch.column_names.count(weight) > 1 or not batch[weight].null_count:
        return batch
    found, place = batch[weight], batch.column_names.index(weight)
    if pa.types.is_null(found.type):
        return batch.set_column(place, weight, pa.repeat(1.0, batch.num_rows))
    is_number = pa.types.is_floating(found.type) or pa.types.is_integer(found.type)
    return batch.set_column(place, weight, found.fill_null(1)) if is_number else batch


def scaled(batch: pa.Table, weight: str, factor: float) -> pa.Table:
    """Tuples that stand for so many times more."""
    place = batch.column_names.index(weight)
    return batch.set_column(place, batch.field(place), pc.multiply(batch[weight], factor))
