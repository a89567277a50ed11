"""One node per root: a lock that the system releases when its process ends, for whatever reason."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from australis.engine.store.root import PRIVATE_FILE, unwritable
from australis.errors import EngineError, Problem

_LOCK = "lock"


class RootLock:
    """Locks a directory for this process until it is closed."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _LOCK
        self._file: int | None = None
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
            make_private(self._path)
        except OSError as error:
            raise unwritable(str(self._path), error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            what = _holder(self._file)
            os.close(self._file)
            raise EngineError(Problem(str(directory), what, "one node on a root; stop the other")) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"process {os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Release the directory, once."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


class SharedLock:
    """Keeps nodes out of a directory without leaving a trace; several readers can share it."""

    def __init__(self, directory: Path) -> None:
        self._file: int | None = None
        path = directory / _LOCK
        try:
            self._file = os.open(path, os.O_RDONLY)
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            # No node was ever here.
            return
        except BlockingIOError as error:
            what = _holder(self._file or 0)
            self.close()
            raise EngineError(
                Problem(str(directory), what, "a root that no node has; stop it first")
            ) from error
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            raise EngineError(Problem(str(path), what, "the user who runs the node")) from error

    def close(self) -> None:
        """Release the directory, once."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def make_private(path: Path) -> None:
    """Make a file readable and writable by its user only; files of other users stay as they are."""
    known = path.stat()
    if known.st_mode & ~PRIVATE_FILE & 0o777 and known.st_uid == os.geteuid():
        path.chmod(PRIVATE_FILE)


def _holder(file: int) -> str:
    """Who keeps others out of a directory."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        # It is not shared, so a node has it.
        holder = os.pread(file, 100, 0).decode(errors="replace").strip() or "an unknown process"
        return f"is open in another node, {holder}"
    return "is being verified by `australis verify`"
