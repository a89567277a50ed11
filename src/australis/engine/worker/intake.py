"""What a task reads of the streams of a train: only the attributes that its boxes need."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pyarrow as pa

from australis.algebra.network import Network, Ref
from australis.algebra.schema import TS, Schema
from australis.engine.store import SEQ, Cache, Root, Segment, merged, read_segment
from australis.engine.worker.waybill import Share, Waybill
from australis.errors import EngineError, Problem
from australis.kernels.kernel import CAUSE
from australis.plan.superboxes import Superbox
from australis.rewrite.needs import needs
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end

_VALUE_BYTES = 8

parts: Cache[pa.Table] = Cache()
"""Segments that trains read in parts."""


def narrowed(superbox: Superbox) -> Network | None:
    """The network of a superbox with only the needed attributes of its streams; None if all are needed.

    Boxes that keep whole tuples in their state, or may have to quarantine one, need all attributes.
    Attributes that must not be NULL are always read, to find the tuples in which they are.
    """
    network = superbox.network
    ordered = [box_id for box_id, node in network.boxes.items() if node.box.ordered]
    needed = needs(network, Statistics(running=ordered))
    inputs = dict(network.inputs)
    for name in superbox.streams:
        if not is_end(network, Ref(name)):
            wanted = {*needed[Ref(name)], *superbox.spread.keys.get(Ref(name), ())}
            schema = _narrow(inputs[name].schema, wanted)
            marked = inputs[name].marked.intersection(schema.names)
            inputs[name] = replace(inputs[name], schema=schema, marked=marked)
    return replace(network, inputs=inputs) if inputs != network.inputs else None


def _narrow(schema: Schema, wanted: Collection[str]) -> Schema:
    kept = tuple(field for field in schema if field.name in wanted or not field.nullable)
    return Schema(kept or schema.fields[:1])


class Intake:
    """Reads the streams of a share of a train."""

    def __init__(self, root: Root, waybill: Waybill, share: Share) -> None:
        self._root, self._waybill = root, waybill
        self._lo = max(waybill.time_slices[0].lo, share.lo)
        self._hi = min(waybill.time_slices[-1].hi, share.hi)

    def read(self, network: Network) -> dict[str, pa.Table]:
        """The tuples of each stream, with the attributes that its input has in a network."""
        streams = self._waybill.streams.items()
        return {
            name: self._stream(name, found, network.inputs[name].schema) for name, found in streams if found
        }

    def _stream(self, name: str, segments: tuple[Segment, ...], schema: Schema) -> pa.Table:
        lo, hi = self._lo, self._hi
        own = [each for each in segments if each.end > lo and each.base < hi] or segments[:1]
        tables = [_fitting(each, self._segment(name, each, schema), schema) for each in own]
        return merged(tables).combine_chunks().rename_columns({SEQ: CAUSE})

    def _segment(self, name: str, segment: Segment, schema: Schema) -> pa.Table:
        """A segment's tuples, cached if the train reads only a part of them: it will be needed again."""
        lo, hi, columns = self._lo, self._hi, list(schema.names)
        lookup = self._waybill.lookups.get(name)
        if lookup is not None and lookup.attribute == segment.key:
            return read_segment(self._root, segment, columns, lo, hi, lookup)
        is_large = max(segment.bytes, segment.rows * len(columns) * _VALUE_BYTES) > parts.budget // 4
        if is_large or (lo <= segment.base and segment.end <= hi):
            return read_segment(self._root, segment, columns, lo, hi)
        whole = parts.get(
            # A file may be adopted again, with other numbers; and others read other attributes of it.
            f"{segment.name}@{segment.base}({','.join(columns)})",
            lambda: read_segment(self._root, segment, columns, segment.base, segment.end),
            lambda table: table.nbytes,
            self._waybill.priorities.get(name, 0.0),
        )
        start, stop = np.searchsorted(whole[SEQ].to_numpy(), [lo, hi])
        return whole.slice(start, stop - start)


def _fitting(segment: Segment, table: pa.Table, schema: Schema) -> pa.Table:
    """The tuples of an adopted file in the types of a schema: equal keys must have equal types to match."""
    if not segment.adopted:
        return table
    target = [pa.field(each.name, each.type.arrow) for each in schema]
    target += [table.schema.field(name) for name in (TS, SEQ)]
    try:
        return table.cast(pa.schema(target))
    except pa.ArrowException as error:
        raise EngineError(
            Problem(segment.name, f"has values that do not fit: {error}", f"({schema})")
        ) from error


def are_tuples(streams: dict[str, pa.Table], network: Network) -> bool:
    """Whether no tuple has a NULL where a value is required, so that none has to be quarantined."""
    return not any(
        table[field.name].null_count
        for name, table in streams.items()
        for field in network.inputs[name].schema
        if not field.nullable
    )
