"""One subscription: the tables of an output, for the only current reader under a consumer's name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.errors import EngineError, Problem

Reader = tuple[str, str, int]
"""The name of a consumer, the output that it reads, and the generation of that output."""


class Readers:
    """The current readers: one under each name, since two would take tuples away from each other."""

    def __init__(self) -> None:
        self._reading: dict[Reader, object] = {}

    def claim(self, reader: Reader, owner: object, path: str) -> None:
        """Let a subscription read under a name, unless another one does."""
        # Any thread may claim or release, even the garbage collector: no lock, but one atomic step.
        if self._reading.setdefault(reader, owner) is not owner:
            what = f"is being read by another subscriber under the name {reader[0]!r}"
            expected = "a name of its own for each: consumer=...; or the end of the other one: close()"
            raise EngineError(Problem(path, what, expected))

    def release(self, reader: Reader, owner: object) -> None:
        """Free a name, if this subscription had it."""
        if self._reading.get(reader) is owner:
            del self._reading[reader]


@dataclass
class Ending:
    """Whether a subscription is asked to end; separate, so that it keeps no unused subscription alive."""

    is_asked: bool = False


class Subscription(Iterator[pa.Table]):
    """The tables of an output. Its name is free again when it ends, is closed, or is garbage collected."""

    def __init__(
        self,
        claimed: tuple[Readers, Reader, str],
        begin: Callable[[Ending], Generator[pa.Table, None, None]],
        wake: Callable[[], None],
    ) -> None:
        """Claim a name and begin; `wake` wakes the subscription where it waits, once it is asked to end."""
        self._readers, self._reader, path = claimed
        self._ending, self._wake = Ending(), wake
        self._readers.claim(self._reader, self._ending, path)
        try:
            self._tables = begin(self._ending)
        except BaseException:
            self._release()
            raise

    def __next__(self) -> pa.Table:
        """The next table; asking for it acknowledges the one before."""
        try:
            return next(self._tables)
        except BaseException:
            self._release()
            raise

    def end(self) -> None:
        """Wait for nothing more: the next request acknowledges the last table, and gets none."""
        self._ending.is_asked = True
        self._wake()

    def close(self) -> None:
        """End now; the last table is delivered again, unless the next one was asked for."""
        try:
            self._tables.close()
        except ValueError:
            # The generator is running: another thread waits for a table, and will be told that there is none.
            self.end()
        else:
            self._release()

    def _release(self) -> None:
        self._readers.release(self._reader, self._ending)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._release()
