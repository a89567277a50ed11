"""TLS with real certificates, of HTTP and Flight: whom clients trust, and that nobody else gets a token."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pyarrow as pa
import pytest
import trustme
from pyarrow import flight
from tests.client.test_control import network
from tests.service.running import running_service

import australis
from australis.client import Client
from australis.errors import ErrorCode, ServiceError
from australis.service.access import Role, TokenFile
from australis.service.settings import ServiceSettings

NO_PROXY = [("grpc.enable_http_proxy", 0)]
PATIENCE_S = 30.0
"""Longer than a test may take that has to wait for it: what cannot be mended is told at once."""


class Secured(NamedTuple):
    """A service with a certificate."""

    port: int
    flight: str
    token: str
    ca: Path

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def served(authority: trustme.CA, folder: Path, *names: str) -> Iterator[Secured]:
    authority.issue_cert(*names).private_key_and_cert_chain_pem.write_to_path(folder / "own.pem")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    file = TokenFile(folder / "tokens.json")
    token = file.new("owner", Role.OWNER)
    settings = {
        "node": {"root": str(folder / "root"), "runner": "light[1]"},
        "tls": {"certificate": str(folder / "own.pem"), "key": str(folder / "own.pem")},
        "access": {"tokens": str(file.path)},
    }
    with running_service(ServiceSettings.model_validate(settings)) as client:
        port = client.base_url.port or 0
        trusted = ssl.create_default_context(cafile=str(folder / "ca.pem"))
        trusted.check_hostname = False
        told = httpx.get(
            f"https://localhost:{port}/v1/node", verify=trusted, headers={"Authorization": f"Bearer {token}"}
        )
        yield Secured(port, told.json()["flight"].rpartition(":")[2], token, folder / "ca.pem")


@pytest.fixture
def secured(authority: trustme.CA, tmp_path: Path) -> Iterator[Secured]:
    """A service whose certificate is for localhost."""
    yield from served(authority, tmp_path, "localhost")


@pytest.fixture
def misnamed(authority: trustme.CA, tmp_path: Path) -> Iterator[Secured]:
    """A service with the certificate of another host."""
    yield from served(authority, tmp_path, "elsewhere.example")


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """The certificate of an authority that has nothing to do with the service."""
    trustme.CA().cert_pem.write_to_path(tmp_path / "stranger.pem")
    return tmp_path / "stranger.pem"


# --- the right authority


def rows(count: int) -> pa.Table:
    numbers = range(count)
    columns = {"sid": pa.array(numbers, pa.int32()), "time": pa.array(numbers, pa.int64())}
    return pa.table({**columns, "pos": pa.array([40] * count, pa.int32())})


def test_a_client_that_waits_uses_http_and_flight(secured: Secured) -> None:
    with australis.connect(secured.url, token=secured.token, ca=secured.ca) as node:
        node.deploy(network())
        # So much goes over Flight.
        assert node.push("pos", rows(1_000_000)).accepted == 1_000_000
        assert node.volume() is not None
        assert node.push("pos", {"sid": 1, "time": 7, "pos": 40}).accepted == 1
        with node.subscribe("far", begin=0) as tables:
            assert next(tables).num_rows > 0


def test_a_client_on_an_event_loop_uses_http_and_flight(secured: Secured) -> None:
    async def session() -> None:
        async with australis.connect_async(secured.url, token=secured.token, ca=secured.ca) as node:
            await node.deploy(network())
            assert (await node.push("pos", rows(1_000_000))).accepted == 1_000_000
            assert await node.volume() is not None
            async with node.subscribe("far", begin=0) as tables:
                async for table in tables:
                    assert table.num_rows > 0
                    return

    asyncio.run(session())


# --- whoever is not trusted


def refused(url: str, token: str, ca: Path | None) -> list[ServiceError]:
    """What a client that waits says, and one on an event loop."""

    async def asked() -> None:
        async with australis.connect_async(url, token=token, ca=ca, patience_s=PATIENCE_S) as node:
            await node.status()

    found = []
    with (
        Client(url, token=token, ca=ca, patience_s=PATIENCE_S) as node,
        pytest.raises(ServiceError) as waiting,
    ):
        node.status()
    found.append(waiting.value)
    with pytest.raises(ServiceError) as looping:
        asyncio.run(asked())
    found.append(looping.value)
    assert not [each for each in found if token in str(each)]
    return found


@pytest.mark.timeout(PATIENCE_S)
def test_a_stranger_is_refused_at_once(secured: Secured, stranger: Path) -> None:
    for ca in (stranger, None):
        for error in refused(secured.url, secured.token, ca):
            assert error.code is ErrorCode.INVALID_REQUEST
            assert "is not trusted" in str(error)
            assert "ca=FILE" in error.problem.expected


@pytest.mark.timeout(PATIENCE_S)
def test_the_certificate_of_another_host_is_refused_at_once(misnamed: Secured) -> None:
    for error in refused(misnamed.url, misnamed.token, misnamed.ca):
        assert error.code is ErrorCode.INVALID_REQUEST
        assert "'localhost'" in str(error)


@pytest.mark.timeout(PATIENCE_S)
def test_tls_to_a_port_without_it_is_refused_at_once(tmp_path: Path, stranger: Path) -> None:
    settings = {"node": {"root": str(tmp_path / "root"), "runner": "light[1]"}}
    with running_service(ServiceSettings.model_validate(settings)) as client:
        for error in refused(f"https://localhost:{client.base_url.port}", "secret", stranger):
            assert error.code is ErrorCode.INVALID_REQUEST
            assert "speaks no TLS" in str(error)


def test_a_plain_connection_to_a_port_of_tls_gets_no_answer(secured: Secured) -> None:
    plain = f"http://localhost:{secured.port}"
    with (
        Client(plain, token=secured.token, patience_s=0.2) as node,
        pytest.raises(ServiceError, match="cannot be reached"),
    ):
        node.status()
    with australis.connect(secured.url, token=secured.token, ca=secured.ca) as node:
        assert node.status()["state"] == "empty", "it serves others as before"


# --- Flight on its own


def listed(address: str, token: str, ca: Path | None) -> list[flight.FlightInfo]:
    options = flight.FlightCallOptions(
        headers=[(b"authorization", f"Bearer {token}".encode())], timeout=PATIENCE_S
    )
    roots = {} if ca is None else {"tls_root_certs": ca.read_bytes()}
    with flight.connect(address, generic_options=NO_PROXY, **roots) as client:
        return list(client.list_flights(options=options))


def test_flight_is_served_to_those_who_trust_its_certificate(secured: Secured, stranger: Path) -> None:
    address = f"grpc+tls://localhost:{secured.flight}"
    with australis.connect(secured.url, token=secured.token, ca=secured.ca) as node:
        node.deploy(network())
    assert len(listed(address, secured.token, secured.ca)) == 3
    with pytest.raises(flight.FlightUnavailableError, match="certificate verify failed"):
        listed(address, secured.token, stranger)
    with pytest.raises(flight.FlightUnavailableError):
        listed(f"grpc://localhost:{secured.flight}", secured.token, None)
    with pytest.raises(flight.FlightUnauthenticatedError):
        listed(address, "wrong", secured.ca)
    assert len(listed(address, secured.token, secured.ca)) == 3


def test_flight_with_the_certificate_of_another_host(misnamed: Secured) -> None:
    with pytest.raises(flight.FlightUnavailableError):
        listed(f"grpc+tls://localhost:{misnamed.flight}", misnamed.token, misnamed.ca)
