"""What compressed Arrow takes once it is read: it is asked before anything is decompressed."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

_DICTIONARY, _RECORDS = 2, 3
"""The kinds of messages that have buffers."""
_PREFIX = 8
"""The bytes before each compressed buffer, which hold its size."""


def decompressed_bytes(body: bytes) -> int:
    """The bytes of the buffers of an Arrow stream; raises what reading it would raise, or `ValueError`."""
    try:
        return sum(size for message in _messages(body) for size in _sizes(message))
    except (struct.error, IndexError) as error:
        raise ValueError(f"a message is damaged: {error}") from None


def _messages(body: bytes) -> Iterator[pa.ipc.Message]:
    yield from pa.ipc.MessageReader.open_stream(body)


def _sizes(message: pa.ipc.Message) -> Iterator[int]:
    """The sizes of the buffers of a message, by the tables of its FlatBuffers metadata."""
    head, body = message.metadata.to_pybytes(), message.body
    root = _number(head, 0, "<I")
    kind, batch = _field(head, root, 1), _field(head, root, 2)
    if body is None or kind is None or batch is None or head[kind] not in (_DICTIONARY, _RECORDS):
        return
    batch = _referred(head, batch)
    if head[kind] == _DICTIONARY:
        data = _field(head, batch, 1)
        if data is None:
            return
        batch = _referred(head, data)
    buffers = _field(head, batch, 2)
    if _field(head, batch, 3) is None or buffers is None:
        yield body.size
        return
    place = _referred(head, buffers)
    for index in range(_number(head, place, "<I")):
        offset, length = struct.unpack_from("<qq", head, place + 4 + 16 * index)
        if length > _PREFIX:
            declared = _number(body, offset, "<q")
            # A buffer that would not have become smaller is as it is.
            yield length - _PREFIX if declared == -1 else declared


def _field(head: bytes, table: int, index: int) -> int | None:
    """Where a field of a table is; None if it has its default."""
    places = table - _number(head, table, "<i")
    if places < 0 or 4 + 2 * index >= _number(head, places, "<H"):
        return None
    offset = _number(head, places + 4 + 2 * index, "<H")
    return table + offset if offset else None


def _referred(head: bytes, place: int) -> int:
    return place + _number(head, place, "<I")


def _number(data: bytes | pa.Buffer, place: int, form: str) -> int:
    if place < 0:
        raise IndexError(f"{place} is before the begin")
    found: int = struct.unpack_from(form, data, place)[0]
    return found
