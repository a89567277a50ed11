"""Causes: the tuple of an event's batch that each tuple in a network comes from, and the resulting order.

The column CAUSE of a stream ascends. A kernel's step names rows of the batch that it took; `caused` names the
tuples of the event instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from australis.algebra.counters import BEFORE
from australis.kernels.arrays import Indexes, rows_of
from australis.kernels.kernel import CAUSE, Step, causes_of

NOBODY: Indexes = np.zeros(0, np.int64)
"""The causes of an empty batch."""


def caused(step: Step, causes: Indexes, otherwise: int = BEFORE) -> Step:
    """A step whose outputs name tuples of the event; `otherwise` is the cause of what no tuple caused."""
    by_row = np.append(causes, otherwise)  # Row -1 is the last one.
    outputs = tuple(with_causes(out, by_row[causes_of(out)]) for out in step.outputs)
    rejected = step.rejected
    if rejected is not None:
        rejected = with_causes(rejected, by_row[causes_of(rejected)])
    late = step.late_tuples
    if late is not None:
        late = with_causes(late, by_row[causes_of(late)])
    return replace(step, outputs=outputs, rejected=rejected, late_tuples=late)


def with_causes(batch: pa.Table, causes: Indexes) -> pa.Table:
    """A batch with other causes."""
    at = batch.column_names.index(CAUSE)
    return batch.set_column(at, batch.schema.field(at), pa.array(causes, pa.int64()))


def by_cause(batch: pa.Table) -> pa.Table:
    """A stream's tuples by their causes; the order within one cause is kept."""
    causes = causes_of(batch)
    if np.all(causes[1:] >= causes[:-1]):
        return batch
    return rows_of(batch, np.argsort(causes, kind="stable"))


def runs(batches: Mapping[int, pa.Table]) -> Iterator[tuple[int, pa.Table]]:
    """The tuples of several ports in one order, by cause and then by port, in long pieces."""
    ports = list(batches)
    causes = np.concatenate([causes_of(batches[port]) for port in ports])
    owners = np.repeat(np.arange(len(ports)), [batches[port].num_rows for port in ports])
    merged = owners[np.argsort(causes, kind="stable")]
    begins = np.flatnonzero(np.diff(merged, prepend=-1))
    lengths = np.diff(begins, append=len(merged))
    read = [0] * len(ports)
    for owner, length in zip(merged[begins].tolist(), lengths.tolist(), strict=True):
        yield ports[owner], batches[ports[owner]].slice(read[owner], length)
        read[owner] += length
