"""A catalogue of which every commit is copied to the root before it counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from australis.engine.crash_points import crash_point
from australis.engine.ledger.catalog import COMMITS, CatalogFile
from australis.engine.ledger.copies.copies import Copies, RootTaken, Snapshot
from australis.engine.ledger.copies.records import CommitRecord, Recorder
from australis.engine.ledger.copies.replay import TAKINGS, TOKEN, apply, catch_up
from australis.engine.ledger.schema import VERSION
from australis.engine.store import Home, this_process
from australis.engine.threads import SYSTEM, Threads

SNAPSHOT_EVERY = 1_000
"""After so many commits the whole catalogue is copied, and the copies of single commits are deleted."""
_SET = "insert or replace into meta values (?, ?)"


class CopiedCatalog(CatalogFile):
    """The catalogue of a root that keeps copies of it.

    A commit is first written to the root, on the condition that the root has none of its number, and then to
    the local disk. So what is on the disk is never ahead of the root. It need not be synced, and may be lost.
    """

    _synchronous = "normal"

    def __init__(self, home: Home, copies: Copies, place: str, threads: Threads = SYSTEM) -> None:
        super().__init__(home, threads)
        self._copies, self._place = copies, place
        self._pending: CommitRecord | None = None
        """A commit that is in the root, or may be or come to be there, but not on the disk."""
        self._has_taken = False
        """Whether this node has committed anything: then it has the root."""
        self._number = int(self.meta(COMMITS) or 0)
        self._snapshot_at = 0
        """The commit at which the last snapshot was tried."""

    def begin_copies(self) -> None:
        """Make sure that there is a snapshot of this version, not too old, before the first commit."""
        found = self._copies.listed().snapshot
        self._snapshot_at = 0 if found is None else found.number
        if found is None or found.version != VERSION or self.is_copy_due:
            self.write_copy()

    # --- commits

    @contextmanager
    def transaction(self) -> Iterator[Recorder]:
        """Changes that are copied to the root, and become visible atomically at the end."""
        with self._lock, self._explained():
            self._db.execute("begin immediate")
            try:
                recorder = Recorder(self._db)
                yield recorder
                self._copy(recorder)
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise
            self._note_commit(self._pending)

    def _copy(self, recorder: Recorder) -> None:
        """Write a commit to the root; the transaction may still fail, but the commit counts."""
        number, before = int(self.meta(COMMITS) or 0), self.meta(TOKEN) or ""
        token = self._copies.root.disk.token()
        recorder.execute(_SET, (TOKEN, token))
        if not self._has_taken:
            recorder.execute(_SET, (TAKINGS, json.dumps([*self._takings(), number])))
        self._pending = CommitRecord(number, token, before, this_process(), self._place, recorder.statements)
        crash_point("copy.putting")
        self._put(self._pending)
        crash_point("copy.put")

    def _put(self, record: CommitRecord) -> None:
        try:
            self._copies.put(record, is_first=not self._has_taken)
        except RootTaken:
            self._pending = None
            raise

    def _takings(self) -> list[int]:
        return list(json.loads(self.meta(TAKINGS) or "[]"))

    def settle(self) -> None:
        """Complete a commit that failed half-way: it may be in the root, so there is no way back."""
        with self._lock:
            if self._pending is None:
                return
            # What the disk has was in the root first, and a snapshot may already have replaced it there.
            if self.meta(TOKEN) != self._pending.token:
                self._put(self._pending)
                with self._explained():
                    apply(self._db, [self._pending])
            self._note_commit(self._pending)

    def _note_commit(self, record: CommitRecord | None) -> None:
        assert record is not None
        self._pending, self._has_taken, self._number = None, True, record.number

    def catch_up(self) -> int:
        """Read what another node has committed meanwhile; returns the number of the last commit."""
        with self._lock, self._explained():
            self._number = catch_up(self._db, self._copies)
            return self._number

    # --- snapshots

    @property
    def is_copy_due(self) -> bool:
        return self._number - self._snapshot_at >= SNAPSHOT_EVERY

    def write_copy(self) -> None:
        """Write a snapshot, as of one moment, and delete the copies of commits that it makes superfluous."""
        with self.reader() as reader:
            reader.begin()
            number = self._snapshot_at = int(reader.meta(COMMITS) or 0)
            takings = json.loads(reader.meta(TAKINGS) or "[]")
            image = reader.image()
        snapshot = Snapshot(number, VERSION)
        self._copies.write_snapshot(snapshot, image)
        crash_point("copy.snapshot")
        self._copies.prune(snapshot, takings)
        crash_point("copy.pruned")
