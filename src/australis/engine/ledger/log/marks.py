"""Marks in the log: how the catalogue stores them, and the marks of a maker over a part of the log.

A maker of marks is an input with progress; its name is that of the input and its attribute.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.algebra.progress import BoundProgress
from australis.kernels.marks import Marks


@dataclass(frozen=True)
class Rises:
    """What an event says about the marks of its input."""

    rows: npt.NDArray[np.int64] | None = None
    """The tuples that raise it, by their place in the event; None if it has no tuples."""
    marks: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    """The mark that each of them raises it to."""
    promise: int | float | None = None
    """A promise that came without a tuple."""


def maker_of(name: str, bound: BoundProgress) -> str:
    """The name of an input as a maker of marks."""
    return f"{name}.{bound.on}"


def packed_numbers(values: npt.NDArray[Any]) -> bytes:
    """Rising numbers as bytes: their kind, then their differences, or doubles as they are, compressed.

    >>> unpacked_numbers(packed_numbers(np.array([3, 4, 9]))).tolist()
    [3, 4, 9]
    """
    kind = b"d" if values.dtype == np.float64 else b"l"
    stored = values if kind == b"d" else np.diff(values, prepend=0)
    return kind + zlib.compress(stored.tobytes(), 1)


def unpacked_numbers(data: bytes) -> npt.NDArray[Any]:
    """The numbers that `packed_numbers` packed."""
    if not data:
        return np.empty(0, np.int64)
    raw = zlib.decompress(data[1:])
    return np.frombuffer(raw, np.float64) if data[:1] == b"d" else np.cumsum(np.frombuffer(raw, np.int64))


@dataclass(frozen=True)
class LoggedMarks:
    """The marks that one event has raised; the end of the streams is one without marks."""

    until: int
    before: int | float | None
    last: int | float | None
    causes: bytes
    rises: bytes


@dataclass(frozen=True)
class MarkLog:
    """The marks of a maker over a part of the log, divided where the streams ended."""

    runs: tuple[tuple[int, int, Marks], ...]
    """From each number up to another, the marks; the first number is where the part begins."""

    def between(self, lo: int, hi: int) -> Marks:
        """The marks from one number up to another, between which the streams do not end."""
        found = next(marks for begin, end, marks in self.runs if begin <= lo < end)
        return found.between(lo, hi)


def mark_log(rows: Sequence[LoggedMarks], lo: int, hi: int) -> MarkLog:
    """The marks from `lo` up to `hi`, from the events that may have some of them and the last one before."""
    runs: list[tuple[int, int, Marks]] = []
    begin, parts = lo, list[LoggedMarks]()
    for row in rows:
        if row.causes:
            parts.append(row)
            continue
        if row.until > begin:
            runs.append((begin, row.until, _run(parts, begin, row.until)))
            begin = row.until
        parts = []
    return MarkLog((*runs, (begin, hi, _run(parts, begin, hi))))


def _run(parts: Sequence[LoggedMarks], lo: int, hi: int) -> Marks:
    if not parts:
        return Marks(None, np.empty(0, np.int64), np.empty(0, np.int64))
    causes = np.concatenate([unpacked_numbers(part.causes) for part in parts])
    values = np.concatenate([unpacked_numbers(part.rises) for part in parts])
    return Marks(parts[0].before, causes, values).between(lo, hi)
