"""Frames and messages: whatever is cut comes together again, and whatever is damaged is refused."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.cluster.wire import (
    CONTROL,
    FRAME_BYTES,
    HEAD,
    Ask,
    Assembly,
    Beat,
    Begin,
    Close,
    Hello,
    Message,
    Stored,
    Tuples,
    cut,
    encoded,
    packed,
    unpacked,
)
from australis.errors import ClusterError

MOST = 1 << 20
SAID = st.one_of(
    st.builds(Beat, st.integers(-(2**62), 2**62)),
    st.builds(Hello, st.integers(0, 9), st.integers(1, 2**53), st.booleans()),
    st.builds(Tuples, st.integers(1, 99), st.integers(0, 99), st.integers(100, 2**53), st.integers(1, 9)),
    st.builds(Stored, st.integers(1, 99), st.integers(0, 2**53)),
)


def wire(stream: int, message: tuple[object, bytes]) -> list[bytes]:
    said, body = message
    return [head + bytes(piece) for head, piece in cut(stream, encoded(said, body))]  # type: ignore[arg-type]


def shown(found: list[Message]) -> list[tuple[object, bytes]]:
    return [(each.said, bytes(each.body)) for each in found]


@given(
    st.lists(st.tuples(st.integers(0, 3), SAID, st.integers(0, 3 * FRAME_BYTES)), max_size=6),
    st.randoms(use_true_random=False),
)
def test_messages_of_several_streams_come_together_again(
    given: list[tuple[int, object, int]], random: object
) -> None:
    """However frames of different streams are interleaved, and wherever the connection cuts its bytes."""
    streams: dict[int, list[bytes]] = {}
    wanted: dict[int, list[tuple[object, bytes]]] = {}
    for stream, said, size in given:
        body = b"" if stream == CONTROL else bytes(size)
        streams.setdefault(stream, []).extend(wire(stream, (said, body)))
        wanted.setdefault(stream, []).append((said, body))
    sent = b""
    while streams:
        stream = random.choice(sorted(streams))  # type: ignore[attr-defined]
        sent += streams[stream].pop(0)
        if not streams[stream]:
            del streams[stream]
    assembly, found = Assembly(MOST), []
    while sent:
        size = random.choice([1, 7, 70_000, 300_000])  # type: ignore[attr-defined]
        found += list(assembly.feed(sent[:size]))
        sent = sent[size:]
    assert sorted(map(repr, shown(found))) == sorted(repr(each) for many in wanted.values() for each in many)


@pytest.mark.parametrize(
    "data",
    [
        HEAD.pack(1, 0, FRAME_BYTES + 1),
        HEAD.pack(1, 2, 0),
        HEAD.pack(0, 1, 2) + b"xx",
        HEAD.pack(0, 1, 8) + struct.pack(">I", 99) + b"{}  ",
        HEAD.pack(0, 1, 4) + struct.pack(">I", 1 << 31),
        HEAD.pack(0, 1, 6) + struct.pack(">I", 2) + b"{}",
        HEAD.pack(0, 1, 8) + struct.pack(">I", 4) + b"null",
        HEAD.pack(0, 1, 4 + 30) + struct.pack(">I", 30) + b'{"type":"Beat","at":1,"more":2}'[:30],
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ClusterError, match="the other node sent"):
        list(Assembly(MOST).feed(data))


def test_a_message_that_is_too_large_is_refused_before_it_is_read() -> None:
    assembly, frame = Assembly(MOST), HEAD.pack(7, 0, FRAME_BYTES) + bytes(FRAME_BYTES)
    for _ in range(MOST // FRAME_BYTES):
        list(assembly.feed(frame))
    with pytest.raises(ClusterError, match="a message of more than 1,048,576 bytes"):
        list(assembly.feed(frame[: HEAD.size]))


def test_a_control_message_that_is_too_large_is_refused() -> None:
    assembly = Assembly(MOST)
    list(assembly.feed(HEAD.pack(CONTROL, 0, FRAME_BYTES) + bytes(FRAME_BYTES)))
    with pytest.raises(ClusterError, match="more than 65,536 bytes"):
        list(assembly.feed(HEAD.pack(CONTROL, 0, 1) + b"x"))


def test_too_many_messages_at_a_time_are_refused() -> None:
    assembly = Assembly(MOST, streams_most=10)
    for stream in range(1, 11):
        list(assembly.feed(HEAD.pack(stream, 0, 1) + b"x"))
    with pytest.raises(ClusterError, match="more than 10 messages at a time"):
        list(assembly.feed(HEAD.pack(11, 0, 1) + b"x"))


@given(st.binary(max_size=400))
def test_random_bytes_are_refused_or_waited_for(data: bytes) -> None:
    try:
        found = list(Assembly(MOST).feed(data))
    except ClusterError:
        # What the whole test is about.
        return
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"Ask","link":0,"output":"a","input":"b","weight":1.0}',
        b'{"type":"Ask","link":1,"output":"","input":"b","weight":1.0}',
        b'{"type":"Ask","link":1,"output":"a","input":"b","weight":0.0}',
        b'{"type":"Ask","link":1,"output":"a","input":"b","weight":1e99}',
        b'{"type":"Agree","link":1,"incarnation":"x","begin":0,"schema":""}',
        b'{"type":"Begin","link":1,"number":-1,"window":1}',
        b'{"type":"Tuples","link":1,"begin":0,"end":0,"rows":1}',
        b'{"type":"Tuples","link":1,"begin":0,"end":5,"rows":0}',
        b'{"type":"Stored","link":1,"end":-5}',
        b'{"type":"Refusal","link":1,"code":"because","why":""}',
        b'{"type":"Close","link":1,"more":1}',
        b'{"type":"Nothing"}',
    ],
)
def test_values_out_of_bounds_are_refused(text: bytes) -> None:
    data = struct.pack(">I", len(text)) + text
    with pytest.raises(ClusterError, match="no message of this protocol"):
        list(Assembly(MOST).feed(HEAD.pack(0, 1, len(data)) + data))


@pytest.mark.parametrize(
    "said", [Ask(1, "a", "b", 2.0), Begin(1, 0, 5), Close(3)], ids=lambda said: type(said).__name__
)
def test_what_is_sound_is_read(said: Ask | Begin | Close) -> None:
    (found,) = Assembly(MOST).feed(b"".join(wire(0, (said, b""))))
    assert found.said == said


# --- tables

TABLE = pa.table({"k": [1, 2], "s": ["a", None]})


def test_a_table_travels() -> None:
    assert unpacked(memoryview(packed(TABLE)), TABLE.schema, 2) == TABLE


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (b"", 2),
        (b"nonsense", 2),
        (bytes(memoryview(packed(TABLE)))[:-60], 2),
        (bytes(memoryview(packed(TABLE))), 3),
        (bytes(memoryview(packed(TABLE.select(["k"])))), 2),
    ],
)
def test_a_damaged_table_is_refused(body: bytes, rows: int) -> None:
    with pytest.raises(ClusterError, match="the other node sent"):
        unpacked(memoryview(body), TABLE.schema, rows)


@given(st.integers(0, 10_000), st.integers(0, 7))
def test_a_table_with_a_flipped_bit_is_refused_or_can_be_read(place: int, bit: int) -> None:
    """Nothing that gets through makes whoever reads it later crash."""
    data = bytearray(memoryview(packed(TABLE)))
    data[place % len(data)] ^= 1 << bit
    try:
        found = unpacked(memoryview(bytes(data)), TABLE.schema, 2)
    except ClusterError:
        # What the whole test is about.
        return
    assert len(found.to_pylist()) == 2
