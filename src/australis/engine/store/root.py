"""The storage root: a directory, or a URI that pyarrow and Spark both reach, and the files below it."""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyarrow import fs

from australis.engine.store.disk import Data, Disk, LocalDisk, disk_at
from australis.engine.store.objects import StoreError, open_object
from australis.engine.store.uris import arrow_uri, is_s3, join_uri, refuse_keys, spark_uri
from australis.errors import EngineError, Problem

SEGMENTS, STATES, PLANS, HISTORY = "segments", "states", "plans", "history"
IDENTITY = "identity"
_NAME_BYTES_MOST, _HASH_DIGITS = 136, 16
"""Most systems allow 255 bytes in a file name; a token and a suffix follow the name of an arc."""
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
"""The modes of files and folders that only their user can access."""
Given = TypeVar("Given")
Made = TypeVar("Made")
_PATTERNS = re.compile(r"[\\*?\[\]{}]")


@dataclass(frozen=True)
class Root:
    """A place for files: names in it are relative, so that a root can be moved.

    >>> Root("file:///data/root").uri
    'file:///data/root'
    """

    uri: str

    @classmethod
    def of(cls, place: str | Path) -> Root:
        """The root at a path or URI."""
        text = str(place)
        return cls(refuse_keys(text) if "://" in text else Path(text).absolute().as_uri())

    @cached_property
    def disk(self) -> Disk:
        """Where its files are."""
        return disk_at(self.uri)

    @property
    def local(self) -> Path | None:
        """The directory, if the root is one on this machine."""
        return self.disk.directory if isinstance(self.disk, LocalDisk) else None

    def path(self, name: str) -> str:
        """The path of a file; the root must be on this machine."""
        assert isinstance(self.disk, LocalDisk)
        return self.disk.path(name)

    def uri_of(self, name: str) -> str:
        """The URI of a file."""
        return join_uri(self.uri, name)

    def spark_path(self, name: str) -> str:
        """A file as Spark names it: Spark decodes nothing, and takes some characters for patterns.

        Names with a scheme are those of adopted files.

        >>> Root("file:///my%20data").spark_path("segments/x.parquet")
        'file:///my data/segments/x.parquet'
        """
        place = spark_uri(name) if "://" in name else posixpath.join(spark_uri(self.uri), name)
        return _PATTERNS.sub(r"\\\g<0>", place)

    def prepare(self) -> None:
        """Make the folders, so that a root that cannot be written is refused here, not at the first train.

        A new folder of this machine is accessible to its user only.
        """
        try:
            if self.local is not None:
                self.local.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            for name in (SEGMENTS, STATES, PLANS, HISTORY):
                self.disk.make_folder(name)
            probe = self.new_name(PLANS, "probe", ".tmp")
            if self.disk.keeps_catalog:
                self._check_exclusive(probe)
            else:
                self.write(probe, b"")
            self.delete(probe)
        except OSError as error:
            raise unwritable(self.uri, error) from error

    def _check_exclusive(self, name: str) -> None:
        """Refuse a store that writes an object again though it must not: nothing would fence off others."""
        self.disk.create_once(name, b"")
        try:
            self.disk.create_once(name, b"")
        except FileExistsError:
            # So it should be.
            return
        what = "the store does not support conditional put (If-None-Match), which keeps two nodes apart"
        raise EngineError(Problem(self.uri, what, "a store that does, such as Amazon S3"))

    def identity(self) -> str:
        """The unique identity of this root; created when it is first asked for."""
        if not self.disk.exists(IDENTITY):
            # Under another name first: a partly written one would be taken for complete.
            name = self.new_name(PLANS, IDENTITY, ".tmp")
            self.write(name, self.disk.token().encode())
            with suppress(FileExistsError):
                # Another node may have made it meanwhile.
                self.claim(name, IDENTITY)
        with self.open(IDENTITY) as file:
            return str(file.read().decode())

    def known_identity(self) -> str | None:
        """The identity of this root, if it was created before."""
        return (self.identity() or None) if self.disk.exists(IDENTITY) else None

    def keep_identity(self) -> None:
        """Make the identity durable: a killed process may have left it before it was."""
        self.sync(IDENTITY)

    def new_name(self, kind: str, stem: str, suffix: str) -> str:
        """The name of a new file, never used before."""
        return f"{kind}/{short_name(stem)}-{self.disk.token()}{suffix}"

    def write(self, name: str, data: Data) -> None:
        """Write a new file that survives a power failure."""
        try:
            self.disk.create(name, data)
            self.disk.sync(name)
        except OSError as error:
            raise unwritable(name, error) from error

    def write_all(self, files: Mapping[str, Data]) -> None:
        """Write new files together: one after the other, each would wait for the disk separately."""
        self.each(lambda file: self.write(*file), files.items())

    def each(self, work: Callable[[Given], Made], given: Iterable[Given]) -> list[Made]:
        """Do something with each of some files, as many at a time as is best here; gives what came of it."""
        every = list(given)
        if min(len(every), self.disk.parallel) < 2:
            return [work(each) for each in every]
        with ThreadPoolExecutor(min(len(every), self.disk.parallel)) as workers:
            return [done.result() for done in [workers.submit(work, each) for each in every]]

    def fetch(self, name: str) -> bytes:
        """The whole contents of a file; raises OSError, and FileNotFoundError if there is none."""
        with self.disk.open(name) as file:
            return bytes(file.read())

    def open(self, name: str) -> pa.NativeFile:
        """Open a file for reading; names with a scheme are those of adopted files."""
        try:
            return _open_elsewhere(name) if "://" in name else self.disk.open(name)
        except (OSError, pa.ArrowException) as error:
            raise EngineError(
                Problem(name, f"cannot be read: {error}", f"the file as it was committed, below {self.uri}")
            ) from error

    def delete(self, name: str) -> None:
        """Delete a file, if it exists."""
        try:
            self.disk.delete(name)
        except FileNotFoundError:
            # It is gone, as it should be.
            return

    def delete_all(self, names: Iterable[str]) -> dict[str, OSError]:
        """Delete files, some of which may be gone; returns those that may still be there, and why."""
        return self.disk.delete_all(names)

    def move(self, name: str, target: str) -> None:
        """Rename a file atomically."""
        try:
            self.disk.move(name, target)
        except OSError as error:
            raise unwritable(target, error) from error

    def claim(self, name: str, target: str) -> None:
        """Give a file a name that no other has; raises FileExistsError if there is one."""
        try:
            self.disk.claim(name, target)
        except FileExistsError:
            raise
        except OSError as error:
            raise unwritable(target, error) from error

    def sync(self, name: str) -> None:
        """Make a file durable under its present name."""
        try:
            self.disk.sync(name)
        except OSError as error:
            raise unwritable(name, error) from error

    def exists(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return self.disk.exists(name)

    def size(self, name: str) -> int:
        """How many bytes a file has; 0 if it is gone."""
        try:
            return self.disk.size(name)
        except FileNotFoundError:
            # Somebody has deleted it since it was listed.
            return 0

    def delete_folder(self, name: str) -> None:
        """Delete a folder and its contents, if it exists."""
        try:
            self.disk.delete_folder(name)
        except FileNotFoundError:
            # It is gone, as it should be.
            return

    def names(self, kind: str) -> Iterator[str]:
        """All files of a kind."""
        return self.disk.names(kind)

    def sizes(self, kind: str) -> Mapping[str, int]:
        """All files of a kind, and how many bytes they have."""
        return self.disk.sizes(kind)


def short_name(name: str) -> str:
    """A name in a network as a part of a file name: if it is too long, a hash replaces its end.

    >>> short_name("average"), len(short_name("b" * 230))
    ('average', 137)
    """
    data = name.encode()
    if len(data) <= _NAME_BYTES_MOST:
        return name
    kept = data[: _NAME_BYTES_MOST - _HASH_DIGITS].decode(errors="ignore")
    return f"{kept}~{hashlib.sha256(data).hexdigest()[:_HASH_DIGITS]}"


def _open_elsewhere(uri: str) -> pa.NativeFile:
    if is_s3(uri):
        return open_object(arrow_uri(uri))
    filesystem, path = fs.FileSystem.from_uri(arrow_uri(uri))
    return filesystem.open_input_file(path)


def unwritable(what: str, error: OSError) -> EngineError:
    """The error for a file that cannot be written, with what to do about it."""
    if isinstance(error, StoreError):
        return EngineError(Problem(what, f"cannot be written: {error}"))
    advice = {
        errno.ENOSPC: "free space on the disk; all that was committed is safe",
        errno.EROFS: "a root that can be written",
        errno.EACCES: "a root that can be written",
        errno.EDQUOT: "more quota; all that was committed is safe",
    }
    reason = os.strerror(error.errno) if error.errno else str(error)
    return EngineError(Problem(what, f"cannot be written: {reason}", advice.get(error.errno or 0, "")))
