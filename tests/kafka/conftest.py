"""One broker for all tests of this folder, which are skipped where none can be started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kafka.broker import Broker, missing


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    why = missing()
    if why is not None:
        pytest.skip(why)
    started = Broker(Path(tmp_path_factory.mktemp("broker")))
    try:
        started.start()
        yield started
    finally:
        started.stop()
