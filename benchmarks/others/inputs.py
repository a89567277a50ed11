"""The stream of `benchmarks.engine` as two partitions, each in order of time.

Flink's file source gives out the files of a folder in no order, so it cannot take the engine's files, one
after another, without late tuples. Two partitions, of which each of its two readers takes one, are how it
would read a log: every other tuple is in the first one. The tuples of the warm-up are in two files of their
own, and the closing tuples of half of the keys are at the end of each partition.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.engine.inputs import ROW_GROUP

PARTITIONS = 2


def write_partitions(stream: Path, directory: Path) -> None:
    """The files of a stream as two partitions."""
    directory.mkdir(parents=True)
    first, *rest = (pq.read_table(path) for path in sorted(stream.glob("*.parquet")))
    for part, table in (("warm", first), ("rest", pa.concat_tables(rest))):
        for number in range(PARTITIONS):
            rows = table.take(np.arange(number, table.num_rows, PARTITIONS))
            pq.write_table(rows, directory / f"{part}-{number}.parquet", row_group_size=ROW_GROUP)
