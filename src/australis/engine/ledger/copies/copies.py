"""The copies of a catalogue in its root: a snapshot now and then, and every commit since.

The names are numbers of commits, and an object is only written if there is none of its name. So two nodes
cannot both make a commit of one number, and the one that comes second finds out who has the root.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pyarrow as pa

from australis.engine.ledger.copies.records import CommitRecord
from australis.engine.store import Root, unwritable
from australis.errors import EngineError, Problem

COPIES = "catalog"
"""Where the copies are, below the root."""
_SNAPSHOT = re.compile(rf"{COPIES}/(\d+)-v(\d+)\.snapshot")
_COMMIT = re.compile(rf"{COPIES}/(\d+)\.commit")
_CODEC = "zstd"
_LENGTH = 8
"""The bytes before a snapshot with its length: what is compressed does not tell."""


class RootTaken(EngineError):
    """Another node has opened the root with another copy of the catalogue: this one must stop."""


class NotNewest(RootTaken):
    """The node that had the root has committed meanwhile; the one that opens it must read that first."""


@dataclass(frozen=True)
class Snapshot:
    """A whole catalogue in the root, as of a commit."""

    number: int
    version: int

    @property
    def name(self) -> str:
        return f"{COPIES}/{self.number:012d}-v{self.version}.snapshot"


@dataclass(frozen=True)
class Listed:
    """What there is of a catalogue in its root."""

    snapshots: tuple[Snapshot, ...]
    """Snapshots, the newest last."""
    commits: frozenset[int]

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest one; without one, the catalogue was never copied."""
        return self.snapshots[-1] if self.snapshots else None

    @property
    def last(self) -> int:
        """The number of the newest commit."""
        return max((*self.commits, *(each.number for each in self.snapshots)), default=0)


def commit_name(number: int) -> str:
    """The name of the object of a commit.

    >>> commit_name(12)
    'catalog/000000000012.commit'
    """
    return f"{COPIES}/{number:012d}.commit"


class Copies:
    """Reads and writes the copies of a root's catalogue."""

    def __init__(self, root: Root) -> None:
        self.root = root

    def listed(self) -> Listed:
        """What is there."""
        try:
            names = list(self.root.names(COPIES))
        except OSError as error:
            raise _unreadable(self.root.uri_of(COPIES), error) from error
        commits = frozenset(int(found[1]) for name in names if (found := _COMMIT.fullmatch(name)))
        snapshots = (_SNAPSHOT.fullmatch(name) for name in names)
        known = sorted((int(found[1]), int(found[2])) for found in snapshots if found)
        return Listed(tuple(Snapshot(*each) for each in known), commits)

    # --- commits

    def put(self, record: CommitRecord, *, is_first: bool) -> None:
        """Write a commit, unless another node has written one of its number.

        Raises RootTaken if so. After any other error the commit is in doubt: it may be there, or come to be
        there later. Calling this again settles that.
        """
        name, data = commit_name(record.number), record.encode()
        try:
            self.root.disk.create_once(name, data)
        except FileExistsError:
            # It may be this very commit, if the store got it although it did not seem so.
            found = self._read(name)
            if found.token != record.token:
                raise self._taken(found, is_first=is_first) from None
        except OSError as error:
            raise unwritable(self.root.uri_of(name), error) from error

    def read(self, numbers: Iterable[int]) -> list[CommitRecord]:
        """Read commits; raises FileNotFoundError if one is no longer there."""
        return self.root.each(lambda number: self._fetch(commit_name(number)), numbers)

    def _read(self, name: str) -> CommitRecord:
        try:
            return self._fetch(name)
        except OSError as error:
            raise _unreadable(self.root.uri_of(name), error) from error

    def _fetch(self, name: str) -> CommitRecord:
        return CommitRecord.decode(self.root.fetch(name), self.root.uri_of(name))

    def _taken(self, found: CommitRecord, *, is_first: bool) -> RootTaken:
        kind = NotNewest if is_first else RootTaken
        what = f"was taken over by {found.process}, with the catalogue {found.place}"
        return kind(Problem(self.root.uri, what, "one node on a root; stop one of the two"))

    # --- snapshots

    def write_snapshot(self, snapshot: Snapshot, image: bytes) -> None:
        """Write a whole catalogue; another of its commit is the same, and stays."""
        packed = pa.compress(image, codec=_CODEC, asbytes=True)
        data = len(image).to_bytes(_LENGTH, "little") + packed
        try:
            self.root.disk.create_once(snapshot.name, data)
        except FileExistsError:
            # A node has written it, and ended before it knew.
            return
        except OSError as error:
            raise unwritable(self.root.uri_of(snapshot.name), error) from error

    def image(self, snapshot: Snapshot) -> bytes:
        """The catalogue in a snapshot; raises FileNotFoundError if it is no longer there."""
        data = self.root.fetch(snapshot.name)
        length = int.from_bytes(data[:_LENGTH], "little")
        try:
            return bytes(pa.decompress(data[_LENGTH:], length, codec=_CODEC, asbytes=True))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise EngineError(
                Problem(self.root.uri_of(snapshot.name), f"is damaged: {error}", "the object as it was")
            ) from error

    def prune(self, snapshot: Snapshot, kept: Collection[int]) -> None:
        """Delete what nobody needs who has a snapshot.

        `kept` are the first commits of all nodes that have opened the root. A node that another one has
        replaced tries to write just the first commit of that one, so the fence holds only while it is there.
        """
        listed = self.listed()
        old = [each.name for each in listed.snapshots if each != snapshot and each.number <= snapshot.number]
        old += [commit_name(n) for n in sorted(listed.commits) if n <= snapshot.number and n not in kept]
        for error in self.root.delete_all(old).values():
            raise error


def _unreadable(what: str, error: OSError) -> EngineError:
    return EngineError(Problem(what, f"cannot be read: {error}", "a root that can be read"))
