"""Every call by every role: who may do what, cell by cell; a route without a row fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from tests.service.running import running_service
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from australis.service.access import Role, TokenFile
from australis.service.http.routes import ROUTERS
from australis.service.settings import ServiceSettings

OPEN, VIEWER, OPERATOR, OWNER = None, Role.VIEWER, Role.OPERATOR, Role.OWNER
TABLE = {
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": VIEWER,
    "GET /v1/node": VIEWER,
    "GET /v1/network": VIEWER,
    "POST /v1/network/check": VIEWER,
    "POST /v1/network/diff": VIEWER,
    "PUT /v1/network": OWNER,
    "DELETE /v1/network": OWNER,
    "POST /v1/network/pause": OPERATOR,
    "POST /v1/network/resume": OPERATOR,
    "POST /v1/network/step": OPERATOR,
    "GET /v1/operations": VIEWER,
    "GET /v1/operations/{operation}": VIEWER,
    "DELETE /v1/operations/{operation}": OPERATOR,
    "GET /v1/boxes": VIEWER,
    "GET /v1/boxes/{box}": VIEWER,
    "GET /v1/arcs": VIEWER,
    "GET /v1/arcs/{arc}": VIEWER,
    "GET /v1/arcs/{arc}/peek": VIEWER,
    "GET /v1/arcs/{arc}/tap": VIEWER,
    "GET /v1/breakpoints": VIEWER,
    "PUT /v1/breakpoints/{name}": OPERATOR,
    "DELETE /v1/breakpoints/{name}": OPERATOR,
    "GET /v1/inputs": VIEWER,
    "GET /v1/inputs/{name}": VIEWER,
    "POST /v1/inputs/{name}/tuples": OPERATOR,
    "POST /v1/inputs/{name}/promise": OPERATOR,
    "POST /v1/flush": OPERATOR,
    "POST /v1/tables/{name}/refresh": OPERATOR,
    "GET /v1/outputs": VIEWER,
    "GET /v1/outputs/{name}": VIEWER,
    "GET /v1/outputs/{name}/tuples": VIEWER,
    "GET /v1/outputs/{name}/events": VIEWER,
    "WS /v1/outputs/{name}/socket": VIEWER,
    "WS /v1/live": VIEWER,
    "GET /v1/outputs/{name}/kept": VIEWER,
    "GET /v1/outputs/{name}/consumers": VIEWER,
    "GET /v1/outputs/{name}/consumers/{consumer}": VIEWER,
    "POST /v1/outputs/{name}/consumers/{consumer}": OPERATOR,
    "PUT /v1/outputs/{name}/consumers/{consumer}": OPERATOR,
    "DELETE /v1/outputs/{name}/consumers/{consumer}": OPERATOR,
    "GET /v1/points": VIEWER,
    "GET /v1/points/{point}/history": VIEWER,
    "GET /v1/splits": VIEWER,
    "PUT /v1/splits/{box}": OPERATOR,
    "DELETE /v1/splits/{box}": OPERATOR,
    "GET /v1/queries": VIEWER,
    "PUT /v1/queries/{name}": OPERATOR,
    "DELETE /v1/queries/{name}": OPERATOR,
    "GET /v1/feeds": VIEWER,
    "GET /v1/cluster": VIEWER,
    "POST /v1/cluster/withdrawals": OWNER,
    "GET /v1/cluster/members": VIEWER,
    "GET /v1/cluster/where": VIEWER,
    "GET /v1/cluster/find": VIEWER,
    "POST /v1/cluster/moves": OWNER,
    "POST /v1/feeds/{direction}/{name}/restart": OPERATOR,
    "POST /v1/feeds/{direction}/{name}/pause": OPERATOR,
    "GET /v1/dropboxes": VIEWER,
    "GET /v1/quarantine": VIEWER,
    "GET /v1/statistics": VIEWER,
    "GET /v1/quality": VIEWER,
    "GET /v1/optimiser": VIEWER,
    "GET /v1/search": VIEWER,
    "GET /v1/audit": OWNER,
}
"""The least role of each call; a row for each route."""
CALLERS = ["nobody", *Role]


def calls() -> Iterator[str]:
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                yield from (f"{method} {route.path}" for method in sorted(route.methods))
            elif isinstance(route, APIWebSocketRoute):
                yield f"WS {route.path}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, dict[str, str]]]:
    """A service that knows a token of each role."""
    folder: Path = tmp_path_factory.mktemp("guarded")
    tokens = TokenFile(folder / "tokens.json")
    texts = {role.value: tokens.new(f"a-{role}", role) for role in Role}
    settings = {
        "node": {"root": str(folder / "root"), "runner": "light[1]"},
        "access": {"tokens": str(tokens.path)},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        yield client, texts


def test_every_route_has_a_row() -> None:
    assert sorted(calls()) == sorted(TABLE)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("call", TABLE)
def test_a_call_is_for_its_role_and_those_above(
    call: str, caller: str, guarded: tuple[httpx.Client, dict[str, str]]
) -> None:
    client, texts = guarded
    role, (method, path) = TABLE[call], call.split()
    path = re.sub(r"\{\w+\}", "x", path.replace("{direction}", "input"))
    headers = {} if caller == "nobody" else {"Authorization": f"Bearer {texts[caller]}"}
    status = _status(client, method, path, headers)
    if role is OPEN:
        assert status == 200
    elif caller == "nobody":
        assert status == 401
    elif Role(caller).includes(role):
        assert status not in (401, 403)
        assert status < 500
    else:
        assert status == 403


def _status(client: httpx.Client, method: str, path: str, headers: dict[str, str]) -> int:
    if method != "WS":
        return client.request(method, path, headers=headers).status_code
    try:
        address = str(client.base_url).replace("http", "ws", 1).rstrip("/") + path
        with connect(address, additional_headers=headers):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


@pytest.mark.parametrize("path", ["/v1/openapi.json", "/v1/docs"])
def test_the_description_is_open_on_loopback(path: str, guarded: tuple[httpx.Client, dict[str, str]]) -> None:
    assert guarded[0].get(path).status_code == 200


def test_what_is_no_token_is_refused_in_the_one_shape(guarded: tuple[httpx.Client, dict[str, str]]) -> None:
    client, texts = guarded
    for header in ("Bearer australis_wrong", "Basic YTpi", "Bearer", f"Bearer {texts['owner']}x"):
        refused = client.get("/v1/node", headers={"Authorization": header})
        assert refused.status_code == 401
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert refused.json()["error"]["code"] == "unauthenticated"


def test_a_token_in_the_address_is_none(guarded: tuple[httpx.Client, dict[str, str]]) -> None:
    client, texts = guarded
    assert client.get("/v1/node", params={"token": texts["owner"]}).status_code == 401
    assert client.get("/v1/node", params={"access_token": texts["owner"]}).status_code == 401
