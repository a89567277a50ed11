"""Waiting for what another thread or process does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(happened: Callable[[], bool], seconds: float = 60.0) -> None:
    """Ask again until something has happened."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)
