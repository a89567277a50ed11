"""Frames: messages cut into pieces of limited length, so that an important one never waits for a large one.

A frame is a stream's number, a flag, a length, and so many bytes. The frames of one stream up to one that is
flagged are a message: the length of its JSON, the JSON, and a body. Stream 0 is for control.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from australis.cluster.wire.messages import Said
from australis.errors import ClusterError, Problem
from australis.policy.machines import ENCODE, decoded

CONTROL = 0
FRAME_BYTES = 64 << 10
HEAD = struct.Struct(">IBI")
JSON_MOST = 1 << 16
_JSON_HEAD = struct.Struct(">I")
_LAST = 1


@dataclass(frozen=True)
class Message:
    """A message, and the body that came with it."""

    said: Said
    body: memoryview = field(default=memoryview(b""), repr=False)


def encoded(said: Said, body: pa.Buffer | bytes = b"") -> list[memoryview]:
    """The parts of a message, one after the other."""
    text = ENCODE(said)
    return [memoryview(_JSON_HEAD.pack(len(text)) + text), *([memoryview(body)] if len(body) else [])]


def cut(stream: int, parts: list[memoryview]) -> Iterator[tuple[bytes, memoryview]]:
    """The heads and contents of the frames of a message."""
    pieces = [part[at : at + FRAME_BYTES] for part in parts for at in range(0, len(part), FRAME_BYTES)]
    for index, piece in enumerate(pieces):
        yield HEAD.pack(stream, _LAST * (index == len(pieces) - 1), len(piece)), piece


class Assembly:
    """Puts the frames of one connection together again, within limits.

    >>> from australis.cluster.wire.messages import Beat
    >>> assembly = Assembly(message_most=100)
    >>> frames = b"".join(head + bytes(piece) for head, piece in cut(0, encoded(Beat(7))))
    >>> [each.said for each in assembly.feed(frames[:5])], [each.said for each in assembly.feed(frames[5:])]
    ([], [Beat(at=7)])
    """

    def __init__(self, message_most: int, streams_most: int = 1024) -> None:
        self._message_most, self._streams_most = message_most, streams_most
        self._rest = bytearray()
        self._parts: dict[int, bytearray] = {}

    def feed(self, data: bytes | memoryview) -> Iterator[Message]:
        """Take bytes of the connection; yields the messages that they complete."""
        self._rest += data
        at, rest = 0, self._rest
        view = memoryview(rest)
        found: list[Message] = []
        try:
            while len(rest) - at >= HEAD.size:
                stream, flag, length = HEAD.unpack_from(rest, at)
                self._check(stream, flag, length)
                end = at + HEAD.size + length
                if len(rest) < end:
                    break
                part = self._parts.setdefault(stream, bytearray())
                part += view[at + HEAD.size : end]
                at = end
                if flag == _LAST:
                    found.append(message_of(self._parts.pop(stream)))
        finally:
            view.release()
        del rest[:at]
        yield from found

    def _check(self, stream: int, flag: int, length: int) -> None:
        if flag not in (0, _LAST) or not 0 < length <= FRAME_BYTES:
            raise _refused(f"a frame of {length:,} bytes with the flag {flag}")
        known = self._parts.get(stream)
        if known is None and len(self._parts) >= self._streams_most:
            raise _refused(f"more than {self._streams_most:,} messages at a time")
        most = JSON_MOST if stream == CONTROL else self._message_most
        if (0 if known is None else len(known)) + length > most:
            raise _refused(f"a message of more than {most:,} bytes")


def message_of(data: bytearray) -> Message:
    """The message that some bytes are."""
    view = memoryview(data).toreadonly()
    if len(view) < _JSON_HEAD.size:
        raise _refused("a message without a head")
    (length,) = _JSON_HEAD.unpack_from(view)
    end = _JSON_HEAD.size + length
    if length > JSON_MOST or end > len(view):
        raise _refused("a message whose head is longer than it")
    said = decoded(Said, bytes(view[_JSON_HEAD.size : end]))
    if said is None:
        raise _refused("what is no message of this protocol")
    return Message(said, view[end:])


def _refused(what: str) -> ClusterError:
    return ClusterError(Problem("", f"the other node sent {what}", "the protocol of this version"))
