"""A piece of an output, decoded and encoded once for all who read it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from australis.engine.deliver import Part
from australis.engine.store import SEQ
from australis.service.fanout.encoding import json_array

PIECE_ROWS = 5_000
"""About how many tuples a piece has; those of one number stay together."""


class Piece:
    """What an output has from one number up to another, or that it is no longer kept."""

    def __init__(self, begin: int, end: int, table: pa.Table, *, is_missed: bool = False) -> None:
        self.begin, self.end, self.table, self.is_missed = begin, end, table, is_missed
        self._lock = threading.Lock()
        self._json: bytes | None = None

    @property
    def last(self) -> int:
        """The number of its last tuple: whoever has it continues with the next one."""
        return int(self.table[SEQ][-1].as_py()) if self.table.num_rows else self.end - 1

    @property
    def size(self) -> int:
        """The bytes that it takes in memory."""
        return int(self.table.nbytes) + len(self._json or b"")

    @property
    def is_encoded(self) -> bool:
        """Whether its JSON is there already."""
        return self._json is not None

    def json(self) -> bytes:
        """Its tuples as a JSON array on one line."""
        with self._lock:
            if self._json is None:
                self._json = json_array(self.table)
            return self._json

    def since(self, seq: int) -> Piece:
        """What it has from a number on; itself, if that is all."""
        if seq <= self.begin:
            return self
        first = int(np.searchsorted(self.table[SEQ].to_numpy(), seq))
        return Piece(seq, self.end, self.table.slice(first), is_missed=self.is_missed)


def pieces_of(part: Part) -> Iterator[Piece]:
    """What was read of an output in pieces of a useful size."""
    if part.is_missed or part.table.num_rows <= 2 * PIECE_ROWS:
        yield Piece(part.begin, part.end, part.table, is_missed=part.is_missed)
        return
    numbers = part.table[SEQ].to_numpy()
    begin, first = part.begin, 0
    while first < len(numbers):
        # Tuples of one number are never divided: whoever resumes does so with a number.
        place = first + PIECE_ROWS
        last = (
            len(numbers) if place >= len(numbers) else int(np.searchsorted(numbers, numbers[place], "right"))
        )
        end = part.end if last == len(numbers) else int(numbers[last])
        yield Piece(begin, end, part.table.slice(first, last - first).combine_chunks())
        begin, first = end, last
