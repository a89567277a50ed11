"""Arrow Flight: pushes in a pipeline, outputs as they come, who may do what, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyarrow import flight
from tests.waiting import until

import australis
from australis.algebra.form import to_json
from australis.client.place import Place
from australis.client.volume import _UNDER_WAY, Volume
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.flight.door import _Server
from australis.service.flight.putting import Put

Serve = Callable[..., httpx.Client]


@pytest.fixture
def http(serve: Serve) -> httpx.Client:
    client = serve()
    net = australis.NetworkBuilder("n")
    x = net.input("x", "k long not null, name string").point("past", history=100)
    x.filter("k >= 0", as_="some").output("out")
    assert client.put("/v1/network", json={"network": to_json(net.build())}).status_code == 200
    return client


@pytest.fixture
def client(http: httpx.Client) -> Iterator[flight.FlightClient]:
    address = http.get("/v1/node").json()["flight"]
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as client:
        yield client


def table(*keys: int) -> pa.RecordBatch:
    return pa.record_batch({"k": pa.array(keys, pa.int64()), "name": pa.array([str(k) for k in keys])})


def put(
    client: flight.FlightClient, batches: list[tuple[int | None, pa.RecordBatch]], source: str | None = None
) -> list[dict[str, Any]]:
    """What the service says of batches, all of which are under way at once."""
    command = json.dumps({"input": "x", "source": source})
    descriptor = flight.FlightDescriptor.for_command(command)
    writer, reader = client.do_put(descriptor, batches[0][1].schema)
    with writer:
        found = [json.loads(reader.read().to_pybytes())]
        for number, batch in batches:
            writer.write_with_metadata(batch, json.dumps({"number": number}).encode())
        writer.done_writing()
        found += [json.loads(reader.read().to_pybytes()) for _ in batches]
    return found


def chunks(client: flight.FlightClient, **ticket: Any) -> Iterator[tuple[list[int], dict[str, Any]]]:
    reader = client.do_get(flight.Ticket(json.dumps(ticket)))
    try:
        for chunk in reader:
            yield chunk.data["k"].to_pylist(), json.loads(chunk.app_metadata.to_pybytes())
    finally:
        reader.cancel()


def read(client: flight.FlightClient, count: int, begin: int = 0) -> list[int]:
    found: list[int] = []
    for keys, _ in chunks(client, output="out", **{"from": begin, "follow": True}):
        found += keys
        if len(found) >= count:
            return found
    raise AssertionError("the stream has ended")


def refused(call: Callable[[], Any], kind: type[Exception] = flight.FlightServerError) -> str:
    with pytest.raises(kind) as found:
        call()
    code: str = json.loads(found.value.extra_info)["code"]  # type: ignore[attr-defined]
    return code


def test_batches_are_acknowledged_once_they_are_durable(client: flight.FlightClient) -> None:
    first, *told = put(client, [(n, table(n)) for n in range(20)], "sensor")
    assert first == {"last": None}
    assert [each["number"] for each in told] == list(range(20))
    assert [each["accepted"] for each in told] == [1] * 20
    assert not any(each["repeated"] for each in told)
    assert read(client, 20) == list(range(20))


def test_numbers_that_a_source_has_sent_are_not_stored_again(client: flight.FlightClient) -> None:
    put(client, [(n, table(n)) for n in range(3)], "sensor")
    first, *told = put(client, [(n, table(n)) for n in range(5)], "sensor")
    assert first == {"last": 2}
    assert [each["repeated"] for each in told] == [True] * 3 + [False] * 2
    assert read(client, 5) == list(range(5))


def test_an_output_is_read_from_any_number_and_followed(client: flight.FlightClient) -> None:
    put(client, [(None, table(1, 2, 3))])
    following = chunks(client, output="out", **{"from": 2, "follow": True})
    assert next(following)[0] == [2, 3]
    put(client, [(None, table(4))])
    keys, told = next(following)
    assert keys == [4]
    assert [k for each, _ in chunks(client, output="out", **{"from": told["next"]}) for k in each] == []
    assert [k for each, _ in chunks(client, output="out", to=3) for k in each] == [1, 2]


def test_history_is_read(client: flight.FlightClient) -> None:
    put(client, [(None, table(1, 2, 3))])
    read(client, 3)
    found = client.do_get(flight.Ticket(json.dumps({"point": "past", "where": "k > 1"}))).read_all()
    assert found["k"].to_pylist() == [2, 3]
    nothing = client.do_get(flight.Ticket(json.dumps({"point": "past", "where": "k > 9"}))).read_all()
    assert nothing.schema.names == found.schema.names


def test_what_there_is(client: flight.FlightClient) -> None:
    found = [json.loads(each.descriptor.command) for each in client.list_flights()]
    assert found == [{"input": "x"}, {"output": "out"}, {"output": "quarantine"}, {"point": "past"}]
    about = client.get_flight_info(flight.FlightDescriptor.for_command('{"output": "out"}'))
    assert about.schema.names == ["k", "name", "#ts", "#seq"]


@pytest.mark.parametrize(
    ("ticket", "code"),
    [
        (b"", "invalid_request"),
        (b"[" * 100_000, "invalid_request"),
        (b'{"output": 7}', "invalid_request"),
        (b'{"output": "out", "from": -1}', "invalid_request"),
        (b'{"output": "out", "from": true}', "invalid_request"),
        (b'{"output": "out", "from": 999999}', "invalid_request"),
        (b'{"output": "out", "other": 1}', "invalid_request"),
        (b'{"output": "nothing"}', "not_found"),
        (b'{"point": "nothing"}', "not_found"),
        (b'{"point": "past", "where": "nonsense ("}', "invalid_request"),
    ],
)
def test_tickets_that_mean_nothing_are_refused(client: flight.FlightClient, ticket: bytes, code: str) -> None:
    assert refused(lambda: client.do_get(flight.Ticket(ticket)).read_all()) == code


def test_who_waits_for_an_acknowledgement_before_it_sends_more_hears_of_a_failure(
    client: flight.FlightClient,
) -> None:
    """Else it and the service would wait for each other."""
    other = pa.record_batch({"other": [1]})
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": "x", "source": "sensor"}))
    options = flight.FlightCallOptions(timeout=20.0)
    writer, reader = client.do_put(descriptor, other.schema, options)
    assert json.loads(reader.read().to_pybytes()) == {"last": None}
    writer.write_with_metadata(other, b'{"number": 1}')
    assert json.loads(reader.read().to_pybytes())["error"]["code"] == "invalid_tuples"
    assert refused(writer.close) == "invalid_tuples"


def test_a_client_with_many_batches_is_told_that_the_first_ones_are_refused(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends no more than a few before it waits for the first acknowledgement."""

    def store(put: Put, batches: list[Any]) -> None:
        until(lambda: len(batches) + len(put._batches) == _UNDER_WAY)
        raise ServiceError(ErrorCode.TOO_MANY, Problem("x", "has no room"), 1)

    monkeypatch.setattr(Put, "_store", store)
    volume = Volume(Place.of(str(http.base_url)), http.get("/v1/node").json()["flight"])
    volume._options = flight.FlightCallOptions(timeout=20.0)
    tables = [pa.Table.from_batches([table(each)]) for each in range(100)]
    with pytest.raises(ServiceError) as found:
        volume.push("x", tables, "sensor", 1)
    volume.close()
    assert found.value.code is ErrorCode.TOO_MANY


