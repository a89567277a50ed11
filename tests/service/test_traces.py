"""Traces: what a collector gets of calls, pushes and trains, and that nothing of it is loaded unasked."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pyarrow import flight
from tests.service.running import running_service

import australis
from australis.algebra.form import to_json
from australis.engine import Node
from australis.engine.train import FailedTrain, Train
from australis.errors import EngineError, Problem
from australis.service.settings import ServiceSettings, TracingSettings
from australis.service.tracing.otel import OtelTraces

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
BEGUN = f"00-{TRACE}-{CALLER}-01"
"""A trace that a caller has begun."""


class Collector(ThreadingHTTPServer):
    """Takes OTLP over HTTP, and keeps the spans."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/traces"

    @property
    def spans(self) -> list[Span]:
        scopes = [scope for got in self.requests for each in got.resource_spans for scope in each.scope_spans]
        return [span for scope in scopes for span in scope.spans]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Span:
        (found,) = self.named(name)
        return found


class _Answers(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def traced(collector: Collector, root: Path, **tracing: Any) -> Iterator[httpx.Client]:
    """A client of a service that is traced, with a network of two inputs; all spans are there after it."""
    settings = {
        "node": {"root": str(root), "runner": "light[1]"},
        "tracing": {"endpoint": collector.endpoint, **tracing},
    }
    net = australis.NetworkBuilder("n")
    net.input("x", "k long").filter("k >= 0", as_="some").output("out")
    net.input("y", "k long").filter("k < 0", as_="others").output("rest")
    with running_service(ServiceSettings.model_validate(settings)) as client:
        client.put("/v1/network", json={"network": to_json(net.build())}).raise_for_status()
        yield client


def push(client: httpx.Client, name: str, key: int, **headers: str) -> None:
    client.post(f"/v1/inputs/{name}/tuples", json=[{"k": key}], headers=headers).raise_for_status()


def run_all(client: httpx.Client) -> None:
    """Run one train after the other, until there is nothing left."""
    while client.post("/v1/network/step").raise_for_status().json()["train"] is not None:
        pass


def facts(span: Span) -> dict[str, Any]:
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in span.attributes}


def test_a_push_is_followed_from_its_caller_to_the_commit_of_its_train(
    collector: Collector, tmp_path: Path
) -> None:
    with traced(collector, tmp_path, service="plant") as client:
        client.post("/v1/network/pause").raise_for_status()
        push(client, "x", 7, traceparent=BEGUN)
        run_all(client)
        name = client.get("/v1/node").json()["caller"]["name"]
    resource = collector.requests[0].resource_spans[0].resource
    assert [e.value.string_value for e in resource.attributes if e.key == "service.name"] == ["plant"]
    call, stored = collector.one("POST /v1/inputs/{name}/tuples"), collector.one("push x")
    train, run, commit = collector.one("train some"), collector.one("run"), collector.one("commit")
    assert {span.trace_id.hex() for span in (call, stored, train, run, commit)} == {TRACE}
    assert [span.parent_span_id.hex() for span in (call, stored, train, run, commit)] == [
        CALLER,
        call.span_id.hex(),
        stored.span_id.hex(),
        train.span_id.hex(),
        train.span_id.hex(),
    ]
    assert facts(call)["http.response.status_code"] == 200
    assert facts(call)["enduser.id"] == name
    assert facts(stored) == {
        "australis.input": "x",
        "australis.accepted": 1,
        "australis.rejected": 0,
        "australis.repeated": False,
        "australis.log_end": 2,
    }
    assert (facts(train)["australis.received"], facts(train)["australis.emitted"]) == (1, 1)
    assert train.start_time_unix_nano == run.start_time_unix_nano
    assert run.end_time_unix_nano == commit.start_time_unix_nano
    assert commit.end_time_unix_nano == train.end_time_unix_nano


def test_a_train_of_several_pushes_is_linked_to_those_that_reach_it(
    collector: Collector, tmp_path: Path
) -> None:
    with traced(collector, tmp_path) as client:
        client.post("/v1/network/pause").raise_for_status()
        for name, key in (("x", 1), ("y", -1), ("x", 2)):
            push(client, name, key)
        run_all(client)
    first, second = (span.span_id for span in collector.named("push x"))
    train, other = collector.one("train some"), collector.one("train others")
    assert [link.span_id for link in train.links] == [first, second]
    assert not train.parent_span_id
    assert other.parent_span_id == collector.one("push y").span_id


