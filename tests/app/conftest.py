"""What tests that send signals share."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def heeding_signals() -> Iterator[None]:
    """Tests that run in the background of a shell have Ctrl-C ignored, and so would what they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
