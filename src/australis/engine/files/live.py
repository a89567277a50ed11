"""Pipes and terminals: bytes that come in as time passes, handed on as soon as they are there."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Idle = Callable[[], None]
"""Called again and again while there is nothing to read."""

_PAUSE_SECONDS = 0.1
"""No wait is longer: timeouts fall due meanwhile, and a signal just before a wait is heard only behind it."""
_CAN_WAIT = sys.platform != "win32"
"""Windows waits for sockets only; there a read blocks until there is something."""


class LiveInput(io.RawIOBase):
    """Gives at once what is there, and while there is nothing lets others go on."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.idle: Idle = _nothing

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Wait for the first bytes; take whatever else is there without waiting."""
        room = memoryview(buffer).cast("B")
        self._wait()
        filled = 0
        while filled < len(room) and (filled == 0 or self._is_ready(0)):
            found = os.read(self._descriptor, len(room) - filled)
            if not found:
                break
            room[filled : filled + len(found)] = found
            filled += len(found)
        return filled

    def _wait(self) -> None:
        while _CAN_WAIT and not self._is_ready(_PAUSE_SECONDS):
            self.idle()

    def _is_ready(self, seconds: float) -> bool:
        return _CAN_WAIT and bool(select.select([self._descriptor], [], [], seconds)[0])

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _nothing() -> None:
    """Nobody has anything to do meanwhile."""
