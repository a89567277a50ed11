"""All feeds of a service: started, stopped and started again as the network changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from australis.algebra.network import QUARANTINE, Network
from australis.algebra.schema import Schema
from australis.engine.addresses import refuse_secrets
from australis.engine.sinks import any_host
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.feeds.feed import Direction, Feed, FeedState, FeedStatus
from australis.service.feeds.ways import FeedNode, InputFeed, OutputFeed
from australis.service.settings import FeedSettings

Key = tuple[Direction, str]


class Feeds:
    """The declared feeds of a node; all methods may be called from any thread, and none waits for a feed."""

    def __init__(self, settings: FeedSettings, allows: Callable[[str], bool] = any_host) -> None:
        self._allows = allows
        self._declared: dict[Key, str] = {
            **{(Direction.INPUT, name): text for name, text in settings.inputs.items()},
            **{(Direction.OUTPUT, name): text for name, text in settings.outputs.items()},
        }
        for text in self._declared.values():
            refuse_secrets(text)
        self._lock = threading.RLock()
        self._running: dict[Key, tuple[Feed, Schema]] = {}
        self._paused: set[Key] = set()
        self._left: dict[Key, Feed] = {}
        """The last feed of those that do not run now; one that follows waits until it has ended."""
        self._node: FeedNode | None = None
        self._network: Network | None = None
        self._began = datetime.now(UTC)

    # --- with the network

    def arrange(self, node: FeedNode | None, network: Network | None) -> None:
        """Run the feeds whose inputs and outputs a network has; one whose schema is the same continues."""
        with self._lock:
            self._node, self._network = node, network
            for key in self._declared:
                schema = self._schema(key)
                known = self._running.get(key)
                if known is not None and (schema is None or schema != known[1]):
                    self._end(key)
                if schema is not None and key not in self._running and key not in self._paused:
                    self._start(key, schema)

    def close(self, timeout_s: float) -> None:
        """End all feeds, and wait for them so long; one that waits for room ends with the node."""
        self.arrange(None, None)
        with self._lock:
            feeds = list(self._left.values())
        until = time.monotonic() + timeout_s
        for feed in feeds:
            feed.join(max(0.0, until - time.monotonic()))

    # --- by an operator

    def restart(self, direction: Direction, name: str) -> FeedStatus:
        """Start a feed anew, also one that was paused, has ended or failed."""
        with self._lock:
            key = self._known(direction, name)
            self._paused.discard(key)
            self._end(key)
            if (schema := self._schema(key)) is not None:
                self._start(key, schema)
            return self._status(key)

    def pause(self, direction: Direction, name: str) -> FeedStatus:
        """End a feed until it is restarted, or the service is."""
        with self._lock:
            key = self._known(direction, name)
            self._paused.add(key)
            self._end(key)
            return self._status(key)

    def statuses(self) -> list[FeedStatus]:
        """How all feeds go, in the order in which they are declared."""
        with self._lock:
            return [self._status(key) for key in self._declared]

    # --- inside

    def _known(self, direction: Direction, name: str) -> Key:
        key = (direction, name)
        if key not in self._declared:
            names = ", ".join(each for way, each in self._declared if way == direction) or "none here"
            problem = Problem(name, f"is no feed of an {direction}", f"one of {names}")
            raise ServiceError(ErrorCode.NOT_FOUND, problem)
        return key

    def _schema(self, key: Key) -> Schema | None:
        """The schema of what a feed is for, if the network has it."""
        (direction, name), network = key, self._network
        if network is None or self._node is None:
            return None
        if direction is Direction.OUTPUT:
            has_it = name in network.outputs or name == QUARANTINE
            return network.output_schema(name) if has_it else None
        given = network.inputs.get(name)
        return None if given is None or given.table or given.store is not None else given.arriving

    def _start(self, key: Key, schema: Schema) -> None:
        assert self._node is not None
        assert self._network is not None
        direction, name = key
        text, before = self._declared[key], self._left.pop(key, None)
        feed: Feed
        if direction is Direction.INPUT:
            feed = InputFeed(self._node, name, text, schema, self._network.timezone, before)
        else:
            feed = OutputFeed(self._node, name, text, schema, self._allows, before)
        self._running[key] = feed, schema
        feed.start()

    def _end(self, key: Key) -> None:
        if (known := self._running.pop(key, None)) is not None:
            known[0].end()
            self._left[key] = known[0]

    def _status(self, key: Key) -> FeedStatus:
        direction, name = key
        if key in self._running:
            return self._running[key][0].status
        state = FeedState.PAUSED if key in self._paused else FeedState.ABSENT
        if key in self._left:
            return replace(self._left[key].status, state=state)
        return FeedStatus(name, direction, self._declared[key], state, self._began)
