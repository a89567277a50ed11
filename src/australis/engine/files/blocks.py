"""Text files in blocks of whole records: opened, decompressed, and cut only between records."""

from __future__ import annotations

import csv
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from australis.engine.files.opening import (
    GrowingInput,
    Idle,
    LiveInput,
    Packing,
    packing_by_bytes,
    packing_by_name,
)
from australis.engine.files.rows import STANDARD_STREAM, Mark
from australis.errors import EngineError, Problem

BLOCK_BYTES = 4 << 20
RECORD_BYTES_MAX = 64 << 20
"""The longest record of a text file, so that an unclosed quote does not take in the whole file."""

_NEWLINE, _RETURN = b"\n\r"
_ZIPPED = b"PK\x03\x04"
_PEEKED_BYTES = 4
Cut = Callable[[bytes], int]
"""The length of the whole records at the beginning of a block that starts with a record."""


class TextSource:
    """The decompressed bytes of a text file, with the number of the line at which each block begins.

    A file that is `growing` has no end: the reader waits for more. `raw` is an open file, such as one within
    an archive; then the path is only its name in messages.
    """

    def __init__(self, path: str, *, growing: Idle | None = None, raw: BinaryIO | None = None) -> None:
        self.path = path
        self.line = 1
        self.mark = Mark()
        self._offset = 0
        self._peeked = b""
        self._first_read = BLOCK_BYTES
        self._growing, self._is_given = growing, raw is not None
        self._live: LiveInput | GrowingInput | None = None
        self._packing = packing_by_name(path)
        with self.trouble():
            self._raw: BinaryIO = self._open() if raw is None else raw
            self._stream: IO[bytes] = self._raw
            self._packing = self._found_packing()
            if self._packing is not None:
                self._stream = self._packing.unpacked(self._raw)

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

    def _found_packing(self) -> Packing | None:
        """The compression of the bytes, whatever the name says; a pipe may be compressed, too."""
        if self._growing is not None or not hasattr(self._raw, "peek"):
            return None  # looking at the bytes would block
        first = self._raw.peek(_PEEKED_BYTES)[:_PEEKED_BYTES]
        if self._packing is not None and not first.startswith(self._packing.first_bytes):
            self.close()
            raise EOFError("it does not begin like one")
        if first == _ZIPPED:
            self.close()
            what = "is a zip archive, which can only be read from a file with its own name"
            raise EngineError(Problem(self.path, what, "a name that ends in .zip, or the files in it"))
        return packing_by_bytes(first)

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """Report a reading error, and for which file."""
        try:
            yield
        except FileNotFoundError:
            raise EngineError(Problem(self.path, "there is no such file")) from None
        except (EOFError, zlib.error, BadZipFile) as error:
            raise EngineError(self._damaged(error)) from None
        except OSError as error:
            if error.errno is None and self._packing is not None:
                raise EngineError(self._damaged(error)) from None
            raise EngineError(Problem(self.path, f"cannot be read: {error.strerror or error}")) from None

    def _damaged(self, error: Exception) -> Problem:
        """What is wrong with a compressed file, and how far it can be read."""
        kind = "zip" if isinstance(error, BadZipFile) or self._packing is None else self._packing.name
        place = f" in line {self.line} or later" if self.line > 1 else ""
        return Problem(self.path, f"is a damaged {kind} file: {error}{place}", "a whole one")

    def readline(self) -> bytes:
        """The next line; only used for the first ones, before `blocks`."""
        found = self.peek_line()
        self._peeked = b""
        self.line += 1
        self._offset += len(found)
        return found

    def peek_line(self) -> bytes:
        """The next line, which stays there."""
        if not self._peeked:
            with self.trouble():
                self._peeked = self._stream.readline(RECORD_BYTES_MAX)
        return self._peeked

    def resume(self, mark: Mark) -> None:
        """Continue where a block began, with the same block."""
        with self.trouble():
            self._stream.seek(mark.offset)
        self._peeked = b""
        self._offset, self.line, self._first_read = mark.offset, mark.line, mark.read or BLOCK_BYTES

    def blocks(self, cut: Cut) -> Iterator[tuple[int, bytes]]:
        """The rest of the file in blocks of whole records, each with the number of its first line."""
        rest = b""
        size = self._first_read
        while more := self._next(size):
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

    def _next(self, size: int) -> bytes:
        """The next bytes, after a line that was only looked at; a pipe has perhaps no more yet."""
        peeked, self._peeked = self._peeked, b""
        return peeked if peeked and self.is_live else peeked + self._read(size)

    def _read(self, size: int) -> bytes:
        """The next bytes: from a file as many as asked for, from a pipe those that are there."""
        with self.trouble():
            if self._live is not None and hasattr(self._stream, "read1"):
                found: bytes = self._stream.read1(size)
                return found
            return self._stream.read(size)

    def _endless(self) -> Problem:
        what = f"the record in line {self.line} does not end within {RECORD_BYTES_MAX >> 20} MiB"
        return Problem(self.path, what, "a line end, or the closing quote")

    def position(self) -> int:
        return self._raw.tell() if self.size is not None else 0

    @property
    def size(self) -> int | None:
        path = Path(self.path)
        is_file = not self._is_given and self.path != STANDARD_STREAM and path.is_file()
        return path.stat().st_size if is_file else None

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


def cut_records(delimiter: str, quote: str) -> Cut:
    """The length up to the last whole CSV record of a block, where quoted fields may contain line ends."""

    def cut(block: bytes) -> int:
        if ord(quote) not in block:
            return cut_lines(block)
        data = np.frombuffer(block, np.uint8)
        quotes = np.flatnonzero(data == ord(quote))
        if not _well_placed(data, quotes, ord(delimiter), ord(quote)):
            return _slow_cut(block, delimiter, quote)
        newlines = np.flatnonzero(data == _NEWLINE)
        outside = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0

    return cut


def _well_placed(
    data: npt.NDArray[np.uint8], quotes: npt.NDArray[np.intp], delimiter: int, quote: int
) -> bool:
    """Whether quotes open and close alternately, at the start and at the end of a field.

    A doubled quote inside a field counts as one that closes and one that opens again.
    """
    around = np.concatenate(([_NEWLINE], data, [_NEWLINE]))
    before, after = around[quotes[0::2]], around[quotes[1::2] + 2]
    borders = np.array([delimiter, _NEWLINE, _RETURN, quote], np.uint8)
    return bool(np.isin(before, borders).all() and np.isin(after, borders).all())


def _slow_cut(block: bytes, delimiter: str, quote: str) -> int:
    """The cut found by reading every record: quotes in the middle of a field are ordinary characters."""
    lines = block.splitlines(keepends=True)
    length = ended = 0
    consumed = 0
    records = csv.reader((line.decode("latin-1") for line in lines), delimiter=delimiter, quotechar=quote)
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
