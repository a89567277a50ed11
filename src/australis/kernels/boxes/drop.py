"""Drop: sheds tuples by a hash of their number (Aurora 4.5)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.boxes import Drop
from australis.algebra.schema import Schema
from australis.kernels.arrays import Indexes, column, rows_of
from australis.kernels.kernel import CAUSE, Kernel, State, Step

NUMBER = "#number"


class DropKernel(Kernel):
    """Drops the tuples whose number, hashed to a fraction, is less than the rate.

    The state: `seen`, with the number of the next tuple.
    """

    def __init__(self, box: Drop, schemas: tuple[Schema, ...], timezone: str = "UTC") -> None:
        schema = schemas[0]
        self.output_schemas = box.output_schemas(schema)
        self._box = box
        self._names = schema.arrow_with_ts.names

    def start(self) -> State:
        return {"seen": pa.table({NUMBER: pa.array([0], pa.int64())})}

    def step(self, state: State, port: int, batch: pa.Table, now: int) -> Step:
        first = int(column(state["seen"], NUMBER)[0].as_py())
        after = {"seen": pa.table({NUMBER: pa.array([first + batch.num_rows], pa.int64())})}
        hashed = fractions(self._box.seed, np.arange(first, first + batch.num_rows))
        kept = np.flatnonzero(hashed >= self._box.rate)
        output = rows_of(batch.select(self._names), kept)
        return Step(after, (output.append_column(pa.field(CAUSE, pa.int64(), False), pa.array(kept)),))


def fractions(seed: int, numbers: Indexes | npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """The hash of SplitMix64 of a seed and some numbers, as fractions from 0 to 1.

    >>> fractions(0, np.array([0])).round(4).tolist()
    [0.8833]
    """
    z = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) / 2.0**53
