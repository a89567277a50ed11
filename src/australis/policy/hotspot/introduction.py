"""A component that has moved tells those downstream who it is now, until they know.

The paper has the target know its downstream components; they must know it as well, since one of them that
moves has to find those who send to it, even if the old home is gone by then.
"""

from __future__ import annotations

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import Command, Holding, Introduce, Introduced, Send, Writer


class Introduction:
    """Both sides of it: who introduces itself, and who takes note."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._unknown: set[str] = set()
        """The streams whose readers have not answered."""

    def moved(self, holding: Holding) -> list[Command]:
        """Streams are written from here now."""
        self._unknown.update(holding.routes)
        return self._introduce(sorted(holding.routes))

    def ticked(self) -> list[Command]:
        """Say it again; who writes a stream no longer need not be known."""
        self._unknown.intersection_update(self._holdings.routes)
        return self._introduce(sorted(self._unknown))

    def _introduce(self, streams: list[str]) -> list[Command]:
        routes = self._holdings.routes
        return [Send(routes[each].home, Introduce(each, routes[each].moves)) for each in streams]

    def heard(self, sender: str, told: Introduce) -> list[Command]:
        """A stream is written by another peer; old news change nothing, and who reads it not is silent."""
        writer = self._holdings.upstreams.get(told.stream)
        if writer is None:
            return []
        if told.moves > writer.moves:
            self._holdings.upstreams[told.stream] = Writer(sender, told.moves)
        return [Send(sender, Introduced(told.stream, told.moves))]

    def known(self, answer: Introduced) -> list[Command]:
        """A reader knows."""
        route = self._holdings.routes.get(answer.stream)
        if route is not None and route.moves == answer.moves:
            self._unknown.discard(answer.stream)
        return []
