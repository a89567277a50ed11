"""What the node is, and what it is doing."""

from __future__ import annotations

import importlib.metadata
from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from australis.service.access import Role
from australis.service.host import State
from australis.service.http.context import TheContext, TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1", tags=["node"])


class NetworkName(BaseModel):
    """Which network runs."""

    name: str
    revision: str


class CallerRole(BaseModel):
    """Who asks, and what the caller may do."""

    name: str
    role: Role


class NodeStatus(BaseModel):
    """What the node is, and what it is doing."""

    version: str
    root: str
    runner: str
    state: State
    error: str | None
    """Why it failed, if it did."""
    network: NetworkName | None
    log_end: int
    """The sequence number of the next event."""
    started_at: datetime
    flight: str | None
    """The address of Arrow Flight, if it is served."""
    caller: CallerRole


@router.get("/node", responses=documented())
def node(host: TheHost, context: TheContext, caller: Viewer) -> NodeStatus:
    """What the node is, and what it is doing."""
    current, failure = host.current, host.failure
    network = current and NetworkName(name=current.network.name, revision=current.revision)
    return NodeStatus(
        version=importlib.metadata.version("australis"),
        root=host.node.root.uri,
        runner=host.settings.runner,
        state=host.state,
        error=None if failure is None else str(failure),
        network=network,
        log_end=host.node.log_end,
        started_at=host.started_at,
        flight=context.flight,
        caller=CallerRole(name=caller.name, role=caller.role),
    )
