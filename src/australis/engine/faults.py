"""Crash points: named places of the commit path where a test can end a process, as a loss of power would.

They do nothing unless the environment says so: `AUSTRALIS_CRASH=train.committed:3` is the third time.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "AUSTRALIS_CRASH"
POINTS = (
    "ingest.written",
    "ingest.committed",
    "task.read",
    "task.states",
    "task.outputs",
    "train.ran",
    "train.committing",
    "train.committed",
    "train.swept",
    "consumer.acknowledged",
)
"""All names, in the order in which a tuple passes them."""

_reached: dict[str, int] = {}


def crash_point(name: str) -> None:
    """End this process without a word if the environment asks for it here."""
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return
    _reached[name] = _reached.get(name, 0) + 1
    if wanted == f"{name}:{_reached[name]}":
        os.kill(os.getpid(), signal.SIGKILL)
