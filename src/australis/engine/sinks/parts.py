"""Parquet as a sink: a folder of part files, each named by the sequence numbers of its tuples."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.engine.files import Writer, open_writer
from australis.engine.sinks.appended import check_folder, sync_folder, trouble
from australis.engine.sinks.consuming import FileSink, Outlet, RunningSink
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)
_PART = re.compile(r"part-(\d{19})-(\d{19})\.parquet")


@dataclass(frozen=True)
class ParquetSink(FileSink):
    """A folder of Parquet files for an output; it is created if its parent exists.

    A part is written under a hidden name, acknowledged, and only then renamed: readers of the folder see
    complete parts, and no tuple twice. The acknowledgement names the part: after a crash, the next run
    renames it, and removes what was not acknowledged. Readers may remove parts.
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
        """Refuse parts that were not recorded: they belong to somebody else."""
        if not self.replace and self.folder.exists() and any(self.parts()):
            what = "has part files already, and this node did not write them"
            raise EngineError(Problem(self.path, what, "a name that is free"))

    def parts(self) -> Iterator[tuple[int, Path]]:
        """The existing parts, with their last sequence numbers."""
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
        self._written: Writer | None = None
        """The part that is not renamed yet, since it is not acknowledged."""
        last, part = _read_position(self._ensure_position(self._first), sink.path)
        with trouble(sink.path):
            self._publish_rest(part)
            self._remove_after(last)

    def _make_folder(self) -> None:
        self._sink.check_folder()
        with trouble(self._sink.path):
            if not self._folder.exists():
                self._folder.mkdir()
                sync_folder(self._folder.parent)

    def _first(self) -> str:
        self._sink.check_free()
        return _text(-1, "")

    def _publish_rest(self, part: str) -> None:
        """Rename the last part, if the last run ended after acknowledging it and before renaming it."""
        for path in self._folder.glob(_unfinished(part)) if part else ():
            os.replace(path, self._folder / part)

    def _remove_after(self, last: int) -> None:
        """Remove what was never acknowledged, and files that were never renamed."""
        for number, path in self._sink.parts():
            if number > last:
                path.unlink(missing_ok=True)
        for path in self._folder.glob(_unfinished("part-*.parquet")):
            path.unlink(missing_ok=True)
        sync_folder(self._folder)

    def _write(self, table: pa.Table) -> str:
        first, last = (int(table[SEQ][index].as_py()) for index in (0, -1))
        part = f"part-{first:019d}-{last:019d}.parquet"
        path = Path(self._sink.path) / part
        writer = open_writer(str(path), self._sink.schema)
        try:
            writer.write(table)
            writer.finish()
        except BaseException:
            try:
                writer.discard()
            except Exception as error:
                _log.warning("%s: what is left of it stays until the next run: %s", path, error)
            raise
        self._written = writer
        with trouble(self._sink.path):
            sync_folder(self._folder)
        return _text(last, part)

    def _publish(self) -> None:
        assert self._written is not None, "a part is acknowledged when it is written"
        self._written.publish()
        self._written = None
        with trouble(self._sink.path):
            sync_folder(self._folder)

    def close(self) -> None:
        """Nothing is open between two parts."""


def _unfinished(part: str) -> str:
    """The names of files that do not yet have the name of a part."""
    return f".{part}.*.part"


def _text(last: int, part: str) -> str:
    return json.dumps({"last": last, "part": part})


def _read_position(text: str, path: str) -> tuple[int, str]:
    """The last acknowledged number, and the part that ends with it, if one was written."""
    try:
        known = json.loads(text)
        return int(known["last"]), str(known.get("part", ""))
    except (ValueError, TypeError, KeyError):
        raise EngineError(Problem(path, f"the position {text!r} is none of a folder of parts")) from None
