"""The fan-out of a node: a channel for each output that is followed, and windows for those that resume."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from australis.algebra.network import QUARANTINE
from australis.engine import Node
from australis.errors import AustralisError
from australis.service.fanout.audience import Audience, Way
from australis.service.fanout.channel import Channel
from australis.service.fanout.subscriber import Subscriber
from australis.service.settings import OutputSettings

_log = logging.getLogger(__name__)
CONSUMER = "australis:window"
"""The consumer that acknowledges, for every output, what is behind its window."""
WINDOW_EVERY_S = 5.0
"""How often outputs are looked at for what is behind their windows."""
_PART_OF_DISK = 2
"""What outputs keep for subscribers takes at most this part of the disk budget, all of them together."""


class Fanout:
    """The subscribers of all outputs of a node, which may come later or be replaced by another one."""

    def __init__(self, node: Callable[[], Node | None], settings: OutputSettings) -> None:
        self._node, self._settings = node, settings
        self.audience = Audience()
        """Who subscribes now, and has subscribed."""
        self._lock = threading.Lock()
        self._channels: dict[str, Channel] = {}
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to let go of what is behind the windows of outputs."""
        self._thread = threading.Thread(target=self._run, name="australis-fanout", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all subscribers."""
        self._closed.set()
        with self._lock:
            channels, self._channels = list(self._channels.values()), {}
        for channel in channels:
            channel.close()
        if self._thread is not None:
            self._thread.join()

    def subscribe(
        self,
        node: Node,
        output: str,
        begin: int | None = None,
        ready: Callable[[], None] | None = None,
        way: Way = Way.EVENTS,
    ) -> Subscriber:
        """A reader of an output from a number on, or of what comes next."""
        if begin is not None:
            node.follow(output, begin)  # it is refused here, if it is no number of the output
        while True:
            subscriber = Subscriber(self._channel(node, output), self.audience, way, begin, ready)
            if subscriber.over is None or self._closed.is_set():
                return subscriber

    def _channel(self, node: Node, output: str) -> Channel:
        with self._lock:
            known = self._channels.get(output)
            if known is None or known.over is not None or known.node is not node:
                known = self._channels[output] = Channel(node, output, self._settings.shared_bytes)
            return known

    # --- windows

    def _run(self) -> None:
        while not self._closed.wait(WINDOW_EVERY_S):
            node = self._node()
            if node is not None and node.is_deployed:
                self.let_go(node)

    def let_go(self, node: Node) -> None:
        """Acknowledge what is behind the windows of a node's outputs."""
        try:
            outputs = [*node.network().outputs, QUARANTINE]
            for output in outputs:
                self._let_go(node, output, len(outputs))
        except AustralisError as error:
            # The node may have stopped meanwhile, or changed; else the next round says so again.
            _log.debug("windows of outputs: %s", error)
        except Exception:
            _log.exception("windows of outputs are looked at again")

    def _let_go(self, node: Node, output: str, outputs: int) -> None:
        size = self._settings.keep_bytes
        if node.settings.disk is not None:
            size = min(size, node.settings.disk // _PART_OF_DISK // outputs)
        # What could not be processed is there until somebody has looked at it, if there is room.
        since = 0 if output == QUARANTINE else time.time_ns() // 1000 - round(self._settings.keep_s * 1e6)
        begin = node.window(output, self._settings.keep_tuples, size, since)
        if begin and begin > node.consumer(CONSUMER, output)[0]:
            node.acknowledge(CONSUMER, output, begin)
