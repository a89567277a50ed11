"""One subscription: the tables of an output, for the only reader that has the consumer's name at the time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import pyarrow as pa

from australis.errors import EngineError, Problem

Reader = tuple[str, str, int]
"""The name of a consumer, the output that it reads, and which life of that output."""


class Readers:
    """Who reads at the moment: one under each name, for two would take tuples away from each other."""

    def __init__(self) -> None:
        self._reading: dict[Reader, object] = {}

    def claim(self, reader: Reader, owner: object, path: str) -> None:
        """Let one read under a name, unless another one does."""
        # Who claims and who releases may be any thread, also the collector of garbage: no lock, but one step.
        if self._reading.setdefault(reader, owner) is not owner:
            what = f"is being read by another subscriber under the name {reader[0]!r}"
            expected = "a name of its own for each: consumer=...; or the end of the other one: close()"
            raise EngineError(Problem(path, what, expected))

    def release(self, reader: Reader, owner: object) -> None:
        """Let another one read under the name, if this one did."""
        if self._reading.get(reader) is owner:
            del self._reading[reader]


@dataclass
class Ending:
    """Whether a subscription is asked to end; apart from it, so that nothing holds one that nobody has."""

    is_asked: bool = False


class Subscription(Iterator[pa.Table]):
    """The tables of an output. Its name is free again when it ends, is closed, or nobody has it any more."""

    def __init__(
        self,
        claimed: tuple[Readers, Reader, str],
        begin: Callable[[Ending], Generator[pa.Table, None, None]],
        wake: Callable[[], None],
    ) -> None:
        """Claim a name and begin; what begins is asked to end, and `wake` wakes it where it waits."""
        self._readers, self._reader, path = claimed
        self._ending, self._wake = Ending(), wake
        self._readers.claim(self._reader, self._ending, path)
        try:
            self._tables = begin(self._ending)
        except BaseException:
            self._release()
            raise

    def __next__(self) -> pa.Table:
        """The next table; the one before is acknowledged by that."""
        try:
            return next(self._tables)
        except BaseException:
            self._release()
            raise

    def end(self) -> None:
        """Wait for nothing more: whoever asks for the next table acknowledges the last one, and gets none."""
        self._ending.is_asked = True
        self._wake()

    def close(self) -> None:
        """End now; the last table, if no other was asked for, comes again."""
        try:
            self._tables.close()
        except ValueError:
            # The generator runs: another thread waits for a table, and will be told that there is none.
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
