"""Keys of samples: what is made up has the keys of the other side of a lookup.

Two sides that know nothing of each other would meet by accident or never, and a lookup would seem to emit
nothing, so that all that follows it would seem to cost nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.algebra.boxes import Join, equalities
from australis.algebra.network import Network, Ref


@dataclass(frozen=True)
class Meeting:
    """A stream that is looked up in a stored table: attributes of the stream, and those that they equal."""

    stream: str
    table: str
    pairs: tuple[tuple[str, str], ...]


def meetings(network: Network) -> Iterator[Meeting]:
    """The lookups whose keys are attributes of inputs."""
    for box_id in network.order:
        box, schemas = network.boxes[box_id].box.core, network.input_schemas(box_id)
        side = box.table_side
        if side is None or not isinstance(box, Join):
            continue
        sources = network.boxes[box_id].sources
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for pair in equalities(box.bind(*schemas).predicate):
            stream = _origin(network, sources[1 - side], pair[1 - side])
            table = _origin(network, sources[side], pair[side])
            if stream is not None and table is not None:
                found.setdefault((stream[0], table[0]), []).append((stream[1], table[1]))
        for (stream_name, table_name), pairs in found.items():
            yield Meeting(stream_name, table_name, tuple(pairs))


def _origin(network: Network, ref: Ref, attribute: str) -> tuple[str, str] | None:
    """The input and the attribute of it that an attribute of a stream copies."""
    while ref.id not in network.inputs:
        node = network.boxes[ref.id]
        origins = node.box.origins(*network.input_schemas(ref.id))
        port = next((port for port, names in enumerate(origins) if attribute in names), None)
        if port is None:
            return None
        ref, attribute = node.sources[port], origins[port][attribute]
    return ref.id, attribute


def with_keys_of(
    rows: pa.Table, names: Sequence[str], others: pa.Table, from_: Sequence[str], seed: int
) -> pa.Table:
    """Rows whose keys are drawn from those of other rows."""
    known = others.select(list(from_)).drop_null()
    if not known.num_rows:
        return rows
    drawn = known.take(np.random.default_rng(seed).integers(0, known.num_rows, rows.num_rows))
    return _replaced(rows, names, drawn, from_)


def one_for_each_key(
    rows: pa.Table, names: Sequence[str], others: pa.Table, from_: Sequence[str]
) -> pa.Table:
    """As many rows as other rows have keys, each with one of them."""
    keys = others.select(list(from_)).drop_null().group_by(list(from_), use_threads=False).aggregate([])
    count = min(keys.num_rows, rows.num_rows)
    return _replaced(rows.slice(0, count), names, keys.slice(0, count), from_) if count else rows


def _replaced(rows: pa.Table, names: Sequence[str], others: pa.Table, from_: Sequence[str]) -> pa.Table:
    for name, other in zip(names, from_, strict=True):
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(
            place, rows.schema.field(place), others[other].cast(rows.schema.field(place).type)
        )
    return rows


def met(
    network: Network,
    streams: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    made_up: Collection[str],
    seed: int,
) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
    """Streams and tables, of which those that are made up have keys of the others, tables each key once."""
    streams, tables = dict(streams), dict(tables)
    for each in meetings(network):
        ours, theirs = zip(*each.pairs, strict=True)
        stream, table = streams[each.stream], tables[each.table]
        if each.table in made_up:
            other = (table, theirs) if each.stream in made_up else (stream, ours)
            table = tables[each.table] = one_for_each_key(table, theirs, *other)
        if each.stream in made_up:
            streams[each.stream] = with_keys_of(stream, ours, table, theirs, seed)
    return streams, tables
