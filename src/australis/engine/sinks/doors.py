"""What sinks outside this machine share: how long they try, and which hosts they may reach."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from australis.errors import EngineError, Problem, TryLater

PATIENCE_S = 60.0
"""How long a sink tries to reach its server again before it fails, unless its address says otherwise."""


def any_host(host: str) -> bool:
    """Allow every host: whoever starts a run may reach what this machine can reach."""
    del host
    return True


@dataclass(frozen=True)
class DoorOptions:
    """What whoever opens a sink decides about it."""

    patience_s: float = PATIENCE_S
    """How long it tries again before it fails; 0 where the caller itself starts it again."""
    allows: Callable[[str], bool] = field(default=any_host, repr=False, compare=False)
    """Whether it may reach a host, by its name or address."""

    def check_host(self, address: str, host: str) -> None:
        """Refuse a host that is not allowed."""
        if not self.allows(host):
            raise EngineError(Problem(address, f"the host {host} is not allowed", "a host that is listed"))


DEFAULT_DOOR = DoorOptions()


class Patience:
    """Tries again what failed, after a wait that doubles, for a limited time."""

    first_s, longest_s = 0.1, 10.0

    def __init__(self, patience_s: float, clock: Callable[[], float], ended: threading.Event) -> None:
        self._patience_s, self._clock, self._ended = patience_s, clock, ended

    def until_done(self, attempt: Callable[[], None]) -> None:
        """Attempt until it succeeds, time is up, or somebody ends the sink."""
        begin, wait_s = self._clock(), self.first_s
        while True:
            try:
                return attempt()
            except TryLater as error:
                pause_s = max(wait_s, error.after_s)
                if self._clock() + pause_s - begin > self._patience_s or self._ended.wait(pause_s):
                    raise
                wait_s = min(wait_s * 2, self.longest_s)
