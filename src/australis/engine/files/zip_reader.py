"""Zip archives: the files within, one after the other in the order of their names."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from australis.engine.files.reader import Reader
from australis.engine.files.rows import Batch, Mark
from australis.errors import EngineError, Problem

_HIDDEN = (".", "_")
_ENCRYPTED = 1

OpenMember = Callable[[str, BinaryIO], Reader]
"""Opens a file of an archive, by the name that messages give it."""


class ZipReader(Reader):
    """All files of an archive, as those of a folder; names that begin with . or _ are left out.

    Messages name a file of an archive by a path, such as `quotes.zip/monday.csv`.
    """

    def __init__(self, path: str, open_member: OpenMember) -> None:
        self._path, self._open_member = path, open_member
        self._mark = Mark()
        self._packed_bytes_read = 0
        self._noted: dict[str, None] = {}
        with _trouble(path):
            self._archive = zipfile.ZipFile(path)
        try:
            self._members = self._wanted()
            self._open(self._members[0]).close()
        except BaseException:
            self.close()
            raise

    def _wanted(self) -> list[zipfile.ZipInfo]:
        found = [info for info in self._archive.infolist() if not info.is_dir() and _is_shown(info)]
        if not found:
            raise EngineError(Problem(self._path, "has no files in it", "files of tuples"))
        for info in found:
            if info.flag_bits & _ENCRYPTED:
                what = f"{info.filename} in it is encrypted"
                raise EngineError(Problem(self._path, what, "an archive without a password"))
        names = [info.filename for info in found]
        if len(set(names)) < len(names):
            raise EngineError(Problem(self._path, "has two files of one name", "each name once"))
        return sorted(found, key=lambda info: info.filename)

    def _open(self, member: zipfile.ZipInfo) -> Reader:
        name = f"{self._path}/{member.filename}"
        with _trouble(name):
            raw = cast(BinaryIO, self._archive.open(member))
        try:
            return self._open_member(name, raw)
        except BaseException:
            raw.close()
            raise

    def batches(self) -> Iterator[Batch]:
        start = self._mark
        for member in self._members:
            if member.filename >= start.member:
                yield from self._file(member, start if member.filename == start.member else None)
            self._packed_bytes_read += member.compress_size

    def _file(self, member: zipfile.ZipInfo, start: Mark | None) -> Iterator[Batch]:
        with self._open(member) as reader:
            if start is not None:
                reader.resume(start)
            for batch in reader.batches():
                self._mark = replace(reader.mark, member=member.filename)
                yield batch
            self._noted |= dict.fromkeys(note.partition(": ")[2] for note in reader.notes)
            self.notes = tuple(f"{self._path}: {note}" for note in self._noted)

    @property
    def mark(self) -> Mark:
        return self._mark

    def resume(self, mark: Mark) -> None:
        self._mark = mark

    def position(self) -> int:
        return self._packed_bytes_read

    @property
    def size(self) -> int | None:
        return sum(member.compress_size for member in self._members)

    def close(self) -> None:
        self._archive.close()


def _is_shown(info: zipfile.ZipInfo) -> bool:
    return not any(part.startswith(_HIDDEN) for part in PurePosixPath(info.filename).parts)


@contextmanager
def _trouble(path: str) -> Iterator[None]:
    """Report an archive that cannot be opened."""
    try:
        yield
    except FileNotFoundError:
        raise EngineError(Problem(path, "there is no such file")) from None
    except (zipfile.BadZipFile, EOFError) as error:
        raise EngineError(Problem(path, f"is a damaged zip file: {error}", "a whole one")) from None
    except NotImplementedError as error:
        what = f"is compressed in a way that cannot be read: {error}"
        raise EngineError(Problem(path, what, "a zip file with deflate")) from None
    except OSError as error:
        raise EngineError(Problem(path, f"cannot be read: {error.strerror or error}")) from None
