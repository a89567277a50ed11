"""Parquet as a sink: a folder of part files, each named by the sequence numbers of its tuples."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.engine.files import open_writer
from australis.engine.sinks.appended import check_folder, sync_folder, trouble
from australis.engine.sinks.consuming import FileSink, Outlet, RunningSink
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)
_PART = re.compile(r"part-(\d{19})-(\d{19})\.parquet")
_UNFINISHED = ".part-*.parquet.*.part"


@dataclass(frozen=True)
class ParquetSink(FileSink):
    """A folder of Parquet files for an output; it is made if the folder around it is there.

    A part appears whole. The last sequence number written is committed with the acknowledgement; a run that
    goes on removes parts behind it, and writes them again. Parts may be taken away by whoever reads them.
    """

    @property
    def folder(self) -> Path:
        return Path(self.path).resolve()

    def check(self, position: str | None) -> None:
        self.check_folder()
        check_folder(str(self.folder / "part") if self.folder.exists() else self.path)
        if position is None:
            self.check_free()

    def check_folder(self) -> None:
        """Refuse a file where the folder should be."""
        if self.folder.exists() and not self.folder.is_dir():
            raise EngineError(Problem(self.path, "is a file", "a folder for Parquet files, or a free name"))

    def check_free(self) -> None:
        """Refuse parts that nothing was recorded of: they are somebody else's."""
        if not self.replace and self.folder.exists() and any(self.parts()):
            what = "has part files already, and this node did not write them"
            raise EngineError(Problem(self.path, what, "a name that is free"))

    def parts(self) -> Iterator[tuple[int, Path]]:
        """The parts that are there, with their last sequence numbers."""
        for path in self.folder.iterdir():
            if match := _PART.fullmatch(path.name):
                yield int(match[2]), path

    def start(self, outlet: Outlet) -> RunningParts:
        return RunningParts(self, outlet)


class RunningParts(RunningSink):
    """A folder of part files that is being written."""

    def __init__(self, sink: ParquetSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._sink, self._folder = sink, sink.folder
        self._make_folder()
        last = _read_last(self._ensure_position(self._first), sink.path)
        with trouble(sink.path):
            self._remove_behind(last)

    def _make_folder(self) -> None:
        self._sink.check_folder()
        with trouble(self._sink.path):
            if not self._folder.exists():
                self._folder.mkdir()
                sync_folder(self._folder.parent)

    def _first(self) -> str:
        self._sink.check_free()
        return _text(-1)

    def _remove_behind(self, last: int) -> None:
        """Remove what was never acknowledged, and what is left of files that got no name."""
        for number, path in self._sink.parts():
            if number > last:
                path.unlink(missing_ok=True)
        for path in self._folder.glob(_UNFINISHED):
            path.unlink(missing_ok=True)
        sync_folder(self._folder)

    def _write(self, table: pa.Table) -> str:
        first, last = (int(table[SEQ][index].as_py()) for index in (0, -1))
        path = Path(self._sink.path) / f"part-{first:019d}-{last:019d}.parquet"
        writer = open_writer(str(path), self._sink.schema)
        try:
            writer.write(table)
            writer.commit()
        except BaseException:
            try:
                writer.discard()
            except Exception as error:
                _log.warning("%s: what is left of it stays until the next run: %s", path, error)
            raise
        with trouble(self._sink.path):
            sync_folder(self._folder)
        return _text(last)

    def close(self) -> None:
        """Nothing is open between two parts."""


def _text(last: int) -> str:
    return json.dumps({"last": last})


def _read_last(text: str, path: str) -> int:
    try:
        return int(json.loads(text)["last"])
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(path, f"the position {text!r} is none of a folder of parts")) from None
