"""Values of outputs as histograms, in the bins of their value graphs."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from australis.qos.histograms import Bins, Counts, count


def binned(bins: Bins, table: pa.Table) -> Counts:
    """Counts the tuples of an output by the bins of its value graph."""
    column = table[bins.graph.attribute]
    if pa.types.is_string(column.type):
        found = pc.value_counts(column)
        return count(bins, found.field("values").to_numpy(False), found.field("counts").to_numpy())
    return count(bins, column.to_numpy())
