"""A service in this process, and clients of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.service.running import running_service

from australis.service.settings import ServiceSettings


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a service with a light node; returns its address."""
    with ExitStack() as stack:

        def started(**given: Any) -> str:
            settings = {"node": {"root": str(tmp_path / "root"), "runner": "light[1]"}, **given}
            client = stack.enter_context(running_service(ServiceSettings.model_validate(settings)))
            return str(client.base_url)

        yield started
