"""Standard output, pipes and devices as sinks: at least once, since written tuples cannot be taken back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.files import STANDARD_STREAM
from australis.engine.sinks.appended import trouble
from australis.engine.sinks.consuming import Outlet, TableSink
from australis.engine.sinks.text_file import Rendering
from australis.errors import EngineError, Problem


@dataclass(frozen=True)
class StreamSink:
    """Standard output, as JSON lines unless another format is given, or a pipe by its path.

    Each table is written at once. One that was not yet acknowledged when the node was killed is written again
    in the next run.
    """

    output: str
    schema: Schema
    path: str = STANDARD_STREAM
    format: str = "jsonl"

    @property
    def consumer(self) -> str:
        return f"stream:{self.path}"

    def check(self, position: str | None) -> None:
        """Refuse a device that cannot be written; a pipe is not opened, which would wait for its reader."""
        del position
        if self.path != STANDARD_STREAM and not os.access(self.path, os.W_OK):
            raise EngineError(Problem(self.path, "cannot be written: Permission denied"))

    def start(self, outlet: Outlet) -> RunningStream:
        return RunningStream(self, outlet)


class RunningStream(TableSink):
    """A stream that is being written."""

    def __init__(self, sink: StreamSink, outlet: Outlet) -> None:
        super().__init__(outlet, sink.output, sink.consumer)
        self._path = sink.path
        self._rendering = Rendering(sink.schema, sink.format)
        with trouble(self._path):
            self._stream = _open(sink.path)
        try:
            self._pass_on([self._rendering.header()])
        except BaseException:
            self.close()
            raise

    def _write(self, table: pa.Table) -> None:
        self._pass_on(self._rendering.chunks(table))

    def _pass_on(self, chunks: Iterable[bytes]) -> None:
        with trouble(self._path):
            for chunk in chunks:
                rest = memoryview(chunk)
                while rest:
                    rest = rest[self._stream.write(rest) :]
            self._stream.flush()

    def close(self) -> None:
        if self._path != STANDARD_STREAM:
            with trouble(self._path):
                self._stream.close()


def _open(path: str) -> IO[bytes]:
    return sys.stdout.buffer if path == STANDARD_STREAM else open(path, "wb", buffering=0)
