"""A survey of a catalogue: all its contents, read from a copy, so that nothing on the root changes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from australis.engine.ledger.catalog import NETWORK
from australis.engine.ledger.custody import Known
from australis.engine.ledger.log import StateFile
from australis.engine.ledger.record import Record
from australis.engine.ledger.view import CatalogView
from australis.engine.store import CATALOG, HISTORY, FolderHome, Segment, staged


@dataclass(frozen=True)
class ConsumerEntry:
    """How far a consumer of an output has come."""

    name: str
    output: str
    seq: int
    position: str | None


@dataclass(frozen=True)
class Survey:
    """The contents of a catalogue."""

    version: int
    known: Known
    damages: tuple[str, ...]
    """What SQLite finds wrong with the file."""
    record: str | None
    log_end: int
    segments: tuple[Segment, ...]
    states: tuple[StateFile, ...]
    heads: tuple[tuple[str, int], ...]
    consumers: tuple[ConsumerEntry, ...]

    def outputs(self) -> frozenset[str] | None:
        """The outputs of the running network; None if there is none yet."""
        return None if self.record is None else frozenset(Record.from_json(self.record).plan.outputs)

    def names(self) -> set[str]:
        """All files that it refers to; a committed run may still have its staged name."""
        names = {*(each.name for each in self.segments), *(each.name for each in self.states)}
        return names | {staged(name) for name in names if name.startswith(f"{HISTORY}/")}


def survey(folder: Path) -> Survey:
    """The contents of the catalogue in a folder, which nobody may have open."""
    with _copied(folder) as view:
        segments = view.rows("select * from segment order by arc, base, name")
        states = view.rows("select box, partition, name, bytes from state order by name")
        consumers = view.rows("select name, output, seq, position from consumer order by name, output")
        damages = [str(text) for (text,) in view.rows("pragma integrity_check")]
        return Survey(
            view.rows("pragma user_version")[0][0],
            Known.of(view, str(folder / CATALOG)),
            tuple(each for each in damages if each != "ok"),
            view.meta(NETWORK),
            view.log_end(),
            tuple(Segment(*row) for row in segments),
            tuple(StateFile(*row) for row in states),
            tuple((name, head) for name, head in view.rows("select id, head from superbox order by id")),
            tuple(ConsumerEntry(*row) for row in consumers),
        )


@contextmanager
def _copied(folder: Path) -> Iterator[CatalogView]:
    """A copy of a catalogue with its journal: even reading would change files beside it."""
    with tempfile.TemporaryDirectory(prefix="australis-verify-") as place:
        for name in (CATALOG, f"{CATALOG}-wal"):
            if (folder / name).exists():
                shutil.copy(folder / name, Path(place) / name)
        view = CatalogView(Path(place) / CATALOG, FolderHome(folder))
        try:
            yield view
        finally:
            view.close()
