"""What a task reads of the streams of a train: only the attributes that its boxes need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from australis.algebra.network import Network, Ref
from australis.algebra.schema import TS, Schema
from australis.algebra.types import TIMESTAMP
from australis.engine.store import (
    SEQ,
    Cache,
    Root,
    Segment,
    Split,
    divided,
    merged,
    read_partitions,
    read_segment,
)
from australis.engine.worker.waybill import Share, Waybill
from australis.errors import EngineError, Problem
from australis.kernels.kernel import CAUSE
from australis.plan.superboxes import Superbox
from australis.rewrite.needs import needs
from australis.rewrite.statistics import Statistics
from australis.rewrite.streams import is_end

_VALUE_BYTES = 8

parts: Cache[tuple[pa.Table, ...]] = Cache()
"""Segments that trains read in parts: whole, or some of their partitions."""
Keys = Mapping[Ref, tuple[str, ...]]
"""The attributes by which each stream is divided."""
Wanted = tuple[int, ...]
"""The partitions of a share."""
Partitions = Mapping[int, Mapping[str, pa.Table]]
"""The tuples of each stream by partition."""


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
        self._wanted = share.partitions

    def read(self, network: Network, keys: Keys | None) -> Partitions:
        """The tuples of each partition of the share, with the attributes that inputs have in a network.

        Without keys, the tuples are not divided: the first partition has all of them.
        """
        inputs, found = network.inputs, self._segments.items()
        if keys is None:
            tables = {name: [self._stream(name, each, inputs[name].schema)] for name, each in found}
            return _by_place(tables, self._wanted[:1])
        tables = {
            name: self._divided(name, each, inputs[name].schema, keys[Ref(name)]) for name, each in found
        }
        return _by_place(tables, self._wanted)

    @property
    def _segments(self) -> dict[str, tuple[Segment, ...]]:
        """The segments of the streams that have some."""
        return {name: found for name, found in self._waybill.streams.items() if found}

    def _stream(self, name: str, segments: tuple[Segment, ...], schema: Schema) -> pa.Table:
        lo, hi = self._lo, self._hi
        own = [each for each in segments if each.end > lo and each.base < hi] or segments[:1]
        return _joined(_fitting(each, self._segment(name, each, schema), schema) for each in own)

    def _divided(
        self, name: str, segments: tuple[Segment, ...], schema: Schema, keys: tuple[str, ...]
    ) -> list[pa.Table]:
        """The tuples of a stream by partition of the share."""
        count, wanted = self._waybill.partitions, self._wanted
        found: list[list[pa.Table]] = [[_no_tuples(schema)] for _ in wanted]
        for segment in (each for each in segments if each.end > self._lo and each.base < self._hi):
            split = Split.parse(segment.split) if segment.split else None
            if split is None or not split.is_by(keys, count):
                whole = _fitting(segment, self._segment(name, segment, schema), schema)
                tables: Sequence[pa.Table] = divided(whole, keys, count, wanted)
            else:
                tables = self._own(name, segment, schema) if split.has_any(wanted) else ()
            for pieces, table in zip(found, tables, strict=bool(tables)):
                pieces.append(table)
        return [_joined(pieces) for pieces in found]

    def _segment(self, name: str, segment: Segment, schema: Schema) -> pa.Table:
        """A segment's tuples."""
        columns, lookup = list(schema.names), self._waybill.lookups.get(name)
        if lookup is not None and lookup.attribute == segment.key:
            return read_segment(self._root, segment, columns, self._lo, self._hi, lookup)
        read = partial(read_segment, self._root, segment, columns)
        return self._kept(name, segment, columns, "", lambda lo, hi: (read(lo, hi),))[0]

    def _own(self, name: str, segment: Segment, schema: Schema) -> tuple[pa.Table, ...]:
        """The tuples of a split segment by partition of the share."""
        columns, wanted = list(schema.names), self._wanted
        read = partial(read_partitions, self._root, segment, columns, wanted=wanted)
        return self._kept(name, segment, columns, f"/{wanted}", read)

    def _kept(
        self,
        name: str,
        segment: Segment,
        columns: list[str],
        what: str,
        read: Callable[[int, int], tuple[pa.Table, ...]],
    ) -> tuple[pa.Table, ...]:
        """What is read of a segment, cached if the train reads only some numbers: it will be needed again."""
        lo, hi = self._lo, self._hi
        is_large = max(segment.bytes, segment.rows * len(columns) * _VALUE_BYTES) > parts.budget // 4
        if is_large or (lo <= segment.base and segment.end <= hi):
            return read(lo, hi)
        whole = parts.get(
            # A file may be adopted again, with other numbers; and others read other attributes of it.
            f"{segment.name}@{segment.base}({','.join(columns)}){what}",
            lambda: read(segment.base, segment.end),
            lambda tables: sum(table.nbytes for table in tables),
            self._waybill.priorities.get(name, 0.0),
        )
        return tuple(_between(table, lo, hi) for table in whole)


def by_partition(streams: Mapping[str, pa.Table], keys: Keys, count: int, wanted: Wanted) -> Partitions:
    """The tuples of streams by partition."""
    return _by_place(
        {name: divided(table, keys[Ref(name)], count, wanted) for name, table in streams.items()}, wanted
    )


def _by_place(tables: Mapping[str, Sequence[pa.Table]], wanted: Wanted) -> Partitions:
    """Some partitions, given the tables of each stream in their order."""
    return {
        partition: {name: found[place] for name, found in tables.items()}
        for place, partition in enumerate(wanted)
    }


def _between(table: pa.Table, lo: int, hi: int) -> pa.Table:
    start, stop = np.searchsorted(table[SEQ].to_numpy(), [lo, hi])
    return table.slice(start, stop - start)


def _joined(tables: Iterable[pa.Table]) -> pa.Table:
    """The tuples of a stream from several segments, by number."""
    return merged(tables).combine_chunks().rename_columns({SEQ: CAUSE})


def _no_tuples(schema: Schema) -> pa.Table:
    """No tuples of a stream, in the form in which segments are read."""
    fields = [pa.field(each.name, each.type.arrow) for each in schema]
    hidden = [pa.field(TS, TIMESTAMP.arrow, False), pa.field(SEQ, pa.int64())]
    return pa.schema([*fields, *hidden]).empty_table()


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


def are_tuples(streams: Mapping[str, pa.Table], network: Network) -> bool:
    """Whether no tuple has a NULL where a value is required, so that none has to be quarantined."""
    return not any(
        table[field.name].null_count
        for name, table in streams.items()
        for field in network.inputs[name].schema
        if not field.nullable
    )
