"""The routes about feeds, of a service that runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import httpx
from tests.service.conftest import SOLDIERS

Serve = Callable[..., httpx.Client]


def test_feeds_begin_with_the_network_and_are_seen_paused_and_restarted(serve: Serve, tmp_path: Path) -> None:
    reports = tmp_path / "reports.csv"
    reports.write_text("sid,time,pos\n")
    client = serve(feeds={"inputs": {"reports": str(reports)}, "outputs": {"nothing": "nothing.csv"}})
    before = {each["name"]: each["state"] for each in client.get("/v1/feeds").json()["feeds"]}
    assert before == {"reports": "absent", "nothing": "absent"}
    inputs = client.put("/v1/network", json={"network": SOLDIERS.read_text()})
    assert inputs.status_code == 200
    wait = threading.Event()
    while (feed := client.get("/v1/feeds").json()["feeds"][0])["state"] == "absent":
        wait.wait(0.05)
    assert (feed["direction"], feed["address"]) == ("input", str(reports))
    assert client.post("/v1/feeds/input/reports/pause").json()["state"] == "paused"
    assert client.post("/v1/feeds/input/reports/restart").json()["state"] != "paused"
    missing = client.post("/v1/feeds/output/reports/pause")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    assert client.post("/v1/feeds/sideways/reports/pause").status_code == 400


def test_no_call_says_where_a_feed_leads(serve: Serve) -> None:
    """The addresses are in the settings alone, so there is nothing to be allowed or refused."""
    client = serve()
    paths = client.get("/v1/openapi.json").json()["paths"]
    calls = {path: methods for path, methods in paths.items() if path.startswith("/v1/feeds")}
    assert {method for methods in calls.values() for method in methods} == {"get", "post"}
    assert not [path for path, methods in calls.items() for each in methods.values() if "requestBody" in each]
    network = f"{SOLDIERS.read_text()}\nfeeds: {{inputs: {{reports: 'kafka:reports'}}}}\n"
    refused = client.put("/v1/network", json={"network": network})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_network")
