"""Clients that are there and take nothing: others get all, their calls are ended, the service ends."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import httpx
import pyarrow as pa
import pytest
from pyarrow import flight
from tests.waiting import until

import australis
from australis.algebra.form import to_json
from australis.service.flight.connections import Patience, cut
from australis.service.http import gate

Serve = Callable[..., httpx.Client]
ROWS, BATCHES = 5_000, 6


def deploy(client: httpx.Client) -> None:
    net = australis.NetworkBuilder("n")
    net.input("x", "k long not null, text string").output("out")
    client.put("/v1/network", json={"network": to_json(net.build())}).raise_for_status()


def push(client: httpx.Client) -> None:
    """More than the buffers of a connection hold."""
    table = pa.table({"k": list(range(ROWS)), "text": ["x" * 1000] * ROWS})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
    for _ in range(BATCHES):
        body = bytes(sink.getvalue())
        client.post("/v1/inputs/x/tuples", content=body, headers=headers).raise_for_status()


def stalling(client: httpx.Client) -> socket.socket:
    """A client of events that reads nothing more than that they come."""
    host, port = client.base_url.host, client.base_url.port
    found = socket.create_connection((host, port or 0))
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    found.sendall(f"GET /v1/outputs/out/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    while b": following" not in found.recv(1 << 16):
        pass
    return found


def connected(client: httpx.Client) -> flight.FlightClient:
    address = client.get("/v1/node").json()["flight"]
    return flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)])


def ticket() -> flight.Ticket:
    return flight.Ticket(json.dumps({"output": "out", "from": 0, "follow": True}))


def test_others_get_all_and_the_service_ends(serve: Serve) -> None:
    client = serve()
    deploy(client)
    with stalling(client), connected(client) as stalled, connected(client) as other:
        held = stalled.do_get(ticket())
        push(client)
        held.read_chunk()
        found = 0
        reader = other.do_get(ticket())
        while found < ROWS * BATCHES:
            found += reader.read_chunk().data.num_rows
        reader.cancel()
        assert found == ROWS * BATCHES


def test_an_answer_that_nobody_takes_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve(access={"limits": {"calls": 1}})
    deploy(client)
    push(client)
    until(lambda: client.get("/v1/outputs/out/kept").json()["rows"] == ROWS * BATCHES)
    monkeypatch.setattr(gate, "PATIENCE_S", 0.5)
    host, port = client.base_url.host, client.base_url.port or 0
    with socket.create_connection((host, port)) as held:
        held.sendall(
            f"GET /v1/outputs/out/tuples?limit=30000 HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
        )
        head, _, first = held.recv(1 << 12).partition(b"\r\n\r\n")
        until(lambda: client.get("/v1/node").status_code == 200)
        taken = len(first)
        while part := held.recv(1 << 20):
            taken += len(part)
    assert taken < int(head.lower().partition(b"content-length: ")[2].split()[0])


def test_the_connection_of_one_that_takes_nothing_is_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()
        clients = [socket.create_connection(place) for _ in range(2)]
        accepted = [server.accept()[0] for _ in clients]
        late, other = clients
        patience = Patience(0.2)
        patience.begin("a call", f"ipv4:127.0.0.1:{late.getsockname()[1]}")
        watching = threading.Thread(target=patience.watch, args=place[1:])
        watching.start()
        assert late.recv(1) == b"", "it is ended"
        patience.close()
        watching.join()
        accepted[1].sendall(b"x")
        assert other.recv(1) == b"x", "and no other one"
        cut(place[1])
        assert other.recv(1) == b""
        for each in (*clients, *accepted):
            each.close()
