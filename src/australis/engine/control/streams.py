"""Sends the output of a query to a client: one table per output, the next once it was taken."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from enum import StrEnum

from australis.algebra.network import Network
from australis.engine.control.channel import Channel, slices
from australis.engine.control.messages import refusal
from australis.engine.deliver import Attached, Subscription
from australis.errors import EngineError, Problem

_log = logging.getLogger(__name__)


class End(StrEnum):
    """Why there is no more to read."""

    DONE = "done"
    """Everything that had arrived when it was asked is processed."""
    DETACHED = "detached"
    """Somebody else has removed the query."""
    STOPPED = "stopped"
    """The node has ended."""


class Stream:
    """Sends the outputs of a query until they end, or nobody reads them."""

    def __init__(
        self, channel: Channel, query: Attached, network: Network, *, follow: bool, patience_s: float
    ) -> None:
        self._channel, self._query, self._follow, self._patience_s = channel, query, follow, patience_s
        self._taken = dict.fromkeys(network.outputs, 0)
        """For each output, the tables that were taken and not yet noticed."""
        self._changed, self._over, self._going = threading.Condition(), False, len(self._taken)
        self._subscriptions: list[Subscription] = []
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to send, each output in its own thread."""
        name = "australis-control-stream"
        for output in self._taken:
            self._threads.append(threading.Thread(target=self._send, args=(output,), name=name, daemon=True))
            self._threads[-1].start()

    def took(self, output: object) -> None:
        """The client has taken a table of an output."""
        if not isinstance(output, str) or output not in self._taken:
            expected = f"one of {', '.join(self._taken)}"
            raise EngineError(Problem("request.output", f"there is no output {output!r}", expected))
        with self._changed:
            self._taken[output] += 1
            self._changed.notify_all()

    def end(self) -> None:
        """Send no more; what was taken so far is acknowledged."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
            subscriptions = list(self._subscriptions)
        for subscription in subscriptions:
            subscription.end()
        # Only now may another client read the query: two under one name would take tuples from each other.
        for thread in self._threads:
            thread.join(self._patience_s)

    def _send(self, output: str) -> None:
        # A client that has gone is noticed by the thread that listens to it.
        with suppress(EOFError):
            try:
                self._send_all(output)
            except Exception as error:
                _log.debug("%s ends for its client: %s", output, error, exc_info=True)
                # The query was removed before this subscribed to it: the stream has ended.
                if self._query.is_attached:
                    self._channel.send(refusal(error))
                    self._channel.hang_up()
            self._end_output()

    def _send_all(self, output: str) -> None:
        with self._query.subscribe(output, follow=self._follow) as tables:
            if not self._enlist(tables):
                return
            for table in tables:
                for each in slices(table):
                    if self._over:
                        return
                    self._channel.send({"table": output}, each)
                    if not self._wait_until_taken(output):
                        return

    def _enlist(self, subscription: Subscription) -> bool:
        """Let `end` end a subscription, too; False if it was called already, as the client may have gone."""
        with self._changed:
            self._subscriptions.append(subscription)
            return not self._over

    def _wait_until_taken(self, output: str) -> bool:
        """Wait until a table is taken; False if the stream ends first."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._taken[output] or self._over, self._patience_s):
                what = f"took nothing for {self._patience_s:,.0f} s"
                raise EngineError(Problem("the client", what, "tables to be taken as they come"))
            is_taken = self._taken[output] > 0
            self._taken[output] -= is_taken
            return is_taken

    def _end_output(self) -> None:
        with self._changed:
            self._going -= 1
            is_last = self._going == 0 and not self._over
        if is_last:
            self._channel.send({"end": End.DETACHED if self._follow else End.DONE})
