"""A component that has moved tells its readers its new peer, until they confirm.

In the paper the target knows its downstream components. They must know it as well, since one of them that
moves has to find its writers, even if their old peer is gone by then.
"""

from __future__ import annotations

from typing import Any

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import Holding, Introduce, Introduced, Writer
from australis.policy.machines import Refuse, Say


class Introduction:
    """Both sides: the writer that introduces itself, and the reader that notes it."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self.unknown: set[str] = set()
        """The streams whose readers have not answered."""

    def moved(self, holding: Holding) -> list[Any]:
        """Streams are now written here."""
        self.unknown.update(holding.routes)
        return self._introduce(sorted(holding.routes))

    def ticked(self) -> list[Any]:
        """Repeat introductions; a peer that no longer writes a stream need not be known."""
        self.unknown.intersection_update(self._holdings.routes)
        return self._introduce(sorted(self.unknown))

    def _introduce(self, streams: list[str]) -> list[Any]:
        routes = self._holdings.routes
        return [Say(routes[each].home, Introduce(each, routes[each].moves)) for each in streams]

    def heard(self, sender: str, told: Introduce) -> list[Any]:
        """A stream is written by another peer; ignore old news and streams that are not read here."""
        writer = self._holdings.upstreams.get(told.stream)
        if writer is None:
            return [Refuse("stream")]
        if told.moves > writer.moves:
            self._holdings.upstreams[told.stream] = Writer(sender, told.moves)
        return [Say(sender, Introduced(told.stream, told.moves))]

    def known(self, sender: str, answer: Introduced) -> list[Any]:
        """A reader has confirmed."""
        route = self._holdings.routes.get(answer.stream)
        if route is None or (route.moves, route.home) != (answer.moves, sender):
            return [Refuse("late")]
        self.unknown.discard(answer.stream)
        return []
