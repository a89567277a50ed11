"""What is small on its way and large where it arrives: refused before it takes the memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pyarrow as pa
import pytest
from pyarrow import flight
from tests.service.running import running_service

from australis.service.host.sizes import EXPANDS_MOST, size_of
from australis.service.http.bodies.compression import decompressed_bytes
from australis.service.settings import ServiceSettings

MOST = 1 << 16
NETWORK = """
australis: 1
name: small
inputs: {x: {schema: {k: long, name: string}}}
outputs: {out: {from: x}}
"""
Table = Callable[[int], pa.Table]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    root = tmp_path_factory.mktemp("root")
    settings = {
        "node": {"root": str(root), "runner": "light[1]"},
        "access": {"limits": {"body_bytes": MOST}},
    }
    with running_service(ServiceSettings.model_validate(settings)) as found:
        found.put("/v1/network", json={"network": NETWORK}).raise_for_status()
        yield found


def stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def post(client: httpx.Client, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
    return client.post("/v1/inputs/x/tuples", content=body, headers=headers)


def numbers(rows: int) -> pa.Array:
    return pa.array([7] * rows, pa.int64())


def repeated(rows: int) -> pa.Table:
    """One text for all rows, by its number."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), ["x" * 1000])
    return pa.table({"k": pa.nulls(rows), "name": texts})


def nulls(rows: int) -> pa.Table:
    return pa.table({"k": pa.nulls(rows), "name": pa.nulls(rows)})


def viewed(rows: int) -> pa.Table:
    """One text for all rows, by its place."""
    texts = pa.array(["x" * 1000], pa.string_view())
    views = texts.buffers()[1].to_pybytes() * rows
    found = pa.Array.from_buffers(pa.string_view(), rows, [None, pa.py_buffer(views), *texts.buffers()[2:]])
    return pa.table({"k": numbers(rows), "name": found})


def zeros(rows: int) -> pa.Table:
    return pa.table({"k": numbers(rows), "name": ["x" * 2_000] * rows})


EXPANDING: list[tuple[Table, int, str | None]] = [
    (repeated, 2_000, None),
    (nulls, 1_000_000, None),
    (viewed, 2_000, None),
    (zeros, 600, "zstd"),
    (zeros, 600, "lz4"),
]


@pytest.mark.parametrize(("table", "rows", "compression"), EXPANDING)
def test_a_body_that_would_grow_is_refused(
    client: httpx.Client, table: Table, rows: int, compression: str | None
) -> None:
    body = stream(table(rows), compression)
    assert len(body) <= MOST, "it is not too large as it is"
    refused = post(client, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "too_large")
    accepted = post(client, stream(table(20), compression))
    assert (accepted.status_code, accepted.json()["accepted"]) == (200, 20)


@pytest.mark.parametrize("table", [repeated, nulls, viewed])
def test_a_batch_of_flight_that_would_grow_is_refused(client: httpx.Client, table: Table) -> None:
    address = client.get("/v1/node").json()["flight"]
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as flying:
        descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": "x"}))
        given = table(2_000 if table is not nulls else 1_000_000)
        writer, reader = flying.do_put(descriptor, given.schema)
        reader.read()
        writer.write_batch(given.to_batches()[0])
        writer.done_writing()
        with pytest.raises(flight.FlightServerError, match="each value counted"):
            writer.close()


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("table", [repeated, nulls, viewed, zeros])
def test_the_size_of_a_stream_is_known_before_it_is_read(table: Table, compression: str | None) -> None:
    rows = 3_000
    plain = pa.ipc.open_stream(stream(table(rows))).read_all()
    told = decompressed_bytes(stream(table(rows), compression))
    # Buffers are padded in the stream, and a dictionary counts once.
    assert abs(told - decompressed_bytes(stream(table(rows)))) < 1_000
    assert told >= plain.nbytes - 1_000


def test_each_value_counts() -> None:
    texts = pa.array(["ab", None, "c"])
    assert size_of(texts) == size_of(texts.dictionary_encode()) == size_of(texts.cast(pa.string_view())) == 27
    assert size_of(texts.slice(2)) == size_of(texts.cast(pa.string_view()).slice(2)) == 9
    assert size_of(pa.nulls(5)) == size_of(pa.array([True] * 5)) == 40
    assert EXPANDS_MOST > 1
