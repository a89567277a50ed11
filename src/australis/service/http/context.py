"""What routes are given: the host, the caller, and the role that a call needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends
from fastapi.requests import HTTPConnection

from australis.service.access import Access, AuditLog, Caller, Role, is_loopback
from australis.service.fanout import Fanout
from australis.service.host import Host
from australis.service.http.measured import Measured
from australis.service.settings import ServiceSettings

SUBPROTOCOL = "australis.bearer."
"""What begins the WebSocket subprotocol that carries a token: browsers cannot set headers there."""


@dataclass
class Context:
    """What an application serves, and by which rules."""

    host: Host
    access: Access
    settings: ServiceSettings
    fanout: Fanout
    flight: str | None = None
    """The address of Arrow Flight, once it is served."""
    measured: Measured = field(default_factory=Measured)
    """What is measured of requests."""
    audit: AuditLog | None = None
    """Where changes are noted, once the node is open."""

    @property
    def is_on_loopback(self) -> bool:
        """Whether only this machine can call."""
        return is_loopback(self.settings.place[0])


def presented(headers: Mapping[str, str]) -> str | None:
    """What a caller presents: the header, or the subprotocol of a WebSocket."""
    for name in headers.get("sec-websocket-protocol", "").split(","):
        if name.strip().startswith(SUBPROTOCOL):
            return f"Bearer {name.strip().removeprefix(SUBPROTOCOL)}"
    return headers.get("authorization")


async def the_context(connection: HTTPConnection) -> Context:
    """The context of the application that a connection came to."""
    context = connection.app.state.context
    assert isinstance(context, Context)
    return context


async def the_host(connection: HTTPConnection) -> Host:
    """The host of the application."""
    return (await the_context(connection)).host


def at_least(role: Role, *, is_change: bool = False) -> Callable[[HTTPConnection], Awaitable[Caller]]:
    """A dependency that gives the caller, whose role includes this one; also on a WebSocket.

    What is a change is noted in the audit log, with what `audited` adds.
    """

    async def check(connection: HTTPConnection) -> Caller:
        connection.state.is_change = is_change
        caller = connection.state.caller
        assert isinstance(caller, Caller)
        caller.check(role)
        return caller

    return check


def audited(connection: HTTPConnection, **details: Any) -> None:
    """Add what happened to the line of the audit log."""
    connection.state.audited = {**getattr(connection.state, "audited", {}), **details}


TheContext = Annotated[Context, Depends(the_context)]
TheHost = Annotated[Host, Depends(the_host)]
Viewer = Annotated[Caller, Depends(at_least(Role.VIEWER))]
Operator = Annotated[Caller, Depends(at_least(Role.OPERATOR, is_change=True))]
Pusher = Annotated[Caller, Depends(at_least(Role.OPERATOR))]
"""An operator whose calls are data, not changes: they are too many for the audit log."""
Owner = Annotated[Caller, Depends(at_least(Role.OWNER, is_change=True))]
Auditor = Annotated[Caller, Depends(at_least(Role.OWNER))]
"""An owner who only reads."""


async def becomes_stream(connection: HTTPConnection, caller: Viewer) -> None:
    """Count a call as one that may last as long as the service; raises `too_many` if there are too many."""
    connection.state.become_stream()


Lasting = Depends(becomes_stream)
"""Says that the answers of a route have no end."""
