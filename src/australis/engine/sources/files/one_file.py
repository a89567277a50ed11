"""One file: read in batches, replayed, followed while it grows, or adopted as a segment."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.files import STANDARD_STREAM, Ended, Reader, input_format, open_reader
from australis.engine.sources.delivery import Adoption, Delivery, Positions
from australis.engine.sources.files.adopting import adoptable_rows
from australis.engine.sources.files.batches import FilePiece, Taking
from australis.engine.sources.files.fingerprint import Fingerprint, fingerprint
from australis.engine.sources.files.positions import FilePlace, read_place
from australis.engine.sources.options import AS_IT_IS, Options
from australis.engine.sources.pacing import Pacer
from australis.engine.sources.waiting import Waiter, check, pause
from australis.errors import EngineError, Problem

_NOT_KNOWN_AGAIN = Fingerprint(0, 0, 0)
_WHOLE = ("parquet", "zip")
"""Formats of files that have an end, and so cannot grow."""


@dataclass(frozen=True)
class FileSource:
    """A file for an input: a text file, compressed or not, Parquet, a zip archive, a pipe.

    A file is identified by its path: the next run continues after what the last one committed. A pipe and
    standard input cannot be read again, so each run begins with what they deliver next.
    """

    input: str
    path: str
    schema: Schema
    options: Options = AS_IT_IS

    def __post_init__(self) -> None:
        self.options.check(self.schema)

    @property
    def id(self) -> str:
        path = self.path if self.path == STANDARD_STREAM else str(Path(self.path).resolve())
        return f"{self.input}={path}"

    @property
    def at_rest(self) -> bool:
        return self.options.replay is None and not self.options.follow and not self.is_stream

    @property
    def is_endless(self) -> bool:
        return self.options.follow

    @property
    def is_stream(self) -> bool:
        """Whether the file can be read only once."""
        return self.path == STANDARD_STREAM or _is_pipe(self.path)

    def start(self, positions: Positions, waiter: Waiter) -> RunningFile:
        return RunningFile(self, None if self.is_stream else positions(self.id), waiter)


class RunningFile:
    """A file that is being read."""

    def __init__(self, source: FileSource, position: str | None, waiter: Waiter) -> None:
        self._source, self._waiter = source, waiter
        options = source.options
        self._format = input_format(source.path, options.format, options.stream_format)
        self._place = self._known(position)
        self.notes: tuple[str, ...] = ()

    @property
    def turn(self) -> int:
        return self._place.turn

    def deliveries(self, pacer: Pacer | None = None) -> Iterator[Delivery]:
        """The rest of the file; a replay of several files has one pacer for all."""
        if self._place.complete and not self._has_grown():
            return
        rows = self._adoptable_rows()
        if rows is not None:
            yield from self._adoption(rows)
            return
        try:
            yield from self._read(pacer or self._pacer())
        except Ended:
            # The run ends, as requested.
            return

    def _known(self, position: str | None) -> FilePlace:
        """The committed position in this very file, or its beginning."""
        if self._source.is_stream:
            return FilePlace(_NOT_KNOWN_AGAIN)
        if position is None:
            file = fingerprint(self._source.path, whole=self._format in _WHOLE)
            return FilePlace(file, format=self._said_format)
        place = read_place(position, self._source.path)
        place.file.check(self._source.path)
        if place.format != self._said_format and not place.complete:
            was = f"was read in the format {place.format or 'of its name'} when it was last read"
            now = f"is now read in {self._said_format or 'that of its name'}"
            raise EngineError(Problem(self._source.path, f"{was}, and {now}", "the same format to its end"))
        return place

    @property
    def _said_format(self) -> str:
        return str(self._source.options.format or "")

    def _has_grown(self) -> bool:
        return Path(self._source.path).stat().st_size > self._place.file.size

    def _adoptable_rows(self) -> int | None:
        """The rows of a Parquet file if none of it is taken yet and it can become a segment as it is."""
        options = self._source.options
        if self._format != "parquet" or options.replay or options.follow or not self._place.is_beginning:
            return None
        return adoptable_rows(self._source.path, self._source.schema, options.format)

    def _adoption(self, rows: int) -> Iterator[Delivery]:
        if rows:
            self._place = self._place.delivered(complete=True)
            content = Adoption(str(Path(self._source.path).resolve()), rows)
            yield Delivery(self._source.input, content, self._source.id, self._place.text)

    def _pacer(self) -> Pacer | None:
        options = self._source.options
        return Pacer(options.replay, self._waiter, options.batch) if options.replay else None

    def _read(self, pacer: Pacer | None) -> Iterator[Delivery]:
        with self._open() as reader:
            taking = Taking(reader, self._place, self._source.options.batch)
            for piece in _pieces(reader, taking, pacer):
                self._place = piece.place
                self.notes = reader.notes
                yield self._delivery(piece)
            self.notes = reader.notes

    def _open(self) -> Reader:
        options = self._source.options
        is_growing = options.follow and not self._source.is_stream
        reader = open_reader(
            self._source.path,
            self._source.schema,
            timezone=options.timezone,
            stream_format=options.stream_format,
            format=options.format,
            growing=(lambda: pause(self._waiter, options.poll_seconds)) if is_growing else None,
        )
        if not is_growing:
            reader.while_waiting(lambda: check(self._waiter))
        return reader

    def _delivery(self, piece: FilePiece) -> Delivery:
        text = self._grown(piece.place).text
        return Delivery(self._source.input, piece.table, self._source.id, text, piece.rejected)

    def _grown(self, place: FilePlace) -> FilePlace:
        """The position in a file with its present length, if it is one that grows."""
        if self._source.is_stream or not self._source.options.follow:
            return place
        return replace(place, file=replace(place.file, size=Path(self._source.path).stat().st_size))


def _pieces(reader: Reader, taking: Taking, pacer: Pacer | None) -> Iterator[FilePiece]:
    if pacer is not None:
        return taking.paced(pacer)
    return taking.as_it_comes() if reader.is_live else taking.whole()


def _is_pipe(path: str) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        # Whoever opens it will report what is wrong with it.
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