def test_batches_that_do_not_fit_are_refused_and_those_before_are_stored(client: flight.FlightClient) -> None:
    other = pa.record_batch({"j": [1]})
    assert refused(lambda: put(client, [(1, other)], "sensor")) == "invalid_tuples"
    assert refused(lambda: put(client, [(None, table(1))], "sensor")) == "invalid_request"
    put(client, [(1, table(1))], "sensor")
    assert read(client, 1) == [1]


def test_roles_hold_here_as_well(serve: Serve) -> None:
    http = serve(access={"anonymous": "viewer"})
    address = http.get("/v1/node").json()["flight"]
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as client:
        assert refused(lambda: put(client, [(1, table(1))]), flight.FlightUnauthorizedError) == "forbidden"
        bad = flight.FlightCallOptions(headers=[(b"authorization", b"Basic x")])
        listed: Callable[[], Any] = lambda: list(client.list_flights(options=bad))  # noqa: E731
        assert refused(listed, flight.FlightUnauthenticatedError) == "unauthenticated"


def test_calls_are_limited_and_a_client_that_has_gone_frees_its_thread(serve: Serve) -> None:
    http = serve(flight={"calls": 1})
    net = australis.NetworkBuilder("n")
    net.input("x", "k long not null, name string").output("out")
    http.put("/v1/network", json={"network": to_json(net.build())})
    address = http.get("/v1/node").json()["flight"]
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as client:
        put(client, [(None, table(1))])
        ticket = flight.Ticket(json.dumps({"output": "out", "from": 0, "follow": True}))
        first = client.do_get(ticket)
        first.read_chunk()
        code = refused(lambda: put(client, [(None, table(2))]), flight.FlightUnavailableError)
        assert code == "too_many"
        first.cancel()
        while True:
            try:
                put(client, [(None, table(3))])
                break
            except flight.FlightUnavailableError:
                # It looks once a second whether its client is there.
                continue


def test_a_client_that_goes_before_its_stream_begins_frees_its_thread(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, counted, begin = threading.Event(), threading.Event(), _Server._stream

    def when_gone(self: Any, schema: Any, batches: Any, context: Any) -> Any:
        asked.set()
        until(context.is_cancelled)
        found = begin(self, schema, batches, context)
        counted.set()
        return found

    http = serve(flight={"calls": 1})
    net = australis.NetworkBuilder("n")
    net.input("x", "k long not null, name string").output("out")
    http.put("/v1/network", json={"network": to_json(net.build())})
    address = http.get("/v1/node").json()["flight"]
    monkeypatch.setattr(_Server, "_stream", when_gone)
    ticket = json.dumps({"output": "out", "from": 0, "follow": True})
    asking = (
        "from pyarrow import flight\n"
        f"client = flight.connect({address!r}, generic_options=[('grpc.enable_http_proxy', 0)])\n"
        f"client.do_get(flight.Ticket({ticket!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", asking]) as child:
        asked.wait()
        child.kill()
    counted.wait()
    with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as client:

        def is_taken() -> bool:
            try:
                return bool(put(client, [(None, table(1))]))
            except flight.FlightUnavailableError:
                return False

        until(is_taken, 20)
