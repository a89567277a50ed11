"""Messages over a socket: what is sent arrives, whatever its size; what is no message is refused as such."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from australis.engine.control.channel import Channel, Garbled, encoded, slices
from australis.errors import EngineError


@pytest.fixture
def pair() -> Iterator[tuple[Channel, Channel, socket.socket]]:
    """Two ends of a channel, and the bare socket of the first."""
    one, other = socket.socketpair()
    first, second = Channel(one, 60), Channel(other, 60)
    yield first, second, one
    first.close()
    second.close()


def test_objects_and_tables_arrive(pair: tuple[Channel, Channel, socket.socket]) -> None:
    first, second, _ = pair
    table = pa.table({"x": range(300_000), "name": [f"äöü{n}" for n in range(300_000)]})
    sender = threading.Thread(target=first.send, args=({"said": "ü\n", "n": [1, None]}, table))
    sender.start()
    assert second.receive() == {"said": "ü\n", "n": [1, None]}
    assert second.receive_table() == table
    sender.join()


def test_messages_of_several_threads_do_not_mix(pair: tuple[Channel, Channel, socket.socket]) -> None:
    first, second, _ = pair

    def send(number: int) -> None:
        for _ in range(20):
            first.send({"n": number}, pa.table({"x": [number] * 50_000}))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(80):
        number = second.receive()["n"]
        assert second.receive_table()["x"].unique().to_pylist() == [number]
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("sent", "error", "said"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", Garbled, r"begins with b'G' and has [0-9,]+ bytes; expected b'J'"),
        (struct.pack("!cQ", b"J", 1 << 40), Garbled, "1,099,511,627,776 bytes; expected b'J', and at most"),
        (struct.pack("!cQ", b"T", 0), Garbled, "begins with b'T'"),
        (struct.pack("!cQ", b"J", 3) + b"{]}", EngineError, "is no JSON"),
        (struct.pack("!cQ", b"J", 2) + b"\xff\xfe", EngineError, "is no JSON"),
        (struct.pack("!cQ", b"J", 2) + b"[]", EngineError, "is a list; expected a JSON object"),
    ],
)
def test_what_is_no_message(
    pair: tuple[Channel, Channel, socket.socket], sent: bytes, error: type[EngineError], said: str
) -> None:
    _, second, bare = pair
    bare.sendall(sent)
    with pytest.raises(error, match=said) as caught:
        second.receive()
    assert isinstance(caught.value, Garbled) == (error is Garbled)


def test_what_is_no_table(pair: tuple[Channel, Channel, socket.socket]) -> None:
    _, second, bare = pair
    bare.sendall(struct.pack("!cQ", b"T", 4) + b"what")
    with pytest.raises(EngineError, match="is no Arrow stream"):
        second.receive_table()
    table = encoded(pa.table({"x": [1, 2]}))
    bare.sendall(struct.pack("!cQ", b"T", len(table) - 20) + table[:-20])
    with pytest.raises(EngineError, match="is no Arrow stream"):
        second.receive_table()


def test_the_end_of_the_other_side(pair: tuple[Channel, Channel, socket.socket]) -> None:
    first, second, bare = pair
    bare.sendall(struct.pack("!cQ", b"J", 100) + b"{")
    first.close()
    with pytest.raises(EOFError):
        second.receive()
    with pytest.raises(EOFError):
        second.send({})


def test_somebody_who_hangs_in_the_middle_is_gone() -> None:
    one, other = socket.socketpair()
    first, second = Channel(one, 0.01), Channel(other, 60)
    one.sendall(struct.pack("!cQ", b"J", 100))
    with pytest.raises(EOFError):
        first.receive()
    with pytest.raises(EOFError):
        first.send({}, pa.table({"x": range(1_000_000)}))
    first.close()
    second.close()


def test_waiting_ends_with_what_comes_first(pair: tuple[Channel, Channel, socket.socket]) -> None:
    first, second, _ = pair
    end, ending = socket.socketpair()
    assert not second.wait(ending, timeout_s=0)
    first.send({})
    assert second.wait(ending)
    end.close()
    assert not second.wait(ending), "the end goes before messages"
    ending.close()


def test_parts_of_tables() -> None:
    assert [part.num_rows for part in slices(pa.table({"x": pa.array([], pa.int64())}))] == [0]
    assert [part.num_rows for part in slices(pa.table({"x": [1]}))] == [1]
    wide = pa.table({"x": ["y" * 5_000_000] * 3})
    assert [part.num_rows for part in slices(wide)] == [2, 1]