def test_calls_of_flight_are_traced(collector: Collector, tmp_path: Path) -> None:
    with traced(collector, tmp_path) as client:
        address = client.get("/v1/node").json()["flight"]
        options = flight.FlightCallOptions(headers=[(b"traceparent", BEGUN.encode())])
        with flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as flying:
            descriptor = flight.FlightDescriptor.for_command(json.dumps({"input": "x"}))
            batch = pa.record_batch({"k": [1, 2, 3]})
            writer, reader = flying.do_put(descriptor, batch.schema, options)
            with writer:
                reader.read()
                writer.write_batch(batch)
                writer.done_writing()
                reader.read()
            with pytest.raises(flight.FlightServerError):
                flying.do_get(flight.Ticket(b'{"output": "nowhere"}'), options).read_all()
    put, stored, get = collector.one("Flight DoPut"), collector.one("push x"), collector.one("Flight DoGet")
    assert {span.trace_id.hex() for span in (put, stored, get)} == {TRACE}
    assert stored.parent_span_id == put.span_id
    assert facts(stored)["australis.accepted"] == 3
    assert facts(put)["australis.input"] == "x"
    assert put.status.code == Span().status.STATUS_CODE_UNSET
    assert get.status.code == Span().status.STATUS_CODE_ERROR
    assert "nowhere" in get.status.message


def test_a_train_that_fails_is_an_error(collector: Collector, tmp_path: Path) -> None:
    traces = OtelTraces(TracingSettings(endpoint=collector.endpoint))
    net = australis.NetworkBuilder("n")
    net.input("x", "k long").filter("k >= 0", as_="some").output("out")
    with Node(tmp_path, runner="light[1]", observer=traces.observer) as node:
        node.deploy(net.build())
        node.pause()
        node.push("x", {"k": 1})
        (stored,) = (tmp_path / "segments").rglob("*.parquet")
        stored.write_bytes(b"no Parquet")
        with pytest.raises(EngineError):
            node.step()
    traces.close()
    train = collector.one("train some")
    assert train.status.code == Span().status.STATUS_CODE_ERROR
    assert train.status.message


def test_what_the_caller_does_not_trace_is_not_traced(collector: Collector, tmp_path: Path) -> None:
    with traced(collector, tmp_path, share=0) as client:
        client.post("/v1/network/pause").raise_for_status()
        push(client, "x", 1, traceparent=f"00-{TRACE}-{CALLER}-00")
        push(client, "y", -1, traceparent=BEGUN)
        run_all(client)
    assert {span.name for span in collector.spans} == {
        "POST /v1/inputs/{name}/tuples",
        "push y",
        "train others",
        "run",
        "commit",
    }


def test_a_collector_that_is_away_changes_nothing(tmp_path: Path) -> None:
    with Collector() as gone:
        pass
    with traced(gone, tmp_path) as client:
        push(client, "x", 1)
        assert client.get("/readyz").json() == {"state": "running"}


def test_probes_and_scrapes_are_not_traced(collector: Collector, tmp_path: Path) -> None:
    with traced(collector, tmp_path) as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            client.get(path).raise_for_status()
    assert {span.name for span in collector.spans} == {"PUT /v1/network"}


PROGRAM = """
import sys
{before}
from australis.errors import ServiceError
from australis.service.serving.process import Service
from australis.service.settings import ServiceSettings
try:
    Service(ServiceSettings.model_validate({{"listen": "127.0.0.1:0", "tracing": {{{tracing}}}}}), print)
except ServiceError as error:
    print(error)
parts = ("opentelemetry.sdk", "opentelemetry.exporter")
print([name for name, module in sys.modules.items() if name.startswith(parts) and module])
"""


def said(before: str = "", tracing: str = "") -> list[str]:
    program = PROGRAM.format(before=before, tracing=tracing)
    return subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()


def test_nothing_is_loaded_unless_it_is_wanted() -> None:
    assert said() == ["[]"]


def test_without_the_package_the_start_says_what_to_install() -> None:
    without = "sys.modules['opentelemetry.sdk'] = None"
    told, _ = said(without, "'endpoint': 'http://127.0.0.1:4318/v1/traces'")
    assert told.startswith("tracing.endpoint: needs OpenTelemetry: ")
    assert told.endswith("expected pip install 'australis[otel]'")


def test_the_kinds_of_trains_are_told_apart() -> None:
    """An observer hears of each train once, as committed or as failed."""
    heard: list[str] = []

    class Hears:
        def committed(self, train: Train, inputs: frozenset[str]) -> None:
            heard.append(f"{train.superbox} of {sorted(inputs)}")

        def failed(self, train: FailedTrain, inputs: frozenset[str]) -> None:
            raise EngineError(Problem(train.superbox, "failed"))

    net = australis.NetworkBuilder("n")
    left = net.input("x", "k long").filter("k >= 0", as_="some")
    left.union(net.input("y", "k long"), as_="both").output("out")
    with Node(runner="light[1]", discipline="box", observer=Hears()) as node:
        node.deploy(net.build())
        node.push("x", {"k": 1})
        node.drain()
    assert sorted(set(heard)) == ["both of ['x', 'y']", "some of ['x']"]
