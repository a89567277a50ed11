"""Whether a root and a catalogue belong together and are equally recent, by what each records."""

from __future__ import annotations

from dataclasses import dataclass

from australis.engine.ledger.catalog import COMMITS, Catalog
from australis.engine.store import OWNER, WITHOUT_OWNER, FolderHome, Home, Owner
from australis.errors import Problem

ROOT, CATALOG_ID, EPOCH = "root", "catalog", "epoch"
"""The keys of a catalogue for the identity of its root, its own identity, and the last epoch."""


@dataclass(frozen=True)
class Known:
    """What a catalogue says of itself."""

    place: str
    root: str | None
    """The root that it belongs to; None before it is opened for the first time."""
    catalog: str | None
    """Its own identity; None if it was made by a version of Australis that wrote no owners."""
    epoch: int
    commits: int

    @classmethod
    def of(cls, catalog: Catalog, place: str) -> Known:
        """What a catalogue says."""
        epoch, commits = (int(catalog.meta(key) or 0) for key in (EPOCH, COMMITS))
        return cls(place, catalog.meta(ROOT), catalog.meta(CATALOG_ID), epoch, commits)


def place_of(home: Home) -> str:
    """Where a catalogue is, for messages."""
    return str(FolderHome(home.folder.resolve()) if isinstance(home, FolderHome) else home)


def disagreement(uri: str, identity: str, owner: Owner | None, known: Known) -> Problem | None:
    """Why a root and a catalogue cannot be opened together; None if they can.

    Opening writes the catalogue first, so a crash may leave it one epoch ahead. A root without an owner was
    made by a version of Australis that wrote none.
    """
    if known.root not in (None, identity) or (owner is not None and owner.root != identity):
        what = f"is not the root that the catalogue {known.place} belongs to"
        return Problem(uri, what, "a root and its own catalogue")
    if owner is None:
        return None
    if known.catalog not in (None, owner.catalog):
        what = f"belongs to the catalogue {owner.place}, which {owner.process} had last, not to {known.place}"
        return Problem(uri, what, "that catalogue (--catalog), or another root")
    if known.catalog is None or known.epoch < owner.epoch or known.commits < owner.commits:
        what = f"is older than its root: {_far(known)}, and the root knows of {_far(owner)}"
        return Problem(known.place, what, f"the newest catalogue, with its -wal file; {WITHOUT_OWNER}")
    if known.epoch > owner.epoch + 1:
        what = f"is older than its catalogue {known.place}: that has {_far(known)}, and {OWNER} {_far(owner)}"
        return Problem(uri, what, "root and catalogue of the same time; restore both from one copy")
    return None


def missing_catalog(uri: str, place: str, owner: Owner) -> Problem:
    """The problem of a root that has an owner but not the named catalogue."""
    if place == owner.place:
        what = f"is gone, and {uri} belongs to it; {owner.process} had it last"
        return Problem(place, what, "the catalogue as it was; restore it from a copy, or take another root")
    what = f"there is no such catalogue, and {uri} belongs to {owner.place}, which {owner.process} had last"
    expected = "that catalogue (--catalog), restored from a copy if it is gone, or another root"
    return Problem(place, what, expected)


def missing_identity(place: str, identity: str) -> Problem:
    """What is wrong where a root has lost the file by which it is told from others."""
    what = "is gone or empty, by which the root is told from others"
    return Problem(place, what, f"the file as it was, with {identity} in it")


def missing_journal(place: str, owner: Owner) -> Problem:
    """The problem of a catalogue that was copied without its newest commits."""
    what = f"is missing, and {owner.process} did not stop in order: the newest commits may be in it"
    return Problem(f"{place}-wal", what, f"catalog.db and catalog.db-wal of the same time; {WITHOUT_OWNER}")


def _far(told: Known | Owner) -> str:
    return f"{told.commits:,} commits, epoch {told.epoch}"
