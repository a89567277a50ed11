"""Tokens: made, listed, revoked; and what a service that runs makes of that."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from tests.service.running import running_service
from tests.waiting import until

from australis.app.cli import main
from australis.errors import ErrorCode, ServiceError
from australis.service.access import Access, Role, TokenFile, check_exposure
from australis.service.settings import ServiceSettings

Serve = Callable[..., httpx.Client]


def settings_of(path: Path, **access: object) -> ServiceSettings:
    return ServiceSettings.model_validate({"access": {"tokens": str(path), **access}})


def test_the_file_has_no_token_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    text = file.new("loader", Role.OPERATOR)
    assert text not in file.path.read_text()
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert len(text) > 43, "256 bits and what they begin with"


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    file.new("loader", Role.OPERATOR)
    file.path.chmod(0o644)
    with pytest.raises(ServiceError, match="can be read by others"):
        Access(settings_of(file.path))


def test_a_token_is_found_until_it_is_revoked(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    first, second = file.new("first", Role.VIEWER), file.new("second", Role.OWNER)
    access = Access(settings_of(file.path))
    assert access.caller(f"Bearer {second}").role is Role.OWNER
    assert access.caller(f"bearer {first}").name == "first"
    file.revoke("first")
    with pytest.raises(ServiceError) as refused:
        access.caller(f"Bearer {first}")
    assert refused.value.code is ErrorCode.UNAUTHENTICATED
    assert access.caller(f"Bearer {second}").name == "second"
    file.path.unlink()
    with pytest.raises(ServiceError):
        access.caller(f"Bearer {second}")


def test_callers_are_not_told_of_a_file_that_cannot_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    file.new("owner", Role.OWNER)
    access = Access(settings_of(file.path))
    file.path.chmod(0o644)
    with pytest.raises(ServiceError) as refused:
        access.caller("Bearer x")
    assert refused.value.code is ErrorCode.INTERNAL
    assert str(tmp_path) not in str(refused.value)
    assert f"{file.path}: can be read by others" in caplog.text


def test_a_token_expires(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    brief, long = file.new("brief", Role.VIEWER, "1 us"), file.new("long", Role.VIEWER, "1 day")
    access = Access(settings_of(file.path))
    assert access.caller(f"Bearer {long}").name == "long"
    with pytest.raises(ServiceError, match="no token of this service, or no longer"):
        access.caller(f"Bearer {brief}")


@pytest.mark.parametrize("name", ["", "anonymous", "a b", "../x", "x" * 65])
def test_a_name_is_plain(name: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="cannot have a token"):
        TokenFile(tmp_path / "tokens.json").new(name, Role.VIEWER)


def test_without_a_file_everybody_has_the_role_of_the_settings() -> None:
    assert Access(ServiceSettings()).caller(None).role is Role.OWNER
    named = ServiceSettings.model_validate({"access": {"anonymous": "viewer"}})
    assert Access(named).caller(None).role is Role.VIEWER


def test_a_running_service_notices_a_revocation(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    text = file.new("dashboard", Role.VIEWER)
    settings = {
        "node": {"root": str(tmp_path / "root"), "runner": "light[1]"},
        "access": {"tokens": str(file.path)},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        headers = {"Authorization": f"Bearer {text}"}
        assert client.get("/v1/node", headers=headers).json()["caller"] == {
            "name": "dashboard",
            "role": "viewer",
        }
        file.revoke("dashboard")
        assert client.get("/v1/node", headers=headers).status_code == 401


def test_the_commands(tmp_path: Path) -> None:
    def australis(*arguments: str) -> str:
        done = CliRunner().invoke(main, ["token", *arguments, "--tokens", str(tmp_path / "t.json")])
        assert done.exit_code == 0, done.output
        return done.output

    text = australis("new", "loader", "--role", "operator").strip()
    assert Access(settings_of(tmp_path / "t.json")).caller(f"Bearer {text}").role is Role.OPERATOR
    made = json.loads(australis("new", "guest", "--role", "viewer", "--expires", "7 days", "--json"))
    assert set(made) == {"name", "role", "token"}
    assert [each["name"] for each in json.loads(australis("list", "--json"))] == ["loader", "guest"]
    assert text not in australis("list")
    assert australis("revoke", "guest") == "guest is revoked\n"
    twice = CliRunner().invoke(main, ["token", "revoke", "guest", "--tokens", str(tmp_path / "t.json")])
    assert (twice.exit_code, "has no token 'guest'" in twice.output) == (1, True)


# --- off loopback


def exposed(tmp_path: Path, **changed: object) -> ServiceSettings:
    file = TokenFile(tmp_path / "tokens.json")
    if not file.path.exists():
        file.new("owner", Role.OWNER)
    given = {
        "listen": "0.0.0.0:8400",
        "tls": {"certificate": "c.pem", "key": "k.pem"},
        "access": {"tokens": str(file.path)},
        **changed,
    }
    return ServiceSettings.model_validate(given)


def test_others_are_served_with_a_certificate_and_tokens(tmp_path: Path) -> None:
    check_exposure(exposed(tmp_path))
    check_exposure(ServiceSettings())


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"tls": {}}, "without TLS"),
        ({"access": {}}, "without tokens"),
        ({"access": {"tokens": "/nowhere/tokens.json"}}, "without tokens"),
        ({"listen": "[::]:8400", "tls": {}}, "without TLS"),
        ({"listen": "192.0.2.1:8400", "access": {}}, "without tokens"),
        ({"listen": "127.0.0.1:8400", "tls": {}, "flight": {"listen": "0.0.0.0:8401"}}, "without TLS"),
    ],
)
def test_others_are_not_served_otherwise(changed: dict[str, object], what: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=f"which other machines can reach, {what}"):
        check_exposure(exposed(tmp_path, **changed))


def test_others_are_not_served_as_anonymous(tmp_path: Path) -> None:
    tokens = exposed(tmp_path).access.tokens
    with pytest.raises(ServiceError, match="for callers without a token"):
        check_exposure(exposed(tmp_path, access={"tokens": str(tokens), "anonymous": "viewer"}))


# --- names, origins, sizes, rates


def test_names_and_origins_that_are_not_ours(tmp_path: Path) -> None:
    settings = {
        "node": {"root": str(tmp_path / "root"), "runner": "light[1]"},
        "access": {"host_names": ["node.example"], "origins": ["https://panel.example"]},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:

        def get(**headers: str) -> httpx.Response:
            return client.get("/v1/node", headers=headers)

        own = client.base_url.netloc.decode()
        for headers in ({}, {"Host": "node.example"}, {"Host": "localhost:1"}, {"Origin": f"http://{own}"}):
            assert get(**headers).status_code == 200, headers
        allowed = get(Origin="https://panel.example")
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (
            200,
            "https://panel.example",
        )
        for headers in (
            {"Host": "evil.example"},
            {"Host": "127.0.0.1@evil.example"},
            {"Host": ""},
            {"Host": "["},
            {"Origin": "http://["},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "https://panel.example.evil.example"},
        ):
            refused = get(**headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden"), headers


def test_no_path_begins_a_line_of_the_log(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    def lines() -> list[str]:
        return [each.getMessage() for each in caplog.records if "forged" in each.getMessage()]

    with caplog.at_level("INFO", logger="australis"):
        assert serve().get("/v1/x%0a2026-01-01T00:00:00.000Z%20INFO%20gate:%20forged%1b").status_code == 404
        # It is logged once the answer is sent.
        until(lambda: bool(lines()))
    (line,) = lines()
    assert "/v1/x%0A2026" in line
    assert line.isprintable()


def test_bodies_and_rates_have_limits(tmp_path: Path) -> None:
    settings = {
        "node": {"root": str(tmp_path / "root"), "runner": "light[1]"},
        "access": {"limits": {"body_bytes": 1_000, "rate": 5.0}},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        whole = client.post("/v1/network/check", content=b"x" * 1_001)
        assert (whole.status_code, whole.json()["error"]["code"]) == (413, "too_large")
        parts = client.post("/v1/network/check", content=iter([b"x" * 600] * 2))
        assert (parts.status_code, parts.json()["error"]["code"]) == (413, "too_large")
        answers = [client.get("/v1/node") for _ in range(30)]
        refused = [each for each in answers if each.status_code == 429]
        assert refused, "thirty calls in less than some seconds"
        assert int(refused[0].headers["Retry-After"]) >= 1
        assert client.get("/healthz").status_code == 200


def test_health_is_told_while_as_many_calls_are_under_way_as_may_be(serve: Serve) -> None:
    client = serve(access={"limits": {"calls": 1}})
    host, port = client.base_url.host, client.base_url.port or 0
    with socket.create_connection((host, port)) as held:
        # A body that does not come.
        head = f"POST /v1/network/check HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 9\r\n\r\n"
        held.sendall(head.encode())
        until(lambda: client.get("/v1/node").status_code == 429)
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 200
    until(lambda: client.get("/v1/node").status_code == 200)
