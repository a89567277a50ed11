"""Outputs that a real HTTP server receives: at least once, with a key by which it knows repetitions."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from tests.engine.sinks.shelf import SCHEMA, Shelf, tuples

from australis.engine.sinks import DoorOptions, parse_sink, write_out
from australis.engine.sinks.webhook import WebhookSink
from australis.engine.sinks.webhook.posting import Poster, Refused
from australis.errors import EngineError, TryLater


class Receiver(ThreadingHTTPServer):
    """Notes requests, and gives the answers that it was told to; 204 when these are used up."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?x=1"

    def rows(self) -> list[int]:
        """The numbers of all tuples, each request by its key only once."""
        seen = {headers["Idempotency-Key"]: body for headers, body in self.requests}
        return [json.loads(line)["n"] for body in seen.values() for line in body.splitlines()]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, more = self.server.answers.pop(0) if self.server.answers else (204, {})
        self.server.requests.append((dict(self.headers.items()), body))
        self.send_response(status)
        for name, value in {"Content-Length": "0", **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sink(receiver: Receiver, settings: str = "", patience_s: float = 30.0) -> WebhookSink:
    found = parse_sink("out", f"{receiver.url}#{settings}", SCHEMA, door=DoorOptions(patience_s))
    assert isinstance(found, WebhookSink)
    return found


def test_tuples_are_posted_as_lines(receiver: Receiver, tmp_path: Path) -> None:
    table = tuples(100)
    write_out(Shelf(tmp_path, table), sink(receiver, "most=4"))
    assert receiver.rows() == list(range(100))
    headers = [each for each, _ in receiver.requests]
    assert len({each["Idempotency-Key"] for each in headers}) == len(headers)
    assert {each["Content-Type"] for each in headers} == {"application/x-ndjson"}
    assert max(body.count(b"\n") for _, body in receiver.requests) == 4
    assert json.loads(receiver.requests[0][1].splitlines()[1]) == {
        "n": 1,
        "word": 'a "word",\n1',
        "half": 0.5,
    }


def test_an_array_that_is_signed(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSTRALIS_HOOK", "ge/heim")
    given = sink(receiver, "form=array&secret=${AUSTRALIS_HOOK}")
    assert "ge/heim" not in f"{given} {given.consumer}"
    write_out(Shelf(tmp_path, tuples(9)), given)
    headers, body = receiver.requests[0]
    assert [row["n"] for row in json.loads(body)] == list(range(len(json.loads(body))))
    at, _, signed = headers["Australis-Signature"].partition(",")
    wanted = hmac.new(b"ge/heim", at.removeprefix("t=").encode() + b"." + body, hashlib.sha256)
    assert signed == f"v1={wanted.hexdigest()}"


def test_what_fails_for_now_is_tried_again_with_the_same_key(receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [(500, {}), (429, {"Retry-After": "1"}), (204, {}), (503, {})]
    write_out(Shelf(tmp_path, tuples(30)), sink(receiver))
    assert receiver.rows() == list(range(30))
    keys = [headers["Idempotency-Key"] for headers, _ in receiver.requests]
    assert keys[0] == keys[1] == keys[2] != keys[3] == keys[4]


def test_a_kill_after_a_request_repeats_it_with_the_same_key_and_tuples(
    receiver: Receiver, tmp_path: Path
) -> None:
    class Dies(BaseException):
        pass

    class DyingShelf(Shelf):
        """Dies before a cut is acknowledged; more tuples come until the next run."""

        def acknowledge(self, consumer: str, output: str, seq: int, position: str | None = None) -> None:
            if seq > self.consumer(consumer, output)[0]:
                raise Dies
            super().acknowledge(consumer, output, seq, position)

    with pytest.raises(Dies):
        write_out(DyingShelf(tmp_path, tuples(7)), sink(receiver))
    write_out(Shelf(tmp_path, tuples(30), step=1000), sink(receiver))
    (first, body), (second, again) = receiver.requests[:2]
    assert (first["Idempotency-Key"], body) == (second["Idempotency-Key"], again)
    assert receiver.rows() == list(range(30))


def test_what_is_refused_stops_it_or_is_set_aside(receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [(422, {})]
    with pytest.raises(EngineError, match=r"/hook: answers 422; expected .* or rejected=FILE"):
        write_out(Shelf(tmp_path, tuples(30)), sink(receiver))
    receiver.answers = [(422, {})]
    aside = tmp_path / "bad.jsonl"
    write_out(Shelf(tmp_path, tuples(30)), sink(receiver, f"rejected={aside}"))
    (line,) = aside.read_text().splitlines()
    found = json.loads(line)
    assert found["status"] == 422
    assert found["key"] == receiver.requests[1][0]["Idempotency-Key"]
    refused = [row["n"] for row in found["tuples"]]
    assert refused == list(range(len(refused)))
    done = [json.loads(row)["n"] for _, body in receiver.requests[2:] for row in body.splitlines()]
    assert refused + done == list(range(30))


def test_what_a_server_says_is_told_on_one_line() -> None:
    def said(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            422, stream=httpx.ByteStream(b"no\r\n2026-01-01T00:00:00.000Z INFO forged\x1b[2J")
        )

    poster = Poster("http://host/hook", "http://host/hook", "", 1.0)
    poster._client = httpx.Client(transport=httpx.MockTransport(said))
    with pytest.raises(Refused) as refused:
        poster.post(b"{}", "application/json", "key", "out")
    what = "answers 422: no 2026-01-01T00:00:00.000Z INFO forged\N{REPLACEMENT CHARACTER}[2J"
    assert refused.value.problem.what == what
    poster.close()


def test_no_redirect_is_followed(receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [(307, {"Location": "http://127.0.0.1:1/"})]
    with pytest.raises(EngineError, match="answers 307, a redirect to http://127"):
        write_out(Shelf(tmp_path, tuples(9)), sink(receiver))
    assert len(receiver.requests) == 1


def test_without_patience_a_server_that_is_away_is_told_at_once(receiver: Receiver, tmp_path: Path) -> None:
    receiver.answers = [(503, {"Retry-After": "17"})]
    with pytest.raises(TryLater, match="answers 503") as later:
        write_out(Shelf(tmp_path, tuples(9)), sink(receiver, patience_s=0.0))
    assert later.value.after_s == 17


def test_a_host_that_is_not_allowed_is_not_reached() -> None:
    door = DoorOptions(allows=lambda host: host == "example.org")
    found = parse_sink("out", "http://169.254.169.254/latest", SCHEMA, door=door)
    with pytest.raises(EngineError, match=r"the host 169\.254\.169\.254 is not allowed"):
        found.check(None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("https:///hook", "the address has no host; expected https://HOST/PATH"),
        ("https://me:geheim@host/hook", "the address holds a password"),
        ("https://host/hook#secret=geheim", "the address holds a password"),
        ("https://host/hook#form=xml", "form is 'xml'; expected one of lines, array"),
        ("https://host/hook#rejected=never", "rejected is 'never'; expected stop, or a file"),
        ("https://host/hook#retries=3", "'retries' is no setting of it"),
    ],
)
def test_addresses_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(EngineError, match=message):
        parse_sink("out", text, SCHEMA)
