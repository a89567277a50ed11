"""A file that grows by whole appends: recorded bytes stay, a half-written tail is cut off."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from australis.errors import EngineError, Problem

_END_BYTES = 1024
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileEnd:
    """The length of a file and the checksum of its last bytes, by which it is recognised.

    >>> read_file_end(FileEnd(5, 7).text, "a.csv")
    FileEnd(size=5, end=7)
    """

    size: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def read_file_end(text: str, path: str) -> FileEnd:
    """The record in a position text."""
    try:
        return FileEnd(**json.loads(text))
    except (ValueError, TypeError):
        raise EngineError(Problem(path, f"the position {text!r} is none of a file")) from None


class AppendedFile:
    """A file opened for appending, cut back to its recorded length."""

    def __init__(self, path: str, record: FileEnd) -> None:
        self._path, self._final = path, Path(path).resolve()
        with trouble(path):
            is_new = not self._final.exists()
            if is_new:
                refuse_gone(path, record)
            self._file = os.open(self._final, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            if is_new:
                sync_folder(self._final.parent)
        try:
            with trouble(path):
                self._end = recorded_end(self._file, record, path)
                self._cut_back(record.size)
        except BaseException:
            self.close()
            raise
        self.record = record

    def append(self, chunks: Iterable[bytes]) -> FileEnd:
        """Append bytes and sync them to disk; on failure the file is as it was."""
        size, end = self.record.size, self._end
        try:
            with trouble(self._path):
                for chunk in chunks:
                    self._write(chunk, size)
                    size, end = size + len(chunk), (end + chunk[-_END_BYTES:])[-_END_BYTES:]
                os.fsync(self._file)
        except BaseException:
            try:
                self._cut_back(self.record.size)
            except OSError as error:
                _log.warning("%s keeps a tail until the next run cuts it off: %s", self._path, error)
            raise
        self.record, self._end = FileEnd(size, zlib.crc32(end)), end
        return self.record

    def _write(self, chunk: bytes, offset: int) -> None:
        rest = memoryview(chunk)
        while rest:
            written = os.pwrite(self._file, rest, offset)
            rest, offset = rest[written:], offset + written

    def _cut_back(self, size: int) -> None:
        if os.fstat(self._file).st_size > size:
            os.ftruncate(self._file, size)
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def check_appendable(path: str, record: FileEnd) -> None:
    """Refuse a file that cannot be appended to, or is not as it was recorded; changes nothing."""
    final = Path(path).resolve()
    with trouble(path):
        if not final.exists():
            refuse_gone(path, record)
            check_folder(path)
            return
        file = os.open(final, os.O_RDWR | os.O_CLOEXEC)
        try:
            recorded_end(file, record, path)
        finally:
            os.close(file)


def check_folder(path: str) -> None:
    """Refuse a file whose folder does not exist or cannot be written."""
    with trouble(path), tempfile.TemporaryFile(dir=Path(path).resolve().parent):
        return


def refuse_gone(path: str, record: FileEnd) -> None:
    """Refuse to begin a file anew, of which a part was written before and is no longer there."""
    if record.size:
        raise EngineError(Problem(path, f"is gone, and {record.size:,} bytes were written to it", EXPECTED))


def recorded_end(file: int, record: FileEnd, path: str) -> bytes:
    """The last recorded bytes, if the file still has them."""
    size = os.fstat(file).st_size
    if size < record.size:
        what = f"has {size:,} bytes, and {record.size:,} were written to it"
        raise EngineError(Problem(path, what, EXPECTED))
    length = min(record.size, _END_BYTES)
    end = os.pread(file, length, record.size - length)
    if zlib.crc32(end) != record.end:
        what = f"its first {record.size:,} bytes do not end as they were written"
        raise EngineError(Problem(path, what, EXPECTED))
    return end


EXPECTED = "the file as it was left, or a new name for the rest of the output"


@contextmanager
def trouble(path: str) -> Iterator[None]:
    """Report a writing error, and for which file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        expected = "a folder that is there" if isinstance(error, FileNotFoundError) else ""
        raise EngineError(Problem(path, f"cannot be written: {error.strerror or error}", expected)) from None


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
