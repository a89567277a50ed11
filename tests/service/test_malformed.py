"""Thousands of malformed frames: each is refused, nothing crashes, and memory stays where it was."""

from __future__ import annotations

import base64
import errno
import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
import pyarrow as pa
import pytest
from pyarrow import flight
from tests.service.test_process import ready, service
from tests.waiting import until

pytestmark = pytest.mark.long
NETWORK = """
australis: 1
name: sound
inputs:
  x: {schema: {k: long not null, name: string, at: timestamp, size: double}}
boxes: {some: {box: filter, from: x, predicates: [k >= 0]}}
outputs: {out: {from: some}}
"""
ROUNDS = 3
"""The first one fills caches, pools and arenas; after it memory is measured."""
GROWTH_MB_MOST = 96
"""What two more rounds of thousands of frames may add: a leak of a frame's size in each would be far more."""
NO_TEXT = "Invalid UTF-8 sequence received from client"
"""What the server logs with a traceback, though it is the client's fault."""
NO_PROXY = [("grpc.enable_http_proxy", 0)]


class Served(NamedTuple):
    """A service in a process of its own."""

    client: httpx.Client
    pid: int
    flight: str
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        return self.client.base_url.host, self.client.base_url.port or 0

    def resident_mb(self) -> float:
        """The memory of its process."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        (line,) = (each for each in lines if each.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "australis.yaml").write_text("access: {limits: {rate: 1000000, body_bytes: 4194304}}\n")
    given = ("--listen", "127.0.0.1:0", "--set", "flight.enabled=true")
    with service(*given, folder=tmp_path) as (process, url), ready(url) as client:
        client.put("/v1/network", json={"network": NETWORK}).raise_for_status()
        told = client.get("/v1/node").json()["flight"]
        yield Served(client, process.pid, told, tmp_path / "log")
        assert process.poll() is None, "it has crashed"


def table(rows: int) -> pa.Table:
    numbers = list(range(rows))
    return pa.table(
        {
            "k": pa.array(numbers, pa.int64()),
            "name": pa.array([f"name {n}" for n in numbers]),
            "at": pa.array(numbers, pa.timestamp("us", "UTC")),
            "size": pa.array([n / 7 for n in numbers], pa.float64()),
        }
    )


def stream(found: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, found.schema, options=options) as writer:
        writer.write_table(found)
    return sink.getvalue().to_pybytes()


def spoilt(chance: random.Random, sound: bytes) -> bytes:
    """Something sound, cut off, with other bytes here and there, with a part that is missing or twice."""
    found = bytearray(sound)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(found) or 1)
        match chance.randrange(5):
            case 0:
                found = found[:place]
            case 1:
                found[place : place + 4] = struct.pack("<i", chance.choice((-1, 0, 1 << 30, -(1 << 31))))
            case 2:
                found[place : place + 8] = struct.pack("<q", chance.choice((-1, 1 << 62, 1 << 40)))
            case 3:
                found[place : place + 1] = bytes([chance.randrange(256)])
            case _:
                del found[place : place + chance.randrange(64)]
    return bytes(found)


# --- bodies


def bodies(chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Bodies of all media types, most of which are malformed."""
    rows = [{"k": n, "name": f"n{n}", "at": "2026-01-01T00:00:00Z", "size": 1.5} for n in range(20)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    comma = b"k,name,at,size\n" + b"".join(b"%d,n%d,2026-01-01T00:00:00Z,1.5\n" % (n, n) for n in range(20))
    arrow = [stream(table(50)), stream(table(50), "lz4"), stream(table(50), "zstd")]
    for _ in range(600):
        yield "application/vnd.apache.arrow.stream", spoilt(chance, chance.choice(arrow))
    for _ in range(200):
        yield "application/json", spoilt(chance, json.dumps(rows).encode())
        yield "application/x-ndjson", spoilt(chance, lines)
        yield "text/csv", spoilt(chance, comma)
    deep = chance.choice((b"[" * 200_000, b'{"a":' * 100_000, b"[1" + b",1" * 500_000, b"9" * 100_000))
    yield "application/json", deep
    yield "application/x-ndjson", b'{"k": ' + b"9" * 100_000 + b"}\n"
    yield "text/csv", b"k,name,at,size\n" + b'"' * 100_000


def post_bodies(served: Served, chance: random.Random, seen: Counter[str]) -> None:
    for media_type, body in bodies(chance):
        headers = {"Content-Type": media_type}
        answer = served.client.post("/v1/inputs/x/tuples", content=body, headers=headers)
        seen[f"{media_type} {answer.status_code}"] += 1
        assert answer.status_code < 500, (media_type, answer.text)
        if answer.status_code >= 400:
            assert answer.json()["error"]["code"] in ("invalid_tuples", "too_large"), answer.text


def post_documents(served: Served, chance: random.Random, seen: Counter[str]) -> None:
    """JSON that is no network, to a call that takes one."""
    sound = json.dumps({"network": NETWORK}).encode()
    for _ in range(200):
        headers = {"Content-Type": "application/json"}
        answer = served.client.post("/v1/network/check", content=spoilt(chance, sound), headers=headers)
        seen[f"document {answer.status_code}"] += 1
        assert answer.status_code < 500, answer.text


# --- WebSockets


@contextmanager
def opened(served: Served) -> Iterator[socket.socket]:
    """A WebSocket of an output after its handshake, without any help of a library."""
    host, port = served.address
    with socket.create_connection((host, port), timeout=60) as found:
        key = base64.b64encode(random.randbytes(16)).decode()
        found.sendall(
            f"GET /v1/outputs/out/socket?consumer=me HTTP/1.1\r\nHost: {host}:{port}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += found.recv(4096)
        assert head.startswith(b"HTTP/1.1 101"), head
        yield found


def frame(chance: random.Random) -> bytes:
    """A frame that no client may send."""
    mask = chance.randbytes(4)
    return chance.choice(
        (
            bytes([0x83 | chance.choice((0, 4, 8)), 0x80]) + mask,  # an opcode that means nothing
            bytes([0xF1, 0x80]) + mask,  # bits that nobody has agreed on
            bytes([0x81, 0x05]) + b"plain",  # without a mask
            bytes([0x81, 0xFF]) + struct.pack(">Q", 1 << 62) + mask,  # far too long
            bytes([0x82, 0xFF]) + struct.pack(">Q", (1 << 64) - 1) + mask,  # a length below zero
            bytes([0x89, 0xFE]) + struct.pack(">H", 60_000) + mask,  # a control frame that is too long
            bytes([0x80, 0x80]) + mask,  # continues what never began
            bytes([0x81, 0x82]) + bytes(4) + b"\xff\xfe",  # no UTF-8
            bytes([0x88, 0x81]) + bytes(4) + b"x",  # closes with half a code
            chance.randbytes(chance.randint(1, 400)),
        )
    )


def end_of(connection: socket.socket, sent: bytes) -> None:
    """Send something as the last that comes, and wait until the service has hung up."""
    try:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass
    except OSError as error:
        # It may have done that before all was sent; but that it does not hang up is wrong.
        if error.errno not in (errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE):
            raise


def send_frames(served: Served, chance: random.Random, seen: Counter[str]) -> None:
    for _ in range(200):
        with opened(served) as connection:
            end_of(connection, frame(chance))
        seen["frame"] += 1


# --- Flight


def send_to_flight(served: Served, chance: random.Random, seen: Counter[str]) -> None:
    """Commands, tickets and metadata that are none, batches with damaged buffers, and no gRPC at all."""
    with flight.connect(served.flight, generic_options=NO_PROXY) as client:
        sound = json.dumps({"input": "x", "source": "s"}).encode()
        for _ in range(100):
            for call in (
                partial(put, client, spoilt(chance, sound), table(3), b"{}"),
                partial(put, client, sound, table(3), chance.randbytes(9)),
                partial(put, client, b'{"input": "x"}', damaged(chance), b"{}"),
                partial(get, client, spoilt(chance, b'{"output": "out", "from": 0, "to": 5}')),
            ):
                seen[refused(call)] += 1
    host, _, port = served.flight.removeprefix("grpc://").rpartition(":")
    for _ in range(100):
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            begin = chance.choice((b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
            end_of(connection, begin + chance.randbytes(chance.randint(1, 2000)))
        seen["no gRPC"] += 1


def put(client: flight.FlightClient, command: bytes, given: pa.Table, metadata: bytes) -> None:
    descriptor = flight.FlightDescriptor.for_command(command)
    writer, reader = client.do_put(descriptor, given.schema)
    with writer:
        reader.read()
        writer.write_with_metadata(given.to_batches()[0], metadata)
        writer.done_writing()
        reader.read()


def get(client: flight.FlightClient, ticket: bytes) -> None:
    client.do_get(flight.Ticket(ticket)).read_all()


def damaged(chance: random.Random) -> pa.Table:
    """A table whose texts are at places that are not there, or no texts."""
    sound = table(3)
    offsets = chance.choice(([0, 1 << 30, 7, 3], [0, -4, 2, 3], [0, 3, 1, 3], [0, 1, 2, 3]))
    text = pa.py_buffer(chance.choice((b"abc", b"\xff\xfe\xfd")))
    broken = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(struct.pack("<4i", *offsets)), text])
    return sound.set_column(1, "name", broken)


def refused(call: Callable[[], object]) -> str:
    """How Flight has answered, which must not be that it is its own fault."""
    try:
        call()
    except flight.FlightInternalError as error:
        raise AssertionError("its own fault") from error
    except (pa.ArrowException, OSError) as error:
        return f"Flight {type(error).__name__}"
    return "Flight accepted"


# --- the test


@pytest.mark.timeout(1200)
def test_malformed_frames_are_refused_and_memory_is_flat(served: Served) -> None:
    chance, seen = random.Random(1), Counter[str]()
    resident = []
    for _ in range(ROUNDS):
        for send in (post_bodies, post_documents, send_frames, send_to_flight):
            send(served, chance, seen)
            resident.append(served.resident_mb())
    first, last = resident[len(resident) // ROUNDS - 1], resident[-1]
    assert last - first < GROWTH_MB_MOST, resident
    until(lambda: 'way="socket"} 0.0' in served.client.get("/metrics").text)
    assert served.client.get("/readyz").json() == {"state": "running"}
    sound = served.client.post("/v1/inputs/x/tuples", json=[{"k": 1}])
    assert sound.json()["accepted"] == 1
    log = served.log.read_text()
    assert log.count("Traceback") == log.count(NO_TEXT)
