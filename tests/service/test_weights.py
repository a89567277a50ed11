"""Tuples without the weight of their input, over the network: in bodies, and from files of clients."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyarrow import flight
from tests.app.files import australis
from tests.service.test_flight import put
from tests.service.test_tuples import ARROW, events, ipc

Serve = Callable[..., httpx.Client]
NETWORK: dict[str, Any] = {
    "australis": 1,
    "name": "n",
    "inputs": {"x": {"schema": {"k": "long not null", "copies": "double not null"}, "weight": "copies"}},
    "outputs": {"out": {"from": "x"}},
}


@pytest.fixture
def client(serve: Serve) -> httpx.Client:
    client = serve()
    assert client.put("/v1/network", json={"network": NETWORK}).status_code == 200
    return client


def read(client: httpx.Client, count: int) -> list[tuple[int, float]]:
    """What comes out first, with its weights."""
    found: list[tuple[int, float]] = []
    for event in events(client, params={"from": 0}):
        found += [(row["k"], row["copies"]) for row in json.loads(event["data"])]
        if len(found) >= count:
            break
    return found


BODIES = {
    "application/json": b'[{"k": 1}, {"k": 2, "copies": 5}, {"k": 3, "copies": null}]',
    "application/x-ndjson": b'{"k": 1}\n{"k": 2, "copies": 5}\n{"k": 3}\n',
    "text/csv": b"copies,k\n,1\n5,2\n,3\n",
    ARROW: ipc(pa.table({"k": [1, 2, 3], "copies": [None, 5.0, None]})),
}


@pytest.mark.parametrize("media_type", BODIES)
def test_bodies(client: httpx.Client, media_type: str) -> None:
    given = {"content": BODIES[media_type], "headers": {"Content-Type": media_type}}
    answer = client.post("/v1/inputs/x/tuples", **given).json()
    assert (answer["accepted"], answer["rejected"]) == (3, [])
    assert read(client, 3) == [(1, 1.0), (2, 5.0), (3, 1.0)]


@pytest.mark.parametrize(
    ("media_type", "body"), [("text/csv", b"k\n1\n"), (ARROW, ipc(pa.table({"k": [1]})))]
)
def test_bodies_without_the_column(client: httpx.Client, media_type: str, body: bytes) -> None:
    client.post("/v1/inputs/x/tuples", content=body, headers={"Content-Type": media_type}).raise_for_status()
    assert read(client, 1) == [(1, 1.0)]


def test_inputs_name_it(client: httpx.Client) -> None:
    (found,) = client.get("/v1/inputs").json()["inputs"]
    assert found["weight"] == "copies"


def test_a_file_that_a_client_pushes(client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("k\n1\n2\n")
    done = australis("push", "x", tmp_path / "x.csv", "--json", "--node", str(client.base_url).rstrip("/"))
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["accepted"] == 2
    assert read(client, 2) == [(1, 1.0), (2, 1.0)]


def test_flight(client: httpx.Client) -> None:
    address = client.get("/v1/node").json()["flight"]
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as connection:
        put(connection, [(None, pa.record_batch({"k": [1]}))])
        put(connection, [(None, pa.record_batch({"k": [2], "copies": [5.0]}))])
        descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": "x"}))
        assert connection.get_flight_info(descriptor).schema.field("copies").nullable
    assert read(client, 2) == [(1, 1.0), (2, 5.0)]
