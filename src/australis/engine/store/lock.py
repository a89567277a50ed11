"""One node on one root: a lock that the system lets go when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from australis.engine.store.root import unwritable
from australis.errors import EngineError, Problem


class RootLock:
    """Holds a directory for this process until it is closed."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "lock"
        self._file: int | None = None
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise unwritable(str(self._path), error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 100, 0).decode(errors="replace").strip() or "an unknown process"
            os.close(self._file)
            raise EngineError(
                Problem(
                    str(directory), f"is open in another node, {holder}", "one node on a root; stop the other"
                )
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let the directory go, once."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
