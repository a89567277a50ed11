"""How often a train is attempted, and after which failures."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from australis.engine.worker import OutOfMemory, TrainFailed

TRIES = 3
"""How often a train is attempted if its runner is at fault, as when an executor was lost."""
_log = logging.getLogger(__name__)
Result = TypeVar("Result")


def attempt(run: Callable[[], Result], is_stopping: Callable[[], bool]) -> Result:
    """Run a train, and again if the runner failed, unless the node is stopping."""
    for left in reversed(range(TRIES)):
        try:
            return run()
        except OutOfMemory:
            # As large as it is, it would run out of memory again.
            raise
        except TrainFailed as error:
            if not left or is_stopping():
                raise
            _log.warning("a train failed and is tried again: %s", error)
    raise AssertionError("a train is tried at least once")
