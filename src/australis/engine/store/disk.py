"""Disks: where the files of a root are, and when they are durable.

A disk knows nothing of tuples: it creates, syncs, opens, moves and deletes files by name. A directory of this
machine is one kind, an object store another; anything else that pyarrow reaches by a URI is a third. A
simulator registers its own.
"""

from __future__ import annotations

import errno
import os
import posixpath
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import pyarrow as pa
from pyarrow import fs

from australis.engine.store.objects import object_disk
from australis.engine.store.uris import arrow_uri, is_s3
from australis.errors import EngineError, Problem

Data: TypeAlias = "bytes | pa.Buffer | Iterable[bytes | pa.Buffer]"
"""What a file gets; parts are written one after the other, and may be made meanwhile."""


def parts_of(data: Data) -> Iterable[bytes | pa.Buffer]:
    """The parts of what a file gets."""
    return (data,) if isinstance(data, bytes | pa.Buffer) else data


class Disk(Protocol):
    """The files below one root. Names are relative to it, with slashes."""

    @property
    def parallel(self) -> int:
        """How many files are best written at a time."""

    @property
    def keeps_catalog(self) -> bool:
        """Whether every commit of the catalogue is copied here, by `create_once`."""

    def token(self) -> str:
        """A part of a name that no file has ever had."""

    def create(self, name: str, data: Data) -> None:
        """Write a new file, which a power failure may still remove or tear."""

    def create_once(self, name: str, data: Data) -> None:
        """Write a whole and durable file; raises FileExistsError if there is one of this name.

        After any other error it may exist, or come to exist later.
        """

    def sync(self, name: str) -> None:
        """Make a created file durable, including its name."""

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading."""

    def delete(self, name: str) -> None:
        """Delete a file; raises FileNotFoundError if there is none."""

    def delete_all(self, names: Iterable[str]) -> dict[str, OSError]:
        """Delete files, some of which may be gone; returns those that may still be there, and why."""

    def move(self, name: str, target: str) -> None:
        """Rename a file atomically."""

    def claim(self, name: str, target: str) -> None:
        """Give a file a name that no other has; raises FileExistsError if there is one."""

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""

    def size(self, name: str) -> int:
        """How many bytes a file has; raises FileNotFoundError if there is none."""

    def names(self, kind: str) -> Iterator[str]:
        """All files below a folder."""

    def sizes(self, kind: str) -> Mapping[str, int]:
        """All files below a folder, and how many bytes they have."""

    def delete_folder(self, name: str) -> None:
        """Delete a folder and its contents; raises FileNotFoundError if there is none."""

    def make_folder(self, name: str) -> None:
        """Make a folder, if it does not exist."""


class ArrowDisk:
    """A file system that pyarrow reaches. Files are durable when the call returns."""

    parallel = 16
    keeps_catalog = False

    def __init__(self, filesystem: fs.FileSystem, base: str) -> None:
        self._files, self._base = filesystem, base

    def path(self, name: str) -> str:
        """Where a file is in its file system."""
        return posixpath.join(self._base, name)

    def token(self) -> str:
        return uuid.uuid4().hex

    def create(self, name: str, data: Data) -> None:
        with self._files.open_output_stream(self.path(name)) as stream:
            for part in parts_of(data):
                stream.write(part)

    def create_once(self, name: str, data: Data) -> None:
        """Not exclusive: between the check and the write another process may take the name."""
        if self.exists(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        self.create(name, data)

    def sync(self, name: str) -> None:
        """Do nothing: a remote store has a file completely or not at all."""

    def open(self, name: str) -> pa.NativeFile:
        return self._files.open_input_file(self.path(name))

    def delete(self, name: str) -> None:
        self._files.delete_file(self.path(name))

    def delete_all(self, names: Iterable[str]) -> dict[str, OSError]:
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
        self.make_folder(posixpath.dirname(target))
        self._files.move(self.path(name), self.path(target))

    def claim(self, name: str, target: str) -> None:
        """Not exclusive: between the check and the move another process may take the name."""
        if self.exists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        self.move(name, target)

    def size(self, name: str) -> int:
        found = self._files.get_file_info(self.path(name))
        if found.type != fs.FileType.File:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return int(found.size)

    def exists(self, name: str) -> bool:
        return bool(self._files.get_file_info(self.path(name)).type == fs.FileType.File)

    def names(self, kind: str) -> Iterator[str]:
        yield from self.sizes(kind)

    def sizes(self, kind: str) -> Mapping[str, int]:
        place = self.path(kind)
        selector = fs.FileSelector(place, recursive=True, allow_not_found=True)
        return {
            posixpath.join(kind, posixpath.relpath(found.path, place)): int(found.size)
            for found in self._files.get_file_info(selector)
            if found.type == fs.FileType.File
        }

    def delete_folder(self, name: str) -> None:
        self._files.delete_dir(self.path(name))

    def make_folder(self, name: str) -> None:
        self._files.create_dir(self.path(name), recursive=True)


class LocalDisk(ArrowDisk):
    """A directory of this machine."""

    def create(self, name: str, data: Data) -> None:
        with open(self.path(name), "xb") as file:
            for part in parts_of(data):
                file.write(part)

    def sync(self, name: str) -> None:
        descriptor = os.open(self.path(name), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def open(self, name: str) -> pa.NativeFile:
        return pa.memory_map(self.path(name))

    def claim(self, name: str, target: str) -> None:
        try:
            os.link(self.path(name), self.path(target))
        except FileExistsError:
            raise
        except OSError:
            # Some file systems have no hard links.
            super().claim(name, target)
        else:
            os.unlink(self.path(name))

    @property
    def directory(self) -> Path:
        return Path(self._base)


_SCHEMES: dict[str, Callable[[str], Disk]] = {}


def register_disk(scheme: str, find: Callable[[str], Disk]) -> None:
    """Let URIs of a scheme name disks that pyarrow does not know; `find` gets the URI."""
    _SCHEMES[scheme] = find


def disk_at(uri: str) -> Disk:
    """The disk that a URI names."""
    scheme = uri.partition("://")[0]
    if scheme in _SCHEMES:
        return _SCHEMES[scheme](uri)
    if is_s3(uri):
        return _object_disk(uri)
    try:
        found, base = fs.FileSystem.from_uri(arrow_uri(uri))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise EngineError(Problem(uri, f"cannot be reached: {error}", "a directory or URI")) from error
    return LocalDisk(found, base) if isinstance(found, fs.LocalFileSystem) else ArrowDisk(found, base)


def _object_disk(uri: str) -> Disk:
    try:
        return object_disk(arrow_uri(uri))
    except ImportError as error:
        raise EngineError(Problem(uri, "needs the package obstore", "pip install 'australis[s3]'")) from error
