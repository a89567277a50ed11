"""The results in a few numbers that do not depend on the order of rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


@dataclass(frozen=True)
class Digest:
    """The number of rows of an output, and the sums of its time, key and value, and of key times value."""

    rows: int
    times: int
    keys: int
    values: float
    weighed: float

    def agrees(self, other: Digest) -> bool:
        """Whether they are equal, up to the rounding of sums of doubles in another order."""
        exact = (self.rows, self.times, self.keys) == (other.rows, other.times, other.keys)
        sums = ((self.values, other.values), (self.weighed, other.weighed))
        return exact and all(math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-3) for ours, theirs in sums)


def digest(tables: Iterable[pa.Table]) -> Digest:
    """The digest of the rows of some tables of time, key and value."""
    rows = times = keys = 0
    values = weighed = 0.0
    for table in tables:
        rows += table.num_rows
        # In milliseconds since 2026, so that the sum of many fits 64 bits.
        milliseconds = pc.divide(table["time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()), 1_000)
        times += pc.sum(pc.subtract(milliseconds, 1_767_225_600_000)).as_py() or 0
        keys += pc.sum(table["key"]).as_py() or 0
        values += pc.sum(table["value"]).as_py() or 0.0
        weighed += pc.sum(pc.multiply(table["value"], pc.cast(table["key"], pa.float64()))).as_py() or 0.0
    return Digest(rows, times, keys, values, weighed)


def digest_of_files(directory: Path, names: str = "*.parquet") -> Digest:
    """The digest of the Parquet files of some names below a directory."""
    columns = ["time", "key", "value"]
    paths = sorted(directory.rglob(names))
    return digest(pq.ParquetFile(path).read(columns=columns) for path in paths)


def as_json(digests: Mapping[str, Digest]) -> dict[str, dict[str, float]]:
    """Digests by output, for another process."""
    return {output: asdict(value) for output, value in digests.items()}


def from_json(document: Mapping[str, Mapping[str, float]]) -> dict[str, Digest]:
    """The digests that another process wrote."""
    return {output: Digest(**value) for output, value in document.items()}  # type: ignore[arg-type]
