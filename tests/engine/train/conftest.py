"""The parts of a network for the tests of the loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.assembled import World, assembled
from tests.engine.train.looping import network, query

from australis.engine.running import Running


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def running(tmp_path: Path, world: World) -> Iterator[Running]:
    """The network with a query on its input, before any worker begins."""
    with assembled(tmp_path, network(), world, q=query()) as running:
        yield running
