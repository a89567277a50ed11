"""What is exported is what docs/metrics.md lists, and the dashboard asks for nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from pyarrow import flight
from tests.waiting import until
from websockets.sync.client import connect

Serve = Callable[..., httpx.Client]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "metrics.md"
DASHBOARD = ROOT / "deploy" / "grafana" / "australis.json"
NETWORK = """
australis: 1
name: measured
inputs: {readings: {schema: {n: int}}}
boxes:
  some: {box: filter, from: readings, predicates: [n > 0]}
outputs:
  all: {from: some, quality: {delay: [[0, 1], [10, 0]]}}
"""


def exported(text: str) -> dict[str, tuple[str, str]]:
    """The type and the description of each metric."""
    told = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.M))
    return {
        name: (kind, told[name])
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
        if not name.endswith("_created")
    }


@pytest.fixture
def scraped(serve: Serve, tmp_path: Path) -> str:
    """The metrics of a service whose network has outputs with graphs, and a bound on its disk."""
    node = {"root": str(tmp_path / "root"), "runner": "light[1]", "disk": 10**9}
    client = serve(node=node, feeds={"inputs": {"none": "none.csv"}})
    made = client.put("/v1/network", json={"network": NETWORK})
    assert made.status_code == 200, made.text
    client.get("/metrics")
    return client.get("/metrics").text


def test_the_page_lists_what_is_exported(scraped: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(), re.M)
    assert {name: (kind, told) for name, kind, told in rows} == exported(scraped)


def subscribed(client: httpx.Client) -> dict[str, dict[str, float]]:
    """The metrics of subscribers of the output `all`, by metric and way."""
    found: dict[str, dict[str, float]] = {}
    line = re.compile(r'^australis_(subscriber\w*)\{output="all",way="(\w+)"\} (\S+)$', re.M)
    for name, way, value in line.findall(client.get("/metrics").text):
        found.setdefault(name, {})[way] = float(value)
    return found


def connected(client: httpx.Client) -> dict[str, float]:
    return subscribed(client).get("subscribers", {})


def push(client: httpx.Client, *values: int) -> None:
    client.post("/v1/inputs/readings/tuples", json=[{"n": n} for n in values]).raise_for_status()


def test_subscribers_are_counted_by_output_and_way(serve: Serve) -> None:
    client = serve()
    client.put("/v1/network", json={"network": NETWORK}).raise_for_status()
    assert subscribed(client) == {}
    address, socket = client.get("/v1/node").json()["flight"], str(client.base_url).replace("http", "ws", 1)
    ticket = flight.Ticket(json.dumps({"output": "all", "from": 0, "follow": True}))
    push(client, 1, 2, 3)
    with (
        client.stream("GET", "/v1/outputs/all/events?from=0") as events,
        flight.connect(address, generic_options=[("grpc.enable_http_proxy", 0)]) as flying,
        ExitStack() as stack,
    ):
        lines = events.iter_lines()
        while not next(lines).startswith("data"):
            pass
        reader = flying.do_get(ticket)
        assert reader.read_chunk().data.num_rows == 3
        opened = stack.enter_context(connect(f"{socket}/v1/outputs/all/socket", proxy=None))
        assert connected(client) == {"events": 1, "socket": 1, "flight": 1}
        assert subscribed(client)["subscriber_tuples_total"] == {"events": 3, "socket": 0, "flight": 3}
        push(client, 4)
        assert json.loads(opened.recv())["tuples"][0]["n"] == 4
        assert reader.read_chunk().data.num_rows == 1
        until(lambda: set(subscribed(client)["subscriber_behind_numbers"].values()) == {0})
        reader.cancel()
    until(lambda: set(connected(client).values()) == {0})
    assert subscribed(client)["subscriber_tuples_total"] == {"events": 4, "socket": 1, "flight": 4}
    assert set(subscribed(client)["subscriber_missed_numbers_total"].values()) == {0}


def test_a_stream_that_is_refused_leaves_no_subscriber(serve: Serve) -> None:
    client = serve(access={"limits": {"streams": 1}})
    client.put("/v1/network", json={"network": NETWORK}).raise_for_status()
    with client.stream("GET", "/v1/outputs/all/events") as events:
        assert events.status_code == 200
        for _ in range(3):
            for path in ("/v1/outputs/all/events", "/v1/arcs/some/tap"):
                refused = client.get(path)
                assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many")
        assert connected(client) == {"events": 1}


def test_the_dashboard_asks_for_what_is_exported() -> None:
    names = {name for name, _, _ in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", PAGE.read_text(), re.M)}
    dashboard = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert len(queries) > 12
    for query in queries:
        asked = set(re.findall(r"\b(?:australis|process)_\w+", query))
        assert asked, query
        assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} <= names, query
