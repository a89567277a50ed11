"""The storage root: a directory, or a URI that pyarrow and Spark both reach, and the files below it."""

from __future__ import annotations

import errno
import os
import posixpath
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from australis.errors import EngineError, Problem

SEGMENTS, STATES, PLANS, HISTORY = "segments", "states", "plans", "history"
_IDENTITY = "identity"
WRITERS_MOST = 16
"""How many files are written at a time."""


@dataclass(frozen=True)
class Root:
    """A place for files: names below it are relative, so that a root can be moved.

    >>> Root("file:///data/root").uri
    'file:///data/root'
    """

    uri: str

    @classmethod
    def of(cls, place: str | Path) -> Root:
        """The root at a path or URI."""
        text = str(place)
        return cls(text if "://" in text else Path(text).absolute().as_uri())

    @cached_property
    def _found(self) -> tuple[fs.FileSystem, str]:
        try:
            found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(self.uri)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise EngineError(
                Problem(self.uri, f"cannot be reached: {error}", "a directory or URI")
            ) from error
        return found

    @property
    def filesystem(self) -> fs.FileSystem:
        return self._found[0]

    @property
    def local(self) -> Path | None:
        """The directory, if the root is one on this machine."""
        return Path(self._found[1]) if isinstance(self.filesystem, fs.LocalFileSystem) else None

    def path(self, name: str) -> str:
        """The path of a file in the root's file system."""
        return posixpath.join(self._found[1], name)

    def uri_of(self, name: str) -> str:
        """The URI of a file, as Spark reads it."""
        return posixpath.join(self.uri, name)

    def prepare(self) -> None:
        """Make the directories; a root that cannot be written is found here, not at the first train."""
        try:
            for name in (SEGMENTS, STATES, PLANS, HISTORY):
                self.filesystem.create_dir(self.path(name), recursive=True)
            probe = self.new_name(PLANS, "probe", ".tmp")
            self.write(probe, b"")
            self.delete(probe)
        except OSError as error:
            raise unwritable(self.uri, error) from error

    def identity(self) -> str:
        """What tells this root from others; made when it is first asked for."""
        try:
            with self.filesystem.open_input_file(self.path(_IDENTITY)) as file:
                return str(file.read().decode())
        except FileNotFoundError:
            self.write(_IDENTITY, uuid.uuid4().hex.encode())
            return self.identity()

    def new_name(self, kind: str, stem: str, suffix: str) -> str:
        """The name of a file that was never there before."""
        return f"{kind}/{stem}-{uuid.uuid4().hex}{suffix}"

    def write(self, name: str, data: bytes | pa.Buffer) -> None:
        """Write a new file so that it is still there after a loss of power."""
        try:
            if self.local is not None:
                _write_through(self.path(name), data)
                return
            with self.filesystem.open_output_stream(self.path(name)) as stream:
                stream.write(data)
        except OSError as error:
            raise unwritable(name, error) from error

    def write_all(self, files: Mapping[str, bytes | pa.Buffer]) -> None:
        """Write new files together: one after the other, each would wait for the disk by itself."""
        if len(files) < 2:
            for name, data in files.items():
                self.write(name, data)
            return
        with ThreadPoolExecutor(min(len(files), WRITERS_MOST)) as writers:
            for written in [writers.submit(self.write, *file) for file in files.items()]:
                written.result()

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading; names with a scheme are those of adopted files."""
        try:
            if "://" in name:
                filesystem, path = fs.FileSystem.from_uri(name)
                return filesystem.open_input_file(path)
            if self.local is not None:
                return pa.memory_map(self.path(name))
            return self.filesystem.open_input_file(self.path(name))
        except (OSError, pa.ArrowException) as error:
            raise EngineError(
                Problem(name, f"cannot be read: {error}", f"the file as it was committed, below {self.uri}")
            ) from error

    def delete(self, name: str) -> None:
        """Delete a file; one that is gone already is no matter."""
        try:
            self.filesystem.delete_file(self.path(name))
        except FileNotFoundError:
            return

    def move(self, name: str, target: str) -> None:
        """Give a file another name, under which it appears whole."""
        try:
            self.filesystem.create_dir(posixpath.dirname(self.path(target)), recursive=True)
            self.filesystem.move(self.path(name), self.path(target))
        except OSError as error:
            raise unwritable(target, error) from error

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return bool(self.filesystem.get_file_info(self.path(name)).type == fs.FileType.File)

    def names(self, kind: str) -> Iterator[str]:
        """All files of a kind."""
        place = self.path(kind)
        selector = fs.FileSelector(place, recursive=True, allow_not_found=True)
        for found in self.filesystem.get_file_info(selector):
            if found.type == fs.FileType.File:
                yield posixpath.join(kind, posixpath.relpath(found.path, place))


def catalog_folder(root: Root, catalog: str | Path | None) -> Path:
    """Where the catalogue of a root is."""
    directory = root.local if catalog is None else Path(catalog)
    if directory is None:
        expected = "catalog=DIRECTORY on a local disk, since SQLite needs one"
        raise EngineError(Problem(root.uri, "cannot hold the catalogue", expected))
    return directory


def unwritable(what: str, error: OSError) -> EngineError:
    """The error of a file that cannot be written, with what to do about it."""
    advice = {
        errno.ENOSPC: "free space on the disk; all that was committed is safe",
        errno.EROFS: "a root that can be written",
        errno.EACCES: "a root that can be written",
        errno.EDQUOT: "more quota; all that was committed is safe",
    }
    reason = os.strerror(error.errno) if error.errno else str(error)
    return EngineError(Problem(what, f"cannot be written: {reason}", advice.get(error.errno or 0, "")))


def _write_through(path: str, data: bytes | pa.Buffer) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
