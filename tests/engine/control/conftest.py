"""What the tests of the channel share: a node that is served, and a client of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.control.house import House, reached

from australis.engine.control.client import Control
from australis.engine.control.server import ControlServer


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def server(house: House, tmp_path: Path) -> Iterator[ControlServer]:
    server = ControlServer(house, tmp_path)
    yield server
    server.close()
    for name in house.attached():
        house.detach(name)
    for thread in threading.enumerate():
        if thread.name.startswith("australis-control"):
            thread.join()


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are sent in parts of some hundred tuples."""
    monkeypatch.setattr("australis.engine.control.channel.TABLE_ABOUT", 2000)


@pytest.fixture
def control(server: ControlServer, tmp_path: Path) -> Iterator[Control]:
    with reached(tmp_path) as control:
        yield control
