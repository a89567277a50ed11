"""Gates: what a drop box at a stream of a superbox lets in (Aurora 4.5).

Whether a tuple is shed depends only on its sequence number, its rank among the tuples of that number, and its
values. Trains are cut only between numbers, so other cuts and repeated trains shed the same.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.algebra.boxes import predicate
from australis.algebra.schema import Schema
from australis.engine.worker.waybill import GateDropBox
from australis.kernels.arrays import Indexes
from australis.kernels.boxes import fractions
from australis.kernels.expressions import evaluate, truths
from australis.kernels.kernel import CAUSE

_STEP = np.uint64(0xD1B54A32D192ED03)
"""Odd, and far from any small multiple of the constant by which numbers are hashed."""


def let_in(drop_box: GateDropBox, superbox: str, table: pa.Table, schema: Schema, timezone: str) -> pa.Table:
    """The tuples of a stream that its drop box lets in."""
    # Each superbox has its own seed: with a common one, a second drop box would find its share already gone.
    seed = zlib.crc32(superbox.encode())
    shed = fractions(seed, _told_apart(table[CAUSE].to_numpy())) < drop_box.share
    if drop_box.where:
        bound = predicate(drop_box.where, schema, "where")
        shed &= truths(evaluate(bound, table.combine_chunks(), timezone))
    return table.filter(pa.array(np.logical_not(shed)))


def _told_apart(numbers: Indexes) -> npt.NDArray[np.uint64]:
    """Numbers to hash: tuples that a window emits for one event share a number, but are shed separately.

    Tuples with a unique number keep it.
    """
    found = numbers.astype(np.uint64)
    if np.all(numbers[1:] > numbers[:-1]):
        return found
    places = np.arange(len(numbers)) - np.searchsorted(numbers, numbers)
    return found + places.astype(np.uint64) * _STEP
