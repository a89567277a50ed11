"""The virtual disk: files in memory that survive lives; a power loss loses what was not synced."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa

from australis.sim.machine.lives import Life
from australis.sim.machine.machine import Machine


@dataclass(eq=False)
class _File:
    data: bytes
    is_durable: bool = False
    is_doomed: bool = False
    """Whether a failed sync dropped data, so that a later one has no effect."""


@dataclass(frozen=True)
class _Change:
    """A delete, or a move to a target, that a power loss may undo."""

    file: _File
    name: str
    target: str | None = None
    replaced: _File | None = None


class VirtualDisk:
    """The files of one storage root, as a journalling file system such as ext4 keeps them.

    Guaranteed: a synced file survives a power loss whole, under its name. A sync also makes all earlier
    deletes and moves durable, since the journal is written in order. A move is atomic. A folder is durable at
    once. Every change is visible to all threads at once.

    Not guaranteed: a file that was not synced is lost, truncated, padded with zeros, or, rarely, whole. Each
    delete or move since the last sync may be undone on its own. After a failed create, part of the file may
    exist; after a failed sync, a second one may succeed and still save nothing. A failed delete or move has
    no effect. A killed process loses nothing, but what it did not sync is still at risk.

    With `keeps_catalog`, it also has the conditional put of an object store: durable at once, but after a
    failure the file exists, does not, or comes to exist later, unless its name was taken meanwhile.
    """

    parallel = 1
    keeps_catalog = False

    def __init__(self, machine: Machine) -> None:
        self.bytes_written = 0
        self._machine = machine
        self._random = machine.faults.random
        self._files: dict[str, _File] = {}
        self._folders: dict[str, None] = {"": None}
        self._changes: list[_Change] = []
        self._tokens = 0
        self._late: dict[str, _File] = {}
        """Conditional puts that nobody waits for any more, and that may still arrive."""
        machine.scheduler.on_life_end.append(self._hear)

    # --- what code in a life does

    def token(self) -> str:
        """A part of a file name that was never used before."""
        self._machine.scheduler.check()
        self._tokens += 1
        return f"{self._tokens:06d}"

    def create(self, name: str, data: bytes | pa.Buffer | Iterable[bytes | pa.Buffer]) -> None:
        """Write a new file, which is volatile until it is synced."""
        self._machine.pause(f"create {name}")
        if name in self._files:
            raise _error(errno.EEXIST, name)
        if posixpath.dirname(name) not in self._folders:
            raise _error(errno.ENOENT, name)
        whole = b"".join([data] if isinstance(data, bytes | pa.Buffer) else [*data])
        if self._machine.fails("create"):
            self._fail_create(name, whole)
        self._files[name] = _File(whole)
        self.bytes_written += len(whole)

    def create_once(self, name: str, data: bytes | pa.Buffer) -> None:
        """Write a durable file, unless there is one of this name."""
        self._machine.pause(f"create_once {name}")
        file = _File(data if isinstance(data, bytes) else data.to_pybytes(), is_durable=True)
        self._arrive()
        if self._machine.fails("create"):
            self._fail_create_once(name, file)
        if name in self._files:
            raise _error(errno.EEXIST, name)
        self._files[name] = file
        self._machine.pause(f"created_once {name}")

    def _fail_create_once(self, name: str, file: _File) -> NoReturn:
        """Fail without effect, with an effect later, or although the file is there."""
        outcome = self._random.random()
        if outcome < 0.3:
            self._late[name] = file
        elif outcome < 0.7:
            self._files.setdefault(name, file)
        raise _error(errno.EIO, name)

    def _arrive(self) -> None:
        """Let late files arrive, perhaps: one whose name was taken has no effect."""
        late, self._late = self._late, {}
        for name, file in late.items():
            if self._random.random() < 0.5:
                self._files.setdefault(name, file)
            else:
                self._late[name] = file

    def sync(self, name: str) -> None:
        """Make a file and its name durable, and all earlier deletes and moves."""
        self._machine.pause(f"sync {name}")
        file = self._find(name)
        if self._machine.fails("sync"):
            file.is_doomed = file.is_doomed or (not file.is_durable and self._random.random() < 0.5)
            raise _error(self._random.choice((errno.EIO, errno.ENOSPC)), name)
        file.is_durable = not file.is_doomed
        self.settle()

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading."""
        self._machine.pause(f"open {name}")
        file = self._find(name)
        if self._machine.fails("open"):
            raise _error(errno.EIO, name)
        return pa.BufferReader(file.data)

    def delete(self, name: str) -> None:
        """Delete a file."""
        self._machine.pause(f"delete {name}")
        file = self._find(name)
        if self._machine.fails("delete"):
            raise _error(errno.EIO, name)
        self._changes.append(_Change(file, name))
        del self._files[name]

    def delete_all(self, names: Iterable[str]) -> dict[str, OSError]:
        """Delete files one after the other; returns those that are still there, and why."""
        failures: dict[str, OSError] = {}
        for name in names:
            try:
                self.delete(name)
            except FileNotFoundError:
                # It is gone, as it should be.
                continue
            except OSError as error:
                failures[name] = error
        return failures

    def move(self, name: str, target: str) -> None:
        """Rename a file, replacing the file that has the new name."""
        self._machine.pause(f"move {name} {target}")
        file = self._find(name)
        if self._machine.fails("move"):
            raise _error(self._random.choice((errno.EIO, errno.ENOSPC)), target)
        self._add_folder(posixpath.dirname(target))
        self._changes.append(_Change(file, name, target, self._files.get(target)))
        del self._files[name]
        self._files[target] = file

    def claim(self, name: str, target: str) -> None:
        """Give a file a name that no other has."""
        self._machine.pause(f"claim {name} {target}")
        if target in self._files:
            raise _error(errno.EEXIST, target)
        self.move(name, target)

    def size(self, name: str) -> int:
        """How many bytes a file has."""
        self._machine.pause(f"size {name}")
        return len(self._find(name).data)

    def exists(self, name: str) -> bool:
        """Whether a file of this name exists."""
        self._machine.pause(f"exists {name}")
        return name in self._files

    def names(self, kind: str) -> list[str]:
        """All files below a folder, sorted."""
        self._machine.pause(f"names {kind}")
        below = f"{kind}/" if kind else ""
        return sorted(name for name in self._files if name.startswith(below))

    def sizes(self, kind: str) -> dict[str, int]:
        """All files below a folder, and how many bytes they have."""
        return {name: len(self._files[name].data) for name in self.names(kind)}

    def delete_folder(self, name: str) -> None:
        """Delete all files below a folder, one after the other."""
        for each in self.names(name):
            self.delete(each)

    def make_folder(self, name: str) -> None:
        """Make a folder and its parents, if they do not exist."""
        self._machine.pause(f"make_folder {name}")
        self._add_folder(name)

    # --- what the harness does

    def settle(self) -> None:
        """Make all deletes and moves so far durable, as the sync of any file does."""
        self._changes.clear()

    def contents(self) -> dict[str, bytes]:
        """The contents of all files, by name; not a switch point, and possible after the run."""
        return {name: self._files[name].data for name in sorted(self._files)}

    # --- what fails

    def _fail_create(self, name: str, data: bytes) -> NoReturn:
        if self._random.random() < 0.5:
            self._files[name] = _File(data[: self._random.randrange(len(data) + 1)])
        raise _error(self._random.choice((errno.EIO, errno.ENOSPC)), name)

    def _hear(self, life: Life, power: bool) -> None:
        if self._late:
            self._arrive()
        if power:
            self._lose_power()

    def _lose_power(self) -> None:
        for change in reversed(self._changes):
            if self._random.random() < 0.5:
                self._undo(change)
        self._changes.clear()
        for name, file in list(self._files.items()):
            if not file.is_durable:
                self._tear(name, file)

    def _undo(self, change: _Change) -> None:
        """Undo a change, unless a later one that stays depends on it."""
        if change.name in self._files:
            return
        if change.target is not None:
            if self._files.get(change.target) is not change.file:
                return
            del self._files[change.target]
            if change.replaced is not None:
                self._files[change.target] = change.replaced
        self._files[change.name] = change.file

    def _tear(self, name: str, file: _File) -> None:
        """Decide what is left of a file that was not synced."""
        outcome, length = self._random.random(), self._random.randrange(len(file.data) + 1)
        if outcome < 0.5:
            del self._files[name]
        elif outcome < 0.7:
            self._files[name] = _File(file.data[:length], is_durable=True)
        elif outcome < 0.9:
            self._files[name] = _File(file.data[:length].ljust(len(file.data), b"\0"), is_durable=True)
        else:
            self._files[name] = _File(file.data, is_durable=True)

    # --- small parts

    def _find(self, name: str) -> _File:
        file = self._files.get(name)
        if file is None:
            raise _error(errno.ENOENT, name)
        return file

    def _add_folder(self, name: str) -> None:
        while name not in self._folders:
            self._folders[name] = None
            name = posixpath.dirname(name)


def _error(number: int, name: str) -> OSError:
    return OSError(number, os.strerror(number), name)
