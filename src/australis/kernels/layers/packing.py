"""Layers as bytes that can be used where they lie: mapped into memory, only what is looked at is read.

A layer is a row of Arrow streams, those of a block after its index, then a JSON text that says where each
begins, then the length of this text and the checksum of all before it. A stream begins at a multiple of 64
bytes, so columns need no copy.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from australis.errors import KernelError, Problem
from australis.kernels.arrays import Indexes, Mask, column, numbers
from australis.kernels.expressions import truths
from australis.kernels.kernel import Due
from australis.kernels.layers.layer import Block, Layer, no_rows
from australis.kernels.layers.narrow import narrowed

_MAGIC = b"AusLayer"
_TAIL = struct.Struct("<QI8s")
"""The length of the JSON text, the checksum, the magic."""
_ALIGNED = 64
_HASH, _MARK, _TIME, _QUIET = "hash", "mark", "time", "quiet"
_INDEX, _KEPT, _REST = "index", "kept", "rest"
_EXPECTED = "the bytes that packed() made"
Bytes: TypeAlias = "bytes | pa.Buffer"


def packed(blocks: Iterable[Block]) -> Iterator[Bytes]:
    """The bytes of a layer, in parts: blocks are made and written one after the other."""
    places: list[tuple[str, str, int, int]] = []
    offset, checksum = 0, 0
    for kind, name, table in (each for block in blocks for each in _tables(block)):
        begin = offset
        for part in _stream(table):
            checksum, offset = zlib.crc32(part, checksum), offset + len(part)
            yield part
        places.append((kind, name, begin, offset - begin))
        padding = bytes(-offset % _ALIGNED)
        checksum, offset = zlib.crc32(padding, checksum), offset + len(padding)
        yield padding
    text = json.dumps(places).encode()
    yield text + _TAIL.pack(len(text), zlib.crc32(text, checksum), _MAGIC)


def unpack_layer(data: pa.Buffer) -> Layer:
    """The layer that some bytes hold, without a copy; raises KernelError if they are damaged."""
    if data.size < _TAIL.size:
        raise _damaged("is too short")
    length, checksum, magic = _TAIL.unpack(data.slice(data.size - _TAIL.size).to_pybytes())
    body = data.slice(0, data.size - _TAIL.size)
    if magic != _MAGIC or length > body.size or zlib.crc32(body) != checksum:
        raise _damaged("its checksum differs")
    blocks: list[dict[tuple[str, str], pa.Table]] = []
    for kind, name, offset, size in json.loads(body.slice(body.size - length).to_pybytes()):
        if kind == _INDEX:
            blocks.append({})
        blocks[-1][kind, name] = pa.ipc.open_stream(body.slice(offset, size)).read_all()
    return Layer(tuple(_block(found) for found in blocks))


def _tables(block: Block) -> list[tuple[str, str, pa.Table]]:
    index: dict[str, Any] = {_HASH: pa.array(block.hashes)}
    if block.due is not None:
        index |= {_MARK: pa.array(block.due.marks), _TIME: pa.array(block.due.times)}
        index[_QUIET] = pa.array(block.due.quiet)
    for name, ends in block.ends.items():
        if ends is not None and block.tables[name].num_rows:
            index[f"{name} ends"] = pa.array(ends)
    kept = [(_KEPT, name, narrowed(table)) for name, table in block.tables.items()]
    return [
        (_INDEX, "", pa.table(index)),
        *kept,
        *((_REST, name, table) for name, table in block.rest.items()),
    ]


def _block(found: Mapping[tuple[str, str], pa.Table]) -> Block:
    index = found[_INDEX, ""]
    tables = {name: table for (kind, name), table in found.items() if kind == _KEPT}
    ends = {name: _ends(index, name, table) for name, table in tables.items()}
    due = None
    if _MARK in index.column_names:
        due = Due(numbers(column(index, _MARK)), numbers(column(index, _TIME)), _quiet(index))
    rest = {name: table for (kind, name), table in found.items() if kind == _REST}
    hashes = column(index, _HASH).to_numpy() if index.num_rows else np.empty(0, np.uint64)
    return Block(hashes, tables, ends, rest, due)


def _ends(index: pa.Table, name: str, table: pa.Table) -> Indexes | None:
    if f"{name} ends" in index.column_names:
        return numbers(column(index, f"{name} ends"))
    return None if table.num_rows else no_rows(index.num_rows)


def _quiet(index: pa.Table) -> Mask:
    """Which groups will only be forgotten; layers of older versions do not say so of any."""
    if _QUIET not in index.column_names:
        return np.zeros(index.num_rows, np.bool_)
    return truths(column(index, _QUIET))


class _Parts:
    """What Arrow writes, part by part: the memory of the columns itself, not a copy."""

    closed = False

    def __init__(self) -> None:
        self.found: list[Bytes] = []

    def write(self, part: Bytes) -> int:
        self.found.append(part)
        return len(part)

    def flush(self) -> None:
        """Arrow flushes what it writes to."""


def _stream(table: pa.Table) -> list[Bytes]:
    sink = _Parts()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        # In one batch: a column in several chunks would have to be copied into one when it is read.
        writer.write_table(table.combine_chunks(), max_chunksize=max(table.num_rows, 1))
    return sink.found


def _damaged(why: str) -> KernelError:
    return KernelError(Problem("state", f"is damaged: {why}", _EXPECTED))
