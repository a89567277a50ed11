"""A folder of files: those that are there, and with `follow` those that arrive.

Each scan takes the complete files that were not taken before, in the order of their names; a file that
arrives later under an earlier name is taken by a later scan, so none is missed. Every file has its own
position. A file is complete when its size and time have not changed for `settle_seconds`; if files are
renamed into the folder this can be 0. Without `follow` all are taken as they are. Names that begin with . or
_ or end with .tmp are left out, and so are folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from australis.algebra.schema import Schema
from australis.engine.sources.delivery import Delivery, Positions
from australis.engine.sources.files.one_file import FileSource, RunningFile
from australis.engine.sources.options import AS_IT_IS, Options
from australis.engine.sources.pacing import Pacer
from australis.engine.sources.waiting import Waiter
from australis.errors import EngineError, Problem

_HIDDEN = (".", "_")
_UNFINISHED = ".tmp"

Look = tuple[int, int]
"""The size of a file and the time of its last change."""


@dataclass(frozen=True)
class FolderSource:
    """A folder of files for an input, one after the other."""

    input: str
    path: str
    schema: Schema
    options: Options = AS_IT_IS

    def __post_init__(self) -> None:
        self.options.check(self.schema)

    @property
    def at_rest(self) -> bool:
        return self.options.replay is None and not self.options.follow

    @property
    def is_endless(self) -> bool:
        return self.options.follow

    def start(self, positions: Positions, waiter: Waiter) -> RunningFolder:
        return RunningFolder(self, positions, waiter)

    def file(self, name: str) -> FileSource:
        """One of the files, which no longer grows."""
        options = replace(self.options, follow=False)
        return FileSource(self.input, str(Path(self.path) / name), self.schema, options)


class RunningFolder:
    """A folder that is being read."""

    def __init__(self, source: FolderSource, positions: Positions, waiter: Waiter) -> None:
        self._source, self._positions, self._waiter = source, positions, waiter
        self._taken: set[str] = set()
        self._seen: dict[str, tuple[Look, float]] = {}
        self._noted: set[str] = set()
        self.notes: tuple[str, ...] = ()
        self.turn = sum(self._running(name).turn for name in sorted(self._looks()) if self._is_known(name))

    def deliveries(self) -> Iterator[Delivery]:
        """The contents of the files that were not taken yet."""
        while True:
            pacer = self._pacer()
            for name in self._complete():
                yield from self._file(name, pacer)
                if self._waiter.is_ended:
                    return
            if not self._source.options.follow or not self._wait():
                return

    def _pacer(self) -> Pacer | None:
        """One replay for all files of a scan; it starts again after a wait for files."""
        options = self._source.options
        return Pacer(options.replay, self._waiter, options.batch) if options.replay else None

    def _wait(self) -> bool:
        return self._waiter.until(self._waiter.now() + self._source.options.poll_seconds)

    def _is_known(self, name: str) -> bool:
        return self._positions(self._source.file(name).id) is not None

    def _running(self, name: str) -> RunningFile:
        return self._source.file(name).start(self._positions, self._waiter)

    def _file(self, name: str, pacer: Pacer | None) -> Iterator[Delivery]:
        running = self._running(name)
        before = running.turn
        for delivery in running.deliveries(pacer):
            self.turn += running.turn - before
            before = running.turn
            yield delivery
        self._note(running.notes, f"{self._source.file(name).path}: ")
        self._taken.add(name)

    def _note(self, notes: tuple[str, ...], place: str) -> None:
        """Keep the notes on a file that were not already made on another one of the folder."""
        for note in notes:
            if (said := note.removeprefix(place)) not in self._noted:
                self._noted.add(said)
                self.notes += (note,)

    def _complete(self) -> list[str]:
        """The files that are complete and not taken, by name."""
        looks = self._looks()
        now = self._waiter.now()
        self._seen = {name: (look, self._since(name, look, now)) for name, look in looks.items()}
        return sorted(name for name, (_, since) in self._seen.items() if now - since >= self._settle_seconds)

    @property
    def _settle_seconds(self) -> float:
        return self._source.options.settle_seconds if self._source.options.follow else 0.0

    def _since(self, name: str, look: Look, now: float) -> float:
        """The time since which a file has looked the same."""
        before, since = self._seen.get(name, (None, now))
        return since if before == look else now

    def _looks(self) -> dict[str, Look]:
        """The files that are there and not taken."""
        try:
            with os.scandir(self._source.path) as entries:
                wanted = [entry for entry in entries if self._is_wanted(entry)]
        except FileNotFoundError:
            raise EngineError(Problem(self._source.path, "there is no such folder")) from None
        except OSError as error:
            what = f"cannot be looked at: {error.strerror or error}"
            raise EngineError(Problem(self._source.path, what, "a folder of files")) from None
        return {entry.name: look for entry in wanted if (look := _look(entry))}

    def _is_wanted(self, entry: os.DirEntry[str]) -> bool:
        name = entry.name
        is_hidden = name.startswith(_HIDDEN) or name.lower().endswith(_UNFINISHED)
        return not is_hidden and name not in self._taken and entry.is_file()


def _look(entry: os.DirEntry[str]) -> Look | None:
    """The size and time of a file; None if it has gone since."""
    try:
        found = entry.stat()
    except FileNotFoundError:
        # Whoever owns the folder may delete files.
        return None
    return found.st_size, found.st_mtime_ns
