"""Gates: what a drop box at a stream of a superbox lets in (Aurora 4.5).

Whether a tuple is shed follows from its sequence number and its values alone, so a train that is run again
sheds the same ones.
"""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import predicate
from australis.algebra.schema import Schema
from australis.engine.worker.waybill import GateDropBox
from australis.kernels.boxes import fractions
from australis.kernels.expressions import evaluate, truths
from australis.kernels.kernel import CAUSE


def let_in(drop_box: GateDropBox, superbox: str, table: pa.Table, schema: Schema, timezone: str) -> pa.Table:
    """The tuples of a stream that its drop box lets in."""
    # Each superbox has its own seed: a drop box behind another would find its share gone with one for all.
    seed = zlib.crc32(superbox.encode())
    shed = fractions(seed, table[CAUSE].to_numpy()) < drop_box.share
    if drop_box.where:
        bound = predicate(drop_box.where, schema, "where")
        shed &= truths(evaluate(bound, table.combine_chunks(), timezone))
    return table.filter(pa.array(np.logical_not(shed)))
