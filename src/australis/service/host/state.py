"""The states of a host."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What a host is doing."""

    STARTING = "starting"
    """It opens its root, and resumes the network there."""
    EMPTY = "empty"
    """It has no network, and is ready for one."""
    RUNNING = "running"
    PAUSED = "paused"
    FAILED = "failed"
    """A train failed, or the network could not be resumed; `resume` tries again."""
    STOPPING = "stopping"

    @property
    def is_ready(self) -> bool:
        """Whether it serves what it is asked."""
        return self in (State.EMPTY, State.RUNNING, State.PAUSED)
