"""A service in this process, on a free port of loopback, with a light node."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.service.running import running_service

from australis.service.settings import ServiceSettings

SOLDIERS = Path(__file__).parents[2] / "examples" / "soldiers.yaml"

Serve = Callable[..., httpx.Client]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., httpx.Client]]:
    """Starts a service with settings by dotted name; gives a client of it."""
    with contextlib.ExitStack() as stack:

        def start(**given: Any) -> httpx.Client:
            settings = {"node": {"root": str(tmp_path / "root"), "runner": "light[1]"}, **given}
            return stack.enter_context(running_service(ServiceSettings.model_validate(settings)))

        yield start
    assert not [each for each in threading.enumerate() if each.name == "australis-service"]
