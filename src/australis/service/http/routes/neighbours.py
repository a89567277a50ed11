"""Other nodes: which ones there are, and the links with them."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from australis.service.http.context import TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1", tags=["cluster"])


class Neighbour(BaseModel):
    """How it stands with another node."""

    name: str
    address: str
    """Where it is, if this node makes the connection."""
    is_connected: bool
    problem: str
    """Why there is no connection."""
    round_trip_ms: float | None
    clock_ahead_ms: float | None
    """By how much its clock is ahead, to half of the round trip."""
    sent: int
    received: int
    """Bytes on the present connection."""


class LinkIn(BaseModel):
    """How an input that is an output of another node goes."""

    input: str
    source: str
    weight: float
    state: str
    """absent, asking, running or waiting."""
    problem: str
    """What failed last, while it is tried again."""
    position: int
    """The number of the other node before which everything is here."""
    tuples: int
    bytes: int
    """Since this node started."""


class LinkOut(BaseModel):
    """How an output that another node reads goes."""

    output: str
    reader: str
    weight: float
    sent: int
    stored: int
    """The numbers before which everything was sent, and is durable at the reader."""
    bytes_waiting: int


class ClusterState(BaseModel):
    """How the node stands with others."""

    name: str | None
    """Its name among them; null if it has no identity, or runs no network."""
    listens: str | None
    nodes: list[Neighbour]
    links_in: list[LinkIn]
    links_out: list[LinkOut]
    refused: dict[str, int]
    """What other nodes were refused, and how often."""


@router.get("/cluster", responses=documented())
def cluster(host: TheHost, caller: Viewer) -> ClusterState:
    """Other nodes, and the links with them."""
    found = host.neighbours.status
    if found is None:
        return ClusterState(name=None, listens=None, nodes=[], links_in=[], links_out=[], refused={})
    return ClusterState(
        name=found.name,
        listens=None if found.listens is None else f"{found.listens[0]}:{found.listens[1]}",
        nodes=[Neighbour.model_validate(vars(each)) for each in found.peers],
        links_in=[LinkIn.model_validate(vars(each)) for each in found.links_in],
        links_out=[LinkOut.model_validate(vars(each)) for each in found.links_out],
        refused=dict(found.refused),
    )
