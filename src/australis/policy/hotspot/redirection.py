"""The upstream side of a migration: tuples go elsewhere from a certain number on (section 3.2)."""

from __future__ import annotations

from typing import Any

from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.messages import (
    Elsewhere,
    Switch,
    Switched,
    UpdateReply,
    UpdateRequest,
)
from australis.policy.machines import Refuse, Say


class Redirection:
    """Where the streams of a peer go; a request for a stream whose writer has moved is sent on."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings

    def requested(self, request: UpdateRequest) -> list[Any]:
        """Phase 4: send elsewhere, unless the request is old; a lost reply is repeated."""
        route = self._holdings.routes.get(request.stream)
        if route is None:
            return self._moved(request)
        source, home = request.migration.source, request.home
        if request.version > route.version:
            is_readers = source == route.home or (source == home and home == route.before)
            if not is_readers:
                return [Refuse("sender")]
            switching = route._replace(version=request.version, home=home, last=None, before=route.home)
            self._holdings.routes[request.stream] = switching
            return [Switch(request.migration, request.stream, request.version, request.home)]
        # While the switch is in progress, nothing knows which tuple will be the last.
        if request.version < route.version or route.last is None:
            return [Refuse("late")]
        if route.home != home:
            return [Refuse("sender")]
        reply = UpdateReply(request.migration, request.stream, route.version, route.last)
        return [Say(request.migration.source, reply)]

    def switched(self, done: Switched) -> list[Any]:
        """Phase 5: report which tuple was the last, unless the stream has been redirected again."""
        route = self._holdings.routes.get(done.stream)
        if route is None or done.version != route.version:
            return [Refuse("late")]
        self._holdings.routes[done.stream] = route._replace(last=done.last)
        reply = UpdateReply(done.migration, done.stream, done.version, done.last)
        return [Say(done.migration.source, reply)]

    def _moved(self, request: UpdateRequest) -> list[Any]:
        moved = self._holdings.moved.get(request.stream)
        if moved is None:
            return [Refuse("stream")]
        return [Say(request.migration.source, Elsewhere(request.stream, moved))]
