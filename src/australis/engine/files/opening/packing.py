"""Compressed files: which compression one has, and a stream of what it contains."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_SKIPPED_BYTES = 1 << 20


@dataclass(frozen=True)
class Packing:
    """A compression: the end of a file's name, the first bytes of a file, and what decompresses it."""

    name: str
    suffix: str
    first_bytes: bytes
    unpacked: Callable[[BinaryIO], IO[bytes]]


def _gzip(raw: BinaryIO) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw))


def _bzip2(raw: BinaryIO) -> IO[bytes]:
    return cast(IO[bytes], bz2.BZ2File(raw))


def _zstd(raw: BinaryIO) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(_ZstdInput(raw)))


class _ZstdInput(io.RawIOBase):
    """What a zstd file contains; to seek backwards is to begin again."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._stream = self._open()
        self._offset = 0

    def _open(self) -> Any:
        return pa.CompressedInputStream(pa.PythonFile(_Unclosed(self._raw), mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._raw.seekable()

    def tell(self) -> int:
        return self._offset

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer).cast("B")
        found = self._stream.read(len(room))
        room[: len(found)] = found
        self._offset += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        target = offset + (self._offset if whence == io.SEEK_CUR else 0)
        if target < self._offset:
            self._raw.seek(0)
            self._stream, self._offset = self._open(), 0
        while self._offset < target:
            found = len(self._stream.read(min(_SKIPPED_BYTES, target - self._offset)))
            if not found:
                break
            self._offset += found
        return self._offset


class _Unclosed:
    """A stream that stays open when Arrow closes it: it may be read again from its beginning."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw

    def read(self, size: int) -> bytes:
        return self._raw.read(size)

    def close(self) -> None:
        """Leave it open."""


PACKINGS = (
    Packing("gzip", ".gz", b"\x1f\x8b", _gzip),
    Packing("bzip2", ".bz2", b"BZh", _bzip2),
    Packing("zstd", ".zst", b"\x28\xb5\x2f\xfd", _zstd),
)
"""The compressions that text files may have."""


def packing_by_name(path: str) -> Packing | None:
    """The compression that the name of a file promises.

    >>> packing_by_name("reports.csv.GZ").name, packing_by_name("reports.csv")
    ('gzip', None)
    """
    return next((each for each in PACKINGS if path.lower().endswith(each.suffix)), None)


def packing_by_bytes(first: bytes) -> Packing | None:
    """The compression of a file that begins with some bytes."""
    return next((each for each in PACKINGS if first.startswith(each.first_bytes)), None)
