"""A root in an object store: one request to write or read a file, one to delete a thousand."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.engine.store.objects.failures import explained

if TYPE_CHECKING:
    from obstore.store import ObjectStore

    from australis.engine.store.disk import Data

_WHOLE_MOST = 8 << 20
"""Objects up to this size are read by one request, larger ones in ranges of at most this size, several at a
time."""


class ObjectDisk:
    """A root in an object store. An object is durable when the call returns, and is never seen in part."""

    parallel = 16
    keeps_catalog = True

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def token(self) -> str:
        return uuid.uuid4().hex

    def create(self, name: str, data: Data) -> None:
        with explained():
            library().put(self._store, name, _view(data))

    def create_once(self, name: str, data: Data) -> None:
        """Write an object unless there is one of its name: a conditional put."""
        with explained():
            library().put(self._store, name, _view(data), mode="create", use_multipart=False)

    def sync(self, name: str) -> None:
        """Do nothing: an object is durable."""

    def open(self, name: str) -> pa.NativeFile:
        with explained():
            found = library().get(self._store, name)
            size = found.meta["size"]
            if size <= _WHOLE_MOST:
                return pa.BufferReader(pa.py_buffer(found.bytes()))
        return pa.PythonFile(_Ranges(self._store, name, size), mode="r")

    def delete(self, name: str) -> None:
        """Delete an object; that there is none is not reported."""
        with explained():
            library().delete(self._store, name)

    def delete_all(self, names: Iterable[str]) -> dict[str, OSError]:
        """Delete objects, a thousand by a request; if one fails, all may still be there."""
        gone = list(names)
        try:
            with explained():
                library().delete(self._store, gone)
        except OSError as error:
            return dict.fromkeys(gone, error)
        return {}

    def move(self, name: str, target: str) -> None:
        """Copy an object, then delete it: in between, both are there."""
        with explained():
            library().rename(self._store, name, target)

    def claim(self, name: str, target: str) -> None:
        with self.open(name) as file:
            self.create_once(target, file.read())
        self.delete(name)

    def exists(self, name: str) -> bool:
        try:
            self.size(name)
        except FileNotFoundError:
            # That is the answer.
            return False
        return True

    def size(self, name: str) -> int:
        with explained():
            return int(library().head(self._store, name)["size"])

    def sizes(self, kind: str) -> Mapping[str, int]:
        with explained():
            found = library().list(self._store, prefix=kind)
            return {each["path"]: each["size"] for page in found for each in page}

    def names(self, kind: str) -> Iterator[str]:
        return iter(self.sizes(kind))

    def delete_folder(self, name: str) -> None:
        for error in self.delete_all(self.names(name)).values():
            raise error

    def make_folder(self, name: str) -> None:
        """Do nothing: a name of an object may have slashes, but there are no folders."""


def _view(data: Data) -> memoryview:
    """The bytes of a file as the library takes them; not copied, unless they come in parts."""
    whole = data if isinstance(data, bytes | pa.Buffer) else b"".join([*data])
    return memoryview(whole).cast("B")


class _Ranges(io.RawIOBase):
    """An object as a file of which parts are read."""

    def __init__(self, store: ObjectStore, name: str, size: int) -> None:
        self._store, self._name, self._size, self._at = store, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = base + offset
        return self._at

    def read(self, size: int | None = -1, /) -> bytes:
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        starts = list(range(self._at, end, _WHOLE_MOST))
        if not starts:
            return b""
        with explained():
            ends = [min(start + _WHOLE_MOST, end) for start in starts]
            parts = library().get_ranges(self._store, self._name, starts=starts, ends=ends)
        self._at = end
        return b"".join(map(bytes, parts))


def library() -> Any:
    """The library, which is loaded when a root is in an object store."""
    import obstore  # noqa: PLC0415

    return obstore
