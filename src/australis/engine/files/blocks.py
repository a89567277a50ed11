"""Text files in blocks of whole records: opened, decompressed, and cut only between records."""

from __future__ import annotations

import csv
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from australis.engine.files.growing import GrowingInput, Idle, LiveInput
from australis.engine.files.rows import STANDARD_STREAM, Mark
from australis.errors import EngineError, Problem

BLOCK_BYTES = 4 << 20
RECORD_BYTES_MAX = 64 << 20
"""The longest record of a text file, so that an unclosed quote does not take in the whole file."""

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
Cut = Callable[[bytes], int]
"""The length of the whole records at the beginning of a block that starts with a record."""


class TextSource:
    """The decompressed bytes of a text file, with the number of the line at which each block begins.

    A file that is `growing` has no end: the reader waits for more.
    """

    def __init__(self, path: str, *, growing: Idle | None = None) -> None:
        self.path = path
        self.line = 1
        self.mark = Mark()
        self._offset = 0
        self._first_read = BLOCK_BYTES
        self._growing = growing
        self._live: LiveInput | GrowingInput | None = None
        with self.trouble():
            self._raw: BinaryIO = self._open()
            self._stream: IO[bytes] = self._raw
            if self._detect_packing():
                self._stream = cast(IO[bytes], gzip.GzipFile(fileobj=self._raw))

    def _open(self) -> BinaryIO:
        if self._growing is not None:
            self._live = GrowingInput(self.path, self._growing)
            return io.BufferedReader(self._live)
        raw: BinaryIO = sys.stdin.buffer if self.path == STANDARD_STREAM else open(self.path, "rb")  # noqa: SIM115
        if not _is_live(raw):
            return raw
        self._live = LiveInput(os.dup(raw.fileno()))
        if raw is not sys.stdin.buffer:
            raw.close()
        return io.BufferedReader(self._live)

    @property
    def is_live(self) -> bool:
        """Whether the bytes come in over time, as those of a pipe or a terminal do."""
        return self._live is not None

    def while_waiting(self, idle: Idle) -> None:
        """Call `idle` repeatedly while there is nothing to read."""
        if self._live is not None:
            self._live.idle = idle

    def _detect_packing(self) -> bool:
        """Find out whether the bytes are gzip, whatever the name says; a pipe may be compressed, too."""
        if self._growing is not None:
            return False  # looking at the bytes would block
        packed = hasattr(self._raw, "peek") and self._raw.peek(2)[:2] == b"\x1f\x8b"
        if self.path.endswith(".gz") and not packed:
            self.close()
            raise gzip.BadGzipFile("it does not begin like one")
        return packed

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """Report a reading error, and for which file."""
        try:
            yield
        except FileNotFoundError:
            raise EngineError(Problem(self.path, "there is no such file")) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise EngineError(Problem(self.path, f"is a damaged gzip file: {error}", "a whole one")) from None
        except OSError as error:
            raise EngineError(Problem(self.path, f"cannot be read: {error.strerror or error}")) from None

    def readline(self) -> bytes:
        """The next line; only used for the first ones, before `blocks`."""
        with self.trouble():
            self.line += 1
            found = self._stream.readline(RECORD_BYTES_MAX)
            self._offset += len(found)
            return found

    def resume(self, mark: Mark) -> None:
        """Continue where a block began, with the same block."""
        with self.trouble():
            self._stream.seek(mark.offset)
        self._offset, self.line, self._first_read = mark.offset, mark.line, mark.read or BLOCK_BYTES

    def blocks(self, cut: Cut) -> Iterator[tuple[int, bytes]]:
        """The rest of the file in blocks of whole records, each with the number of its first line."""
        rest = b""
        size = self._first_read
        while more := self._read(size):
            size = BLOCK_BYTES
            block = rest + more
            length = cut(block)
            self.mark = Mark(self._offset, self.line, len(block))
            if length:
                yield self.line, block[:length]
                self.line += _line_ends(block[:length])
                self._offset += length
            rest = block[length:]
            if len(rest) > RECORD_BYTES_MAX:
                raise EngineError(self._endless())
        if rest:
            self.mark = Mark(self._offset, self.line, len(rest))
            yield self.line, rest

    def _read(self, size: int) -> bytes:
        """The next bytes: from a file as many as asked for, from a pipe those that are there."""
        with self.trouble():
            if self._live is not None and isinstance(self._stream, io.BufferedReader | gzip.GzipFile):
                return self._stream.read1(size)
            return self._stream.read(size)

    def _endless(self) -> Problem:
        what = f"the record in line {self.line} does not end within {RECORD_BYTES_MAX >> 20} MiB"
        return Problem(self.path, what, "a line end, or the closing quote")

    def position(self) -> int:
        return self._raw.tell() if self.size is not None else 0

    @property
    def size(self) -> int | None:
        path = Path(self.path)
        return path.stat().st_size if self.path != STANDARD_STREAM and path.is_file() else None

    def close(self) -> None:
        if self._raw is not sys.stdin.buffer:
            self._stream.close()
            self._raw.close()


def _is_live(raw: BinaryIO) -> bool:
    try:
        mode = os.fstat(raw.fileno()).st_mode
    except OSError:
        return False  # in memory, as in tests
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or raw.isatty()


def _line_ends(block: bytes) -> int:
    """How many lines end in a block, with the line ends of any system."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def cut_lines(block: bytes) -> int:
    """The length of the whole lines of a block."""
    return block.rfind(b"\n") + 1


def cut_records(delimiter: str) -> Cut:
    """The length up to the last whole CSV record of a block, where quoted fields may contain line ends."""

    def cut(block: bytes) -> int:
        if _QUOTE not in block:
            return cut_lines(block)
        data = np.frombuffer(block, np.uint8)
        quotes = np.flatnonzero(data == _QUOTE)
        if not _well_placed(data, quotes, ord(delimiter)):
            return _slow_cut(block, delimiter)
        newlines = np.flatnonzero(data == _NEWLINE)
        outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0

    return cut


def _well_placed(data: npt.NDArray[np.uint8], quotes: npt.NDArray[np.intp], delimiter: int) -> bool:
    """Whether quotes open and close alternately, at the start and at the end of a field.

    A doubled quote inside a field counts as one that closes and one that opens again.
    """
    around = np.concatenate(([_NEWLINE], data, [_NEWLINE]))
    before, after = around[quotes[0::2]], around[quotes[1::2] + 2]
    borders = np.array([delimiter, _NEWLINE, _RETURN, _QUOTE], np.uint8)
    return bool(np.isin(before, borders).all() and np.isin(after, borders).all())


def _slow_cut(block: bytes, delimiter: str) -> int:
    """The cut found by reading every record: quotes in the middle of a field are ordinary characters."""
    lines = block.splitlines(keepends=True)
    length = ended = 0
    consumed = 0
    records = csv.reader((line.decode("latin-1") for line in lines), delimiter=delimiter)
    limit = csv.field_size_limit(RECORD_BYTES_MAX)
    try:
        for _ in records:
            length += sum(map(len, lines[consumed : records.line_num]))
            consumed = records.line_num
            if lines[consumed - 1].endswith(b"\n") and consumed < len(lines):
                ended = length
    finally:
        csv.field_size_limit(limit)
    return ended
