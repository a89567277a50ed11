"""The virtual home of a catalogue: an in-memory SQLite database that survives lives, and its lock."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable

from australis.sim.machine.connection import FULL, Rows, VirtualConnection
from australis.sim.machine.disk import VirtualDisk
from australis.sim.machine.lives import Awaited, Life
from australis.sim.machine.machine import Machine

Statement = Callable[[sqlite3.Connection], sqlite3.Cursor]


class HeldLock:
    """The lock of a root, which a life holds until it is closed or the life is over."""

    def __init__(self, machine: Machine) -> None:
        self._machine, self._is_closed = machine, False
        self._life = machine.scheduler.check().life

    @property
    def is_held(self) -> bool:
        """Whether others cannot take it."""
        return not (self._is_closed or self._life.is_over)

    def close(self) -> None:
        """Release it, once."""
        self._machine.scheduler.check(self._life)
        self._is_closed = True


class VirtualHome:
    """Where the catalogue of a root is kept.

    With `pragma synchronous` FULL or EXTRA a commit is durable when it returns. With less, a power loss may
    restore an older committed state, but never a damaged one. With a `disk`, the catalogue is in its file
    system: a durable commit makes earlier deletes and moves durable too.

    With the chance `doubt`, a commit whose sync fails behaves as in SQLite's WAL mode: it seems undone to all
    readers, but it is in the log. The next life finds it done, after a power loss or a kill, unless another
    commit has overwritten it or its connection was closed.
    """

    def __init__(self, machine: Machine, disk: VirtualDisk | None = None) -> None:
        self.machine = machine
        self.writer: VirtualConnection | None = None
        """The connection with the open transaction."""
        self._disk = disk
        self._random = machine.faults.random
        self._db = _memory()
        self._changes = 0
        """The number of row changes at the last end of a transaction."""
        self._turn = Awaited(machine.scheduler.harness, "the catalogue")
        self._older: bytes | None = None
        """An older state that a power loss may restore; without one, the current state is durable."""
        self._in_doubt: tuple[VirtualConnection, bytes] | None = None
        """A connection whose commit failed and seems undone, and the state that the next life may find."""
        self._is_made = False
        self._lock: HeldLock | None = None
        machine.scheduler.on_life_end.append(self._hear)

    def __del__(self) -> None:
        self._db.close()

    # --- what code in a life does

    def connect(self) -> VirtualConnection:
        """A connection for the life of the current thread."""
        self.machine.pause("connect")
        if self.writer is None:
            self._db.execute("pragma synchronous = full")
        return VirtualConnection(self, self.machine.scheduler.check().life)

    def lock(self) -> HeldLock:
        """Lock the root for the life of the current thread."""
        self.machine.pause("lock root")
        if self._lock is not None and self._lock.is_held:
            raise BlockingIOError(errno.EWOULDBLOCK, os.strerror(errno.EWOULDBLOCK))
        self._lock = HeldLock(self.machine)
        return self._lock

    def has_catalog(self) -> bool:
        """Whether there is a database, even without tables."""
        self.machine.pause("has_catalog")
        return self._is_made

    def lacks_journal(self, epoch: int) -> bool:
        """Nothing is missing: what is committed is in one piece."""
        return False

    def replace(self, image: bytes) -> None:
        """Put another database in the place of this one, at once and durably."""
        self.machine.pause("replace catalogue")
        self._restore(image)
        self._is_made, self._older, self._in_doubt = True, None, None

    def lose(self) -> None:
        """Lose everything, between two lives: the disk of the machine is gone."""
        self._restore(b"")
        self._is_made, self._older, self._in_doubt = False, None, None

    # --- for connections

    def wait_turn(self, connection: VirtualConnection) -> None:
        """Wait until no other connection has a transaction open."""
        while self.writer is not None and self.writer is not connection:
            self.machine.scheduler.block(self._turn)

    def run(self, connection: VirtualConnection, statement: Statement) -> Rows:
        """Run a statement for a connection; outside of a transaction, its changes are committed."""
        self._is_made = True
        if connection.synchronous < FULL and self._older is None and self.writer is None:
            self._older = self.image()
        changes = self._db.total_changes
        try:
            return Rows(statement(self._db))
        finally:
            self._set_writer(connection if self._db.in_transaction else None)
            if self.writer is None and self._db.total_changes != changes:
                self.note_commit(connection)

    def commit(self, connection: VirtualConnection) -> Rows:
        """Commit the transaction of a connection; one that changed nothing makes nothing durable."""
        rows = self.run(connection, lambda db: db.execute("commit"))
        if self._db.total_changes != self._changes:
            self.note_commit(connection)
        return rows

    def rollback(self, connection: VirtualConnection) -> Rows:
        """Roll back the transaction of a connection."""
        rows = self.run(connection, lambda db: db.execute("rollback"))
        self._changes = self._db.total_changes
        return rows

    def note_commit(self, connection: VirtualConnection) -> None:
        """Note that something was committed."""
        self._changes, self._in_doubt = self._db.total_changes, None
        is_durable = connection.synchronous >= FULL
        if is_durable and self._disk is not None:
            self._disk.settle()
        # Unsynced data reaches the disk sooner or later.
        if is_durable or self.chance(0.1):
            self._older = None

    def leave_in_doubt(self, connection: VirtualConnection) -> None:
        """Undo a transaction so that the next life may still find it done."""
        after = self._db.serialize()
        self.rollback(connection)
        self._in_doubt = connection, after

    def close(self, connection: VirtualConnection) -> None:
        """Note that a connection was closed properly, which discards a commit in doubt."""
        if self._in_doubt is not None and self._in_doubt[0] is connection:
            self._in_doubt = None

    def synchronous(self) -> int:
        """The last level of `pragma synchronous`."""
        (level,) = self._db.execute("pragma synchronous").fetchone()
        return int(level)

    def chance(self, chance: float) -> bool:
        """Whether an event of this chance happens."""
        return self._random.random() < chance

    # --- the effects of a power loss

    def _hear(self, life: Life, power: bool) -> None:
        if self.writer is not None and (power or self.writer.life is life):
            self._db.execute("rollback")
            self._changes = self._db.total_changes
            self._set_writer(None)
        if self._in_doubt is not None and (power or self._in_doubt[0].life is life):
            self._decide(self._in_doubt[1], chance=0.5 if power else 1.0)
        if power:
            self._lose_power()

    def _decide(self, after: bytes, chance: float) -> None:
        """Let a commit in doubt take effect, perhaps."""
        self._in_doubt = None
        if self.chance(chance):
            self._restore(after)

    def _lose_power(self) -> None:
        if self._older is not None and self.chance(0.5):
            self._restore(self._older)
        self._older = None
        if self._is_made and not self._page_count():
            self._is_made = self.chance(0.5)

    def _set_writer(self, connection: VirtualConnection | None) -> None:
        self.writer = connection
        if connection is None:
            self.machine.scheduler.wake_all(self._turn)

    def image(self) -> bytes:
        """The whole database; empty while it has no page."""
        return self._db.serialize() if self._page_count() else b""

    def _page_count(self) -> int:
        (pages,) = self._db.execute("pragma page_count").fetchone()
        return int(pages)

    def _restore(self, image: bytes) -> None:
        self._db.close()
        self._db, self._changes = _memory(), 0
        if image:
            self._db.deserialize(image)


def _memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
