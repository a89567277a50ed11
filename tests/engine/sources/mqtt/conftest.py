"""A broker for each test."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.engine.sources.mqtt.broker import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    """A real broker; skipped where mosquitto or the client is not installed."""
    if importlib.util.find_spec("paho") is None:
        pytest.skip("no client for MQTT: paho-mqtt is not installed")
    from tests.engine.sources.mqtt.broker import PROGRAM, Broker

    if PROGRAM is None:
        pytest.skip("no broker: mosquitto is not installed (Debian: apt-get install mosquitto)")
    broker = Broker()
    yield broker
    broker.close()
