"""Any source that ends as a reader: for runs without a node, and for looking at the first rows."""

from __future__ import annotations

from collections.abc import Iterator

from australis.algebra.schema import Schema
from australis.engine.files import Batch, Mark, Reader, open_reader
from australis.engine.sources.delivery import Adoption, Delivery, Source
from australis.engine.sources.files import FileSource
from australis.engine.sources.generator import GeneratorSource
from australis.engine.sources.opening import parse_source
from australis.engine.sources.options import Options
from australis.engine.sources.ticks import TickSource
from australis.engine.sources.waiting import SignalWaiter
from australis.errors import EngineError, Problem


def open_source(input: str, text: str, schema: Schema, options: Options) -> Reader:
    """A reader of what a text names: a file, a folder, `-`, or a generator that ends."""
    source = parse_source(input, text, schema, options)
    if isinstance(source, FileSource):
        return open_reader(
            text,
            schema,
            timezone=options.timezone,
            stream_format=options.stream_format,
            format=options.format,
        )
    check_ends(source, text)
    return SourceReader(source, schema, options)


def check_ends(source: Source, text: str) -> None:
    """Refuse what only a node can read: a source without an end, or one that waits."""
    if source.is_endless:
        can_end = isinstance(source, GeneratorSource | TickSource)
        raise EngineError(
            Problem(text, "has no end, which only a node can run", "tuples=N in it" if can_end else "a file")
        )
    if isinstance(source, GeneratorSource) and source.options.replay is not None:
        raise EngineError(Problem(text, "has a rate, which only a node keeps", "step=... for its times"))


class SourceReader(Reader):
    """A folder or a generator, read from its beginning to its end."""

    def __init__(self, source: Source, schema: Schema, options: Options) -> None:
        self._schema, self._options = schema, options
        self._waiter = SignalWaiter()
        self._running = source.start(lambda id: None, self._waiter)

    def batches(self) -> Iterator[Batch]:
        for delivery in self._running.deliveries():
            self.notes = self._running.notes
            yield from self._content(delivery)
        self.notes = self._running.notes

    def _content(self, delivery: Delivery) -> Iterator[Batch]:
        if not isinstance(delivery.content, Adoption):
            yield Batch(delivery.content, delivery.rejected)
            return
        with open_reader(delivery.content.path, self._schema, format=self._options.format) as reader:
            yield from reader.batches()

    @property
    def mark(self) -> Mark:
        return Mark()

    def resume(self, mark: Mark) -> None:
        """It is read from its beginning: nobody has committed anything of it."""

    def position(self) -> int:
        return 0

    @property
    def size(self) -> int | None:
        return None

    def close(self) -> None:
        self._waiter.end()
