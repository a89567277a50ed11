"""The audit log: who changed what, when, and what came of it; a JSON object a line."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from australis.errors import ErrorCode, Problem, ServiceError

FILE = "audit.jsonl"
"""The name of the log, beside the catalogue; older files end in .1, .2 and so on."""


class AuditLog:
    """A log that only grows; a line is on disk when `note` returns."""

    def __init__(self, path: Path, *, size_most: int, files_most: int) -> None:
        self.path, self._size_most, self._files_most = path, size_most, files_most
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._open()
        except OSError as error:
            problem = Problem(str(path), f"cannot be written: {error.strerror}", "another access.audit")
            raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from None

    def note(self, what: Mapping[str, Any]) -> None:
        """Add a line, with the time."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"time": time, **what}).encode() + b"\n"
        with self._lock:
            if os.fstat(self._file).st_size >= self._size_most:
                self._rotate()
            written = os.write(self._file, line)
            if written < len(line):
                # A full disk takes a part of it, to which the next line must not be added.
                os.ftruncate(self._file, os.fstat(self._file).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """The last lines, the newest first."""
        with self._lock:
            newest = deque(self._lines(), limit)
        return [json.loads(line) for line in reversed(newest)]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            os.close(self._file)

    def _lines(self) -> Iterator[str]:
        """All lines, the oldest first; one that a crash has cut is left out."""
        older = [self._older(number) for number in range(self._files_most, 0, -1)]
        for path in [*older, self.path]:
            if path.exists():
                with path.open(encoding="utf-8") as file:
                    yield from (line for line in file if line.endswith("}\n"))

    def _open(self) -> int:
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if (size := os.fstat(file).st_size) and os.pread(file, 1, size - 1) != b"\n":
            # A crash has cut the last line: the next one begins on its own.
            os.write(file, b"\n")
        return file

    def _rotate(self) -> None:
        self._older(self._files_most).unlink(missing_ok=True)
        for number in range(self._files_most - 1, 0, -1):
            if self._older(number).exists():
                self._older(number).rename(self._older(number + 1))
        self.path.rename(self._older(1))
        # Closed only once there is another one: its number may soon be that of a socket.
        before, self._file = self._file, self._open()
        os.close(before)

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
