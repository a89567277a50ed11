"""How a file is recognised: by its size and its first bytes."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import IO

from australis.errors import EngineError, Problem

_KNOWN_BYTES = 1024


@dataclass(frozen=True)
class Fingerprint:
    """A file at one moment; with `end`, the checksum of its last bytes, the file may not even grow."""

    size: int
    head_size: int
    head: int
    end: int | None = None

    def check(self, path: str) -> None:
        """Refuse the file at a path unless it is this one, possibly grown."""
        now = fingerprint(path, whole=self.end is not None, head_size=self.head_size)
        if now.size < self.size:
            what = f"has {now.size:,} bytes and had {self.size:,} when it was last read"
            raise EngineError(Problem(path, what, _EXPECTED))
        if now.head != self.head:
            raise EngineError(Problem(path, "begins otherwise than when it was last read", _EXPECTED))
        if self.end is not None and (now.size, now.end) != (self.size, self.end):
            raise EngineError(Problem(path, "is another one than when it was last read", _EXPECTED))


_EXPECTED = "the file that was there before, or a new name for a new file"


def fingerprint(path: str, *, whole: bool = False, head_size: int = _KNOWN_BYTES) -> Fingerprint:
    """The fingerprint of a file as it is; `whole` for one that has an end, such as Parquet."""
    try:
        with open(path, "rb") as file:
            return _of(file, whole, head_size)
    except FileNotFoundError:
        raise EngineError(Problem(path, "there is no such file")) from None
    except OSError as error:
        raise EngineError(Problem(path, f"cannot be read: {error.strerror or error}")) from None


def _of(file: IO[bytes], whole: bool, head_size: int) -> Fingerprint:
    head = file.read(head_size)
    size = os.fstat(file.fileno()).st_size
    if not whole:
        return Fingerprint(size, len(head), zlib.crc32(head))
    file.seek(max(0, size - _KNOWN_BYTES))
    return Fingerprint(size, len(head), zlib.crc32(head), zlib.crc32(file.read()))
