"""The two kinds of feeds: a source that pushes into an input, and a sink that takes from an output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from australis.algebra.schema import Schema
from australis.engine.files import STANDARD_STREAM, input_format
from australis.engine.sinks import DoorOptions, Outlet, SinkTaker, Taking, parse_sink
from australis.engine.sources import (
    Adoption,
    Delivery,
    Inlet,
    Options,
    SignalWaiter,
    bring,
    is_file,
    parse_source,
)
from australis.engine.store import SEQ
from australis.errors import EngineError, Problem
from australis.service.feeds.feed import Direction, Feed

_WHOLE = ("parquet", "zip")


class FeedNode(Inlet, Outlet, Protocol):
    """The part of a node that feeds use."""

    def listen(self, told: Callable[[], None], /) -> Callable[[], None]: ...

    def has_output(self, name: str, /) -> bool: ...


class InputFeed(Feed):
    """Pushes what a source delivers; a position is committed with its tuples."""

    def __init__(
        self, node: FeedNode, name: str, address: str, schema: Schema, timezone: str, before: Feed | None
    ) -> None:
        super().__init__(name, Direction.INPUT, address, before)
        self._node, self._name, self._address = node, name, address
        self._schema, self._timezone = schema, timezone
        self._waiter = SignalWaiter()

    def _attempt(self) -> None:
        options = Options(follow=_may_follow(self._address), timezone=self._timezone)
        source = parse_source(self._name, self._address, self._schema, options)
        running = source.start(self._node.position, self._waiter)
        bring(self._node, running, self._waiter, self._heard)

    def _heard(self, delivery: Delivery) -> None:
        content = delivery.content
        rows = content.num_rows if isinstance(content, Adoption | pa.Table) else 0
        self._count(rows, delivery.position)

    def _wake_up(self) -> None:
        self._waiter.end()


def _may_follow(address: str) -> bool:
    """Whether more can come: a text grows, a folder gets new files, and a topic has no end."""
    if not is_file(address):
        return True
    if address == STANDARD_STREAM:
        raise EngineError(Problem(address, "is no source of a service", "a file, a folder or an address"))
    return Path(address).is_dir() or input_format(address, None, None) not in _WHOLE


class OutputFeed(Feed):
    """Writes an output into a sink, which acknowledges what it has written."""

    retries_all = False

    def __init__(
        self,
        node: FeedNode,
        name: str,
        address: str,
        schema: Schema,
        allows: Callable[[str], bool],
        before: Feed | None,
    ) -> None:
        super().__init__(name, Direction.OUTPUT, address, before)
        self._node, self._name, self._address, self._schema = node, name, address, schema
        # The feed itself tries again, and says meanwhile what is wrong.
        self._door = DoorOptions(0.0, allows)
        self._taking: Taking | None = None

    def _attempt(self) -> None:
        if self._address == STANDARD_STREAM:
            what = "is no sink of a service"
            raise EngineError(Problem(self._address, what, "a file, a folder or an address"))
        sink = parse_sink(self._name, self._address, self._schema, door=self._door)
        sink.check(self._node.consumer(sink.consumer, self._name)[1])
        with sink.start(self._node) as running:
            taker = SinkTaker(self._name, sink.consumer, running, self._heard)
            taking = self._taking = Taking(self._node, taker, self._node.has_output)
            unheard = self._node.listen(taking.wake)
            try:
                if not self._ended.is_set():
                    taking.run()
            finally:
                unheard()

    def _heard(self, table: pa.Table) -> None:
        self._count(table.num_rows, str(int(table[SEQ][-1].as_py()) + 1))

    def _wake_up(self) -> None:
        taking = self._taking
        if taking is not None:
            taking.end()
