"""A component that has moved tells its readers its new peer, until they confirm.

In the paper the target knows its downstream components. They must know it as well, since one of them that
moves has to find its writers, even if their old peer is gone by then.
"""

from __future__ import annotations

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import Command, Holding, Introduce, Introduced, Send, Writer


class Introduction:
    """Both sides: the writer that introduces itself, and the reader that notes it."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._unknown: set[str] = set()
        """The streams whose readers have not answered."""

    def moved(self, holding: Holding) -> list[Command]:
        """Streams are now written here."""
        self._unknown.update(holding.routes)
        return self._introduce(sorted(holding.routes))

    def ticked(self) -> list[Command]:
        """Repeat introductions; a peer that no longer writes a stream need not be known."""
        self._unknown.intersection_update(self._holdings.routes)
        return self._introduce(sorted(self._unknown))

    def _introduce(self, streams: list[str]) -> list[Command]:
        routes = self._holdings.routes
        return [Send(routes[each].home, Introduce(each, routes[each].moves)) for each in streams]

    def heard(self, sender: str, told: Introduce) -> list[Command]:
        """A stream is written by another peer; ignore old news and streams that are not read here."""
        writer = self._holdings.upstreams.get(told.stream)
        if writer is None:
            return []
        if told.moves > writer.moves:
            self._holdings.upstreams[told.stream] = Writer(sender, told.moves)
        return [Send(sender, Introduced(told.stream, told.moves))]

    def known(self, answer: Introduced) -> list[Command]:
        """A reader has confirmed."""
        route = self._holdings.routes.get(answer.stream)
        if route is not None and route.moves == answer.moves:
            self._unknown.discard(answer.stream)
        return []
