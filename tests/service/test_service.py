"""A service from its start to its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
from tests.service.conftest import SOLDIERS
from tests.service.running import running_service

from australis.service.settings import ServiceSettings

Serve = Callable[..., httpx.Client]


def test_an_empty_node_is_ready_and_takes_a_network(serve: Serve) -> None:
    client = serve()
    assert client.get("/healthz").json() == {"state": "empty"}
    assert client.get("/readyz").status_code == 200
    missing = client.get("/v1/network")
    assert missing.status_code == 404
    assert missing.json()["error"] == {
        "code": "not_found",
        "message": "the node has no network",
        "path": "",
        "hint": "PUT /v1/network",
    }
    made = client.put("/v1/network", json={"network": SOLDIERS.read_text()})
    assert made.status_code == 200
    assert made.json()["difference"] is None
    found = client.get("/v1/network")
    assert found.headers["ETag"] == made.headers["ETag"] == f'"{found.json()["revision"]}"'
    assert found.json()["network"]["name"] == "soldiers"
    again = client.put("/v1/network", json={"network": found.json()["network"]})
    assert again.json()["revision"] == made.json()["revision"]
    status = client.get("/v1/node").json()
    assert (status["state"], status["network"]["name"]) == ("running", "soldiers")
    assert status["caller"] == {"name": "anonymous", "role": "owner"}


def test_a_service_resumes_the_network_of_its_root(tmp_path: Path) -> None:
    settings = ServiceSettings.model_validate({"node": {"root": str(tmp_path), "runner": "light[1]"}})
    with running_service(settings) as client:
        client.put("/v1/network", json={"network": SOLDIERS.read_text()})
        revision = client.get("/v1/network").json()["revision"]
    with running_service(settings) as client:
        assert client.get("/v1/network").json()["revision"] == revision
        assert client.get("/readyz").json() == {"state": "running"}
