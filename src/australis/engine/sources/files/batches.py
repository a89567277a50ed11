"""Divides the rows of a reader into deliveries, after those taken before, each with its end position.

The rejected rows of a batch come before its other rows: so a file is one sequence of rows, and every position
a cut in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from australis.engine.files import Batch, Mark, Reader, Rejected
from australis.engine.sources.files.positions import FilePlace
from australis.engine.sources.pacing import Pacer


@dataclass(frozen=True)
class FilePiece:
    """The rows of one delivery from a file, and the position after them."""

    table: pa.Table
    rejected: tuple[Rejected, ...]
    place: FilePlace


@dataclass(frozen=True)
class _Part:
    """The rest of a batch, the position before it, and whether it is the last one."""

    batch: Batch
    mark: Mark
    is_last: bool


class Taking:
    """Takes rows from a file from a position on; `place` is the position after the latest piece."""

    def __init__(self, reader: Reader, place: FilePlace, rows_max: int) -> None:
        self._reader, self._rows_max = reader, rows_max
        self._skipped_rows, self._skipped_rejected = place.rows, place.rejected
        # Skipped rows are counted again, in blocks as they are cut this time.
        self.place = replace(place, rows=0, rejected=0)
        if not place.is_beginning:
            reader.resume(place.mark)

    def whole(self) -> Iterator[FilePiece]:
        """Pieces of `rows_max` rows; the last one has what is left."""
        tables: list[pa.Table] = []
        rejected: list[Rejected] = []
        room = self._rows_max
        for part in self._parts():
            rejected += part.batch.rejected
            self._advance(part, 0, len(part.batch.rejected))
            for begin, end in _cuts(part.batch.table.num_rows, room, self._rows_max):
                tables.append(part.batch.table.slice(begin, end - begin))
                self._advance(part, end - begin, 0)
                room -= end - begin
                is_over = part.is_last and end == part.batch.table.num_rows
                if room == 0 or is_over or len(rejected) >= self._rows_max:
                    yield self._piece(tables, rejected, is_over)
                    tables, rejected, room = [], [], self._rows_max
        if tables:
            yield self._piece(tables, rejected, is_over=True)

    def paced(self, pacer: Pacer) -> Iterator[FilePiece]:
        """Pieces of the rows that are due, as soon as they are."""
        for part in self._parts():
            yield from self._slices(part, pacer.cuts(part.batch.table))

    def as_it_comes(self) -> Iterator[FilePiece]:
        """Pieces of the rows that are there, at most `rows_max` each."""
        for part in self._parts():
            yield from self._slices(part, _cuts(part.batch.table.num_rows, self._rows_max, self._rows_max))

    def _slices(self, part: _Part, cuts: Iterator[tuple[int, int]]) -> Iterator[FilePiece]:
        rejected = list(part.batch.rejected)
        rows = part.batch.table.num_rows
        if rejected and not rows:
            cuts = iter([(0, 0)])
        for begin, end in cuts:
            self._advance(part, end - begin, len(rejected))
            yield self._piece(
                [part.batch.table.slice(begin, end - begin)], rejected, part.is_last and end == rows
            )
            rejected = []

    def _parts(self) -> Iterator[_Part]:
        """What is left of the batches after the rows taken before."""
        for batch, mark, is_last in self._marked():
            if part := self._skip(batch, mark, is_last):
                yield part

    def _marked(self) -> Iterator[tuple[Batch, Mark, bool]]:
        """The batches with their marks; in a file that has an end, each knows whether it is the last."""
        if self._reader.is_live:
            yield from ((batch, self._reader.mark, False) for batch in self._reader.batches())
            return
        before: tuple[Batch, Mark] | None = None
        for batch in self._reader.batches():
            if before:
                yield *before, False
            before = batch, self._reader.mark
        if before:
            yield *before, True

    def _skip(self, batch: Batch, mark: Mark, is_last: bool) -> _Part | None:
        rows = min(self._skipped_rows, batch.table.num_rows)
        rejected = min(self._skipped_rejected, len(batch.rejected))
        self._skipped_rows -= rows
        self._skipped_rejected -= rejected
        self.place = self.place.behind(mark, rows, rejected)
        rest = Batch(batch.table.slice(rows), batch.rejected[rejected:])
        return _Part(rest, mark, is_last) if rest.table.num_rows or rest.rejected else None

    def _advance(self, part: _Part, rows: int, rejected: int) -> None:
        self.place = self.place.behind(part.mark, rows, rejected)

    def _piece(self, tables: list[pa.Table], rejected: list[Rejected], is_over: bool) -> FilePiece:
        self.place = self.place.delivered(is_over)
        return FilePiece(pa.concat_tables(tables), tuple(rejected), self.place)


def _cuts(rows: int, first: int, rows_max: int) -> Iterator[tuple[int, int]]:
    """Where to cut a table if the first slice has `first` rows, and the others `rows_max`; at least one."""
    begin, end = 0, min(first, rows)
    yield begin, end
    while end < rows:
        begin, end = end, min(end + rows_max, rows)
        yield begin, end
