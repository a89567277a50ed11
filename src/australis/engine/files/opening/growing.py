"""Pipes, terminals and growing files: bytes that come in over time, passed on as soon as they do."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from australis.errors import EngineError, Problem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

APPENDED = "a file that is only appended to; a folder of files can be followed, too"

Idle = Callable[[], None]
"""Called repeatedly while there is nothing to read."""

_PAUSE_SECONDS = 0.1
"""The longest wait: timeouts fall due meanwhile, and a signal just before a wait is handled only after it."""
_CAN_WAIT = sys.platform != "win32"
"""Windows can wait for sockets only; there a read blocks until there is something."""


class LiveInput(io.RawIOBase):
    """Returns at once what is there, and calls `idle` while there is nothing."""

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


class Ended(Exception):
    """Raised by `idle` to end a reader's wait: nobody wants more."""


class GrowingInput(io.RawIOBase):
    """A file that others append to: at its end it waits; `idle` ends the wait by raising `Ended`."""

    def __init__(self, path: str, idle: Idle) -> None:
        self._path, self.idle = path, idle
        self._descriptor = os.open(path, os.O_RDONLY)
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._offset = os.lseek(self._descriptor, offset, whence)
        return self._offset

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Whatever follows the last byte read, as soon as there is something."""
        while os.fstat(self._descriptor).st_size == self._offset:
            self._check_name()
            self.idle()
        self._check_name()
        filled = os.readv(self._descriptor, [buffer])
        self._offset += filled
        return filled

    def _check_name(self) -> None:
        """Refuse to continue in a file that was truncated, or whose name now belongs to another file."""
        if os.fstat(self._descriptor).st_size < self._offset:
            raise EngineError(Problem(self._path, "became shorter while it was followed", APPENDED))
        try:
            same = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except FileNotFoundError:
            # It has lost its name, which is refused below.
            same = False
        if not same:
            raise EngineError(Problem(self._path, "was replaced while it was followed", APPENDED))

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _nothing() -> None:
    """Do nothing meanwhile."""
