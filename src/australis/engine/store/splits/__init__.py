"""Splits: files of tuples that are grouped by partition of their readers' key.

In: tables, and the keys by which their readers are spread over tasks. Out: Parquet files of which a task
reads only its own partitions, and whose rows can be brought back into their order.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.engine.store.splits.dividing import WHOLE, SplitSettings, Splitting, divided
    from australis.engine.store.splits.layout import (
        ROW,
        Division,
        Split,
        in_order,
        partition_ends,
        read_parts,
        read_rows,
        write_split,
    )
else:
    # Whoever only reads files needs no kernels.
    __getattr__ = lazy_exports(
        __name__,
        {
            "dividing": ("WHOLE", "SplitSettings", "Splitting", "divided"),
            "layout": (
                "ROW",
                "Division",
                "Split",
                "in_order",
                "partition_ends",
                "read_parts",
                "read_rows",
                "write_split",
            ),
        },
    )

__all__ = [
    "ROW",
    "WHOLE",
    "Division",
    "Split",
    "SplitSettings",
    "Splitting",
    "divided",
    "in_order",
    "partition_ends",
    "read_parts",
    "read_rows",
    "write_split",
]
