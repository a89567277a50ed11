"""States as bytes: one Arrow file that holds a state's tables, and raises a clear error if it is damaged.

The same bytes are stored between trains, sent when a box moves, and loaded when it recovers.
"""

from __future__ import annotations

import zlib

import pyarrow as pa

from australis.errors import KernelError, Problem
from australis.kernels.kernel import State

_SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), False),
        pa.field("table", pa.large_binary(), False),
        pa.field("checksum", pa.uint32(), False),
    ]
)
_EXPECTED = "the bytes that pack() made"


def pack(state: State) -> bytes:
    """The state as the bytes of one Arrow file: a row for each table, with its stream and its checksum.

    >>> state = {"seen": pa.table({"number": [7]})}
    >>> unpack(pack(state)) == state
    True
    """
    streams = [_stream(table) for table in state.values()]
    checksums = pa.array(map(_checksum, state, streams), pa.uint32(), size=len(streams))
    rows = pa.table([pa.array(list(state)), pa.array(streams, pa.large_binary()), checksums], schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def unpack(data: bytes) -> State:
    """The state that some bytes hold; raises KernelError if they are damaged or something else."""
    try:
        rows = pa.ipc.open_file(pa.py_buffer(data)).read_all()
        rows.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise KernelError(Problem("state", f"is damaged: {error}", _EXPECTED)) from error
    if rows.schema != _SCHEMA:
        raise KernelError(Problem("state", f"has the columns {rows.schema.names}", _EXPECTED))
    return {row["name"]: _table(**row) for row in rows.to_pylist()}


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _checksum(name: str, stream: bytes) -> int:
    return zlib.crc32(stream, zlib.crc32(name.encode()))


def _table(name: str, table: bytes, checksum: int) -> pa.Table:
    if _checksum(name, table) != checksum:
        raise KernelError(Problem(f"state.{name}", "is damaged: its checksum differs", _EXPECTED))
    with pa.ipc.open_stream(table) as reader:
        return reader.read_all()
