"""Tuples in and out over HTTP: all forms, keys, what does not fit, and streams that resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import australis
from australis.algebra.form import to_json

Serve = Callable[..., httpx.Client]
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture
def client(serve: Serve) -> httpx.Client:
    """A client of a node that keeps what is not negative."""
    client = serve()
    net = australis.NetworkBuilder("n")
    net.input("x", "k long not null, name string").filter("k >= 0", as_="some").output("out")
    assert client.put("/v1/network", json={"network": to_json(net.build())}).status_code == 200
    return client


def post(client: httpx.Client, body: bytes, media_type: str, key: str | None = None) -> httpx.Response:
    headers = {"Content-Type": media_type, **({} if key is None else {"Idempotency-Key": key})}
    return client.post("/v1/inputs/x/tuples", content=body, headers=headers)


def ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def events(client: httpx.Client, **given: Any) -> Iterator[dict[str, str]]:
    """The events of an output, without comments."""
    with client.stream("GET", "/v1/outputs/out/events", **given) as stream:
        assert stream.status_code == 200
        found: dict[str, str] = {}
        for line in stream.iter_lines():
            if not line and found:
                yield found
                found = {}
            elif line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                found[name] = value


def read(client: httpx.Client, count: int, **given: Any) -> list[int]:
    """The keys of the first tuples of an event stream."""
    found: list[int] = []
    for event in events(client, **given):
        found += [row["k"] for row in json.loads(event["data"])]
        if len(found) >= count:
            return found
    raise AssertionError("the stream has ended")


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/json", b'[{"k": 1, "name": "a"}, {"k": 2}]'),
        ("application/x-ndjson", b'{"k": 1, "name": "a"}\n{"k": 2}\n'),
        ("text/csv", b"k,name\n1,a\n2,\n"),
        (ARROW, ipc(pa.table({"k": [1, 2], "name": ["a", None]}))),
    ],
)
def test_every_form_is_taken(client: httpx.Client, media_type: str, body: bytes) -> None:
    answer = post(client, body, f"{media_type}; charset=utf-8")
    told = {"accepted": 2, "rejected": [], "rejected_count": 0, "end": 3, "repeated": False}
    assert answer.json() == told
    (event,) = [next(events(client, params={"from": 0}))]
    rows = [(row["k"], row["name"], row["#seq"]) for row in json.loads(event["data"])]
    assert rows == [(1, "a", 1), (2, None, 2)]
    assert event["id"] == "2"


def test_rows_that_do_not_fit_are_told_and_in_the_quarantine(client: httpx.Client) -> None:
    answer = post(client, b'{"k": 1}\n{"k": "x"}\nnonsense\n', "application/x-ndjson").json()
    assert (answer["accepted"], answer["rejected_count"]) == (1, 2)
    assert [each["line"] for each in answer["rejected"]] == [2, 3]
    read(client, 1, params={"from": 0})
    assert [each["path"] for each in client.get("/v1/outputs/quarantine/tuples").json()] == ["n.x"] * 2


def test_the_same_key_gives_the_same_answer_and_stores_nothing(client: httpx.Client) -> None:
    first = post(client, b'{"k": 1}', "application/x-ndjson", "key").json()
    assert post(client, b'{"k": 1}', "application/x-ndjson", "key").json() == {**first, "repeated": True}
    assert error(post(client, b'{"k": 2}', "application/x-ndjson", "key")) == (422, "key_reused")
    post(client, b'{"k": 3}', "application/x-ndjson", "another")
    assert read(client, 2, params={"from": 0}) == [1, 3]


@pytest.mark.parametrize(
    ("media_type", "body", "code"),
    [
        ("text/plain", b"", (415, "unsupported_media_type")),
        ("application/json", b"[", (422, "invalid_tuples")),
        ("application/json", b"[" * 100_000, (422, "invalid_tuples")),
        ("text/csv", b"other\n1\n", (422, "invalid_tuples")),
        ("application/x-ndjson", b"\xff\xfe1", (422, "invalid_tuples")),
        (ARROW, b"", (422, "invalid_tuples")),
        (ARROW, b"\xff\xff\xff\xff\x10\x00\x00\x00" + bytes(40), (422, "invalid_tuples")),
        (ARROW, ipc(pa.table({"k": ["x"], "name": ["a"]})), (422, "invalid_tuples")),
        (ARROW, ipc(pa.table({"j": [1]})), (422, "invalid_tuples")),
    ],
)
def test_what_is_no_body_is_refused(
    client: httpx.Client, media_type: str, body: bytes, code: tuple[int, str]
) -> None:
    assert error(post(client, body, media_type)) == code
    assert post(client, b'{"k": 1}', "application/x-ndjson").status_code == 200


def test_damaged_arrow_is_refused_and_nothing_crashes(client: httpx.Client) -> None:
    whole = ipc(pa.table({"k": list(range(50)), "name": [f"name {n}" for n in range(50)]}))
    for place in range(0, len(whole), 7):
        body = whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
        assert post(client, body, ARROW).status_code in (200, 422)
        assert post(client, whole[:place], ARROW).status_code in (200, 422)


def test_inputs_and_outputs_that_are_not_there(client: httpx.Client) -> None:
    assert error(client.post("/v1/inputs/y/tuples", json=[])) == (404, "not_found")
    assert error(client.get("/v1/outputs/y/tuples")) == (404, "not_found")
    assert error(client.get("/v1/outputs/y/events")) == (404, "not_found")
    assert error(client.get("/v1/arcs/y/peek")) == (404, "not_found")
    assert error(client.get("/v1/outputs/out/events", params={"from": 999})) == (400, "invalid_request")
    for seen in ("x", "-1", "9" * 5000, str(1 << 62)):
        refused = client.get("/v1/outputs/out/events", headers={"Last-Event-ID": seen})
        assert error(refused) == (400, "invalid_request"), seen


def test_pages_go_on_where_the_last_one_ended(client: httpx.Client) -> None:
    post(client, b"".join(b'{"k": %d}\n' % k for k in range(10)), "application/x-ndjson")
    read(client, 10, params={"from": 0})
    seq, found = 0, []
    while rows := (page := client.get("/v1/outputs/out/tuples", params={"from": seq, "limit": 3})).json():
        assert len(rows) <= 3
        found += [row["k"] for row in rows]
        seq = int(page.headers["Australis-Next"])
    assert found == list(range(10))
    part = client.get("/v1/outputs/out/tuples", params={"from": 3, "to": 5, "form": "csv"})
    assert [line.split(",")[0] for line in part.text.splitlines()] == ["k", "2", "3"]
    with pa.ipc.open_stream(client.get("/v1/outputs/out/tuples", params={"form": "arrow"}).content) as stream:
        assert stream.read_all()["k"].to_pylist() == list(range(10))


def test_events_resume_after_the_last_one(client: httpx.Client) -> None:
    for k in range(3):
        post(client, b'{"k": %d}' % k, "application/x-ndjson")
    read(client, 3, params={"from": 0})
    first = next(events(client, params={"from": 0}))
    assert read(client, 2, headers={"Last-Event-ID": first["id"]})[-1] == 2


def test_what_waits_is_seen(client: httpx.Client) -> None:
    post(client, b'{"k": -1}', "application/x-ndjson")
    assert client.get("/v1/arcs/x/peek", params={"limit": 5}).status_code == 200


def socket(client: httpx.Client, path: str) -> ClientConnection:
    return connect(f"ws{str(client.base_url).rstrip('/').removeprefix('http')}{path}", open_timeout=60)


def test_sockets_follow_and_consumers_go_on_where_they_acknowledged(client: httpx.Client) -> None:
    post(client, b'{"k": 1}\n{"k": 2}\n', "application/x-ndjson")
    read(client, 2, params={"from": 0})
    with socket(client, "/v1/outputs/out/socket?consumer=me") as own:
        message = json.loads(own.recv(60))
        assert [row["k"] for row in message["tuples"]] == [1, 2]
        own.send(json.dumps({"acknowledge": message["last"]}))
        own.send("nonsense")
        with pytest.raises(ConnectionClosed, match="expected"):
            own.recv(60)
    with socket(client, "/v1/outputs/out/socket?consumer=me") as own:
        post(client, b'{"k": 3}', "application/x-ndjson")
        assert [row["k"] for row in json.loads(own.recv(60))["tuples"]] == [3]


def test_consumers_are_seen_without_making_any(client: httpx.Client) -> None:
    post(client, b'{"k": 1}\n{"k": 2}\n', "application/x-ndjson")
    read(client, 2, params={"from": 0})
    rows = client.get("/v1/outputs/out/tuples").json()
    place = "/v1/outputs/out/consumers"
    assert client.get(place).json() == {"consumers": []}
    for _ in range(2):
        unknown = client.get(f"{place}/me")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert client.post(f"{place}/me").json() == {"seq": 0, "position": None}
    assert client.put(f"{place}/me", json={"seq": rows[0]["#seq"] + 1}).status_code == 200
    me = client.get(f"{place}/me").json()
    assert (me["name"], me["seq"]) == ("me", rows[0]["#seq"] + 1)
    assert me["behind"] >= 1
    assert client.get(place).json() == {"consumers": [me]}
    assert client.put(f"{place}/me", json={"seq": False}).status_code == 400
    assert client.delete(f"{place}/me").json() == {"removed": True}
    assert client.get(place).json() == {"consumers": []}
    assert client.get("/v1/outputs/nowhere/consumers").status_code == 404


@pytest.mark.parametrize(
    "message", ["", "[" * 100_000, '{"acknowledge": true}', '{"acknowledge": 1e9}', b"\xff\0"]
)
def test_what_is_no_message_ends_the_connection_and_nothing_else(client: httpx.Client, message: Any) -> None:
    with socket(client, "/v1/outputs/out/socket?consumer=me") as own:
        own.send(message)
        with pytest.raises(ConnectionClosed):
            own.recv(60)
    assert client.get("/healthz").status_code == 200


def test_an_output_that_is_not_there_has_no_socket(client: httpx.Client) -> None:
    with pytest.raises(InvalidStatus), socket(client, "/v1/outputs/y/socket"):
        pass


def test_the_state_of_everything_comes_all_the_time(client: httpx.Client) -> None:
    post(client, b'{"k": 1}', "application/x-ndjson")
    with socket(client, "/v1/live?every=0.2") as live:
        assert json.loads(live.recv(60))["inputs"]["x"]["received"] == 1
        assert json.loads(live.recv(60))["outputs"]["out"]["rate"] is not None
