"""Parquet as a sink: a folder of part files, each named by the sequence numbers of its tuples.

A part is written when the output holds enough for a file of a useful size, or the last part was written long
enough ago. The output itself is the buffer: between two parts nothing is in memory, and a killed process
loses nothing.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from australis.algebra.guards import is_a, shown
from australis.engine.files import Writer, open_writer
from australis.engine.sinks.appended import check_folder, sync_folder, trouble
from australis.engine.sinks.consuming import FileSink, Heard, Kept, Outlet, RunningSink, Tables
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)
_PART = re.compile(r"part-(\d{19})-(\d{19})\.parquet")
_ROWS_AT_ONCE = 100_000
"""About how many tuples are read at a time, and are a row group of a part."""
_LOOK_S = 1.0
"""How often to look at tuples that wait: inputs may have begun to wait for the space that they take."""


@dataclass(frozen=True)
class PartLimits:
    """When a part is written: it is about as large as this, or the last one was written so long ago.

    >>> PartLimits(every_s=1)
    PartLimits(bytes=128000000, every_s=1)
    """

    bytes: int = 128_000_000
    every_s: float = 30.0

    def __post_init__(self) -> None:
        if not is_a(self.bytes, int) or self.bytes < 1:
            raise EngineError(
                Problem("bytes", f"{shown(self.bytes)} is no size of a part", "a number from 1")
            )
        if not is_a(self.every_s, (int, float)) or not self.every_s >= 0:
            what = f"{shown(self.every_s)} is no time between two parts"
            raise EngineError(Problem("every_s", what, "a number of seconds, 0 or greater"))


DEFAULT_LIMITS = PartLimits()


@dataclass(frozen=True)
class ParquetSink(FileSink):
    """A folder of Parquet files for an output; it is created if its parent exists.

    A part is written under a hidden name, acknowledged, and only then renamed. After that it never changes:
    readers of the folder see each tuple once, and what they have seen stays. The acknowledgement names the
    part: after a crash, the next run renames it, and removes what was not acknowledged. Readers may remove
    parts.
    """

    limits: PartLimits = DEFAULT_LIMITS
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    """Seconds, which pass between two parts."""

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
        last, part = _read_position(self._ensure_position(self._first), sink.path)
        with trouble(sink.path):
            self._publish_rest(part)
            self._remove_after(last)
        self._last_s = float("-inf")
        """When the last part was written. The first is due at once: a node may be killed again and again."""

    def steps(self, tables: Tables, heard: Heard, *, is_last: bool) -> Iterator[Callable[[], None]]:
        """One step for each part that is due; what is not due stays in the output, unacknowledged."""
        del tables
        while True:
            begin, _ = self._outlet.consumer(self._consumer, self._output)
            kept = self._outlet.kept(self._output, begin)
            if not self._is_due(kept, is_last):
                return
            yield partial(self._write_part, begin, kept.end, heard)

    def _is_due(self, kept: Kept, is_last: bool) -> bool:
        """Whether to write a part of what is kept; else notes when to look again."""
        limits, self.rest_s = self._sink.limits, None
        if not kept.rows:
            return False
        rest_s = self._last_s + limits.every_s - self._sink.clock()
        if is_last or kept.is_in_the_way or kept.bytes >= limits.bytes or rest_s <= 0:
            return True
        self.rest_s = min(rest_s, _LOOK_S)
        return False

    # --- one part

    def _write_part(self, begin: int, end: int, heard: Heard) -> None:
        """Write a part of the tuples from `begin` up to `end` at most, acknowledge it and publish it."""
        path = Path(self._sink.path) / f"part-{begin:019d}.parquet"
        writer = open_writer(str(path), self._sink.schema)
        try:
            numbers, end = self._fill(writer, begin, end, heard)
            writer.finish()
            position = self._name(writer, numbers) if numbers else None
        except BaseException:
            _discard(writer, path)
            raise
        self._last_s = self._sink.clock()
        self._outlet.acknowledge(self._consumer, self._output, end, position)
        if position is None:
            _discard(writer, path)
        else:
            writer.publish()
            self._sync()

    def _fill(self, writer: Writer, begin: int, end: int, heard: Heard) -> tuple[tuple[int, int] | None, int]:
        """Write tables until a part is full; returns its first and last number, and where the next begins."""
        numbers: tuple[int, int] | None = None
        while begin < end and not (numbers and writer.bytes >= self._sink.limits.bytes):
            some = self._outlet.kept(self._output, begin, _ROWS_AT_ONCE)
            cut = min(some.end, end) if some.rows else end
            table = self._outlet.read(self._output, begin, cut)
            if table.num_rows:
                first, last = (int(table[SEQ][index].as_py()) for index in (0, -1))
                numbers = (numbers[0] if numbers else first, last)
                writer.write(table)
                heard(table)
            begin = cut
        return numbers, begin

    def _name(self, writer: Writer, numbers: tuple[int, int]) -> str:
        """Name a part by its numbers, hidden still; returns the position after it."""
        part = f"part-{numbers[0]:019d}-{numbers[1]:019d}.parquet"
        writer.rename(str(Path(self._sink.path) / part))
        self._sync()
        return _text(numbers[1], part)

    def _sync(self) -> None:
        with trouble(self._sink.path):
            sync_folder(self._folder)

    # --- the start and the end of a run

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

    def close(self) -> None:
        """Nothing is open between two parts."""


def _discard(writer: Writer, path: Path) -> None:
    try:
        writer.discard()
    except Exception as error:
        _log.warning("%s: what is left of it stays until the next run: %s", path, error)


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
