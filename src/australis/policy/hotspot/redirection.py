"""The upstream side of a migration: tuples go elsewhere from a certain number on (section 3.2)."""

from __future__ import annotations

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import (
    Command,
    Send,
    Switch,
    Switched,
    UpdateReply,
    UpdateRequest,
)


class Redirection:
    """Where the streams of a peer go; a request for a stream whose writer has moved is forwarded."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings

    def requested(self, request: UpdateRequest) -> list[Command]:
        """Phase 4: send elsewhere, unless the request is old; a lost reply is repeated."""
        route = self._holdings.routes.get(request.stream)
        if route is None:
            return self._forwarded(request)
        if request.version > route.version:
            switching = route._replace(version=request.version, home=request.home, last=None)
            self._holdings.routes[request.stream] = switching
            return [Switch(request.migration, request.stream, request.version, request.home)]
        # While the switch is in progress, nothing knows which tuple will be the last.
        if request.version < route.version or route.last is None:
            return []
        reply = UpdateReply(request.migration, request.stream, route.version, route.last)
        return [Send(request.migration.source, reply)]

    def switched(self, done: Switched) -> list[Command]:
        """Phase 5: report which tuple was the last, unless the stream has been redirected again."""
        route = self._holdings.routes[done.stream]
        if done.version != route.version:
            return []
        self._holdings.routes[done.stream] = route._replace(last=done.last)
        reply = UpdateReply(done.migration, done.stream, done.version, done.last)
        return [Send(done.migration.source, reply)]

    def _forwarded(self, request: UpdateRequest) -> list[Command]:
        moved = self._holdings.moved.get(request.stream)
        return [Send(moved, request)] if moved else []
