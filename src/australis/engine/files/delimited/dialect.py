"""How fields are separated, quoted and NULL; every separator becomes one byte, which Arrow can split at."""

from __future__ import annotations

import re
from dataclasses import dataclass

from australis.algebra.store import BLANKS, FileFormat
from australis.engine.files.blocks import Cut, cut_lines, cut_records
from australis.errors import EngineError, Problem

_STAND_INS = "\x1f\x1e\x1d\x1c\x01\x02\x03\x04"
_RUN = re.compile(rb"[ \t]+")
_AT_THE_BORDERS = re.compile(rb"(?:^|(?<=\n))\t|\t(?=\r?\n|\r?\Z)")


@dataclass(frozen=True)
class Dialect:
    """A way of writing records as lines of fields."""

    separator: str = ","
    quote: str = '"'
    nulls: tuple[str, ...] = ()
    skips_empty_lines: bool = False
    """Whether an empty line is no record, not even in a file of one column."""

    @property
    def cut(self) -> Cut:
        """Where a block of records ends: only quoted fields contain line ends."""
        return cut_records(self.separator, self.quote) if self.quote else cut_lines

    def __str__(self) -> str:
        names = {"\t": "tabs", BLANKS: "spaces and tabs", " ": "spaces"}
        return names.get(self.separator, repr(self.separator))


def dialect_of(given: FileFormat | None, usual_separator: str) -> Dialect:
    """The dialect of a format; the name of a file gives the usual separator."""
    if given is None:
        return Dialect(usual_separator)
    return Dialect(given.separator or usual_separator, given.quotes, tuple(given.nulls))


@dataclass(frozen=True)
class RecordBlock:
    """Whole records of a file, separated by one character, and the line on which they begin."""

    line: int
    data: bytes
    delimiter: str


def separated(path: str, line: int, data: bytes, separator: str) -> RecordBlock:
    """A block whose separator is one character, whatever it was; its lines stay as they are.

    >>> separated("a.txt", 1, b" 1   2\\t\\n3\\t\\t 4\\n", BLANKS).data
    b'1\\t2\\n3\\t4\\n'
    """
    if separator == BLANKS:
        return RecordBlock(line, _AT_THE_BORDERS.sub(b"", _RUN.sub(b"\t", data)), "\t")
    if len(separator) == 1 and separator.isascii():
        return RecordBlock(line, data, separator)
    free = next((each for each in _STAND_INS if each.encode() not in data), None)
    if free is None:
        what = f"is no text from line {line} on: it has all kinds of control characters"
        raise EngineError(Problem(path, what, f"text separated by {separator!r}"))
    return RecordBlock(line, data.replace(separator.encode(), free.encode()), free)
