"""Other nodes: which ones there are, and the links with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from australis.cluster import Cluster
from australis.cluster.grants import HeldGrant, PieceStatus, Withdrawal, read_signed
from australis.cluster.links import WriterStatus, boxes_of
from australis.cluster.moves import Moved, MoveStatus
from australis.errors import ClusterError, ErrorCode, Problem, ServiceError
from australis.service.host import Host, Operation
from australis.service.http.context import Owner, TheHost, Viewer, audited
from australis.service.http.errors import documented
from australis.service.http.models import LATER, status_of
from australis.service.http.waiting import Wait, finished

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
    before: str
    """The boxes that run at the other node first."""
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


class StreamWorth(BaseModel):
    """What a stream is worth to the outputs that it leads to."""

    delay: list[tuple[float, float]]
    """Its utility by how late it is, in seconds."""
    loss: list[tuple[float, float]]
    """Its utility by the fraction of it that is not shed; without points nothing may be shed."""
    weight: float


class LinkOut(BaseModel):
    """How an output that another node reads goes."""

    output: str
    reader: str
    weight: float
    sent: int
    stored: int
    """The numbers before which everything was sent, and is durable at the reader."""
    bytes_waiting: int
    worth: StreamWorth | None
    """The graphs by which this node schedules and sheds for the output; null if nothing was inferred."""


class Move(BaseModel):
    """Boxes that go, or went, from this node to another one."""

    move: str
    boxes: list[str]
    to: str
    state: str
    """offered, given, taken or failed."""
    problem: str
    bytes_ahead: int
    """Bytes of states that were copied while the boxes ran here."""
    bytes_after: int
    """Bytes that were copied while they stood still."""
    stood_still_ms: float | None = None
    """For how long they stood still; null if that is not known."""


class MoveRequest(BaseModel, extra="forbid", strict=True):
    """Boxes, or groups of boxes, and the node that is to run them."""

    boxes: Annotated[list[str], Field(min_length=1, max_length=10_000)]
    to: str


class PieceHere(BaseModel):
    """How boxes of another node go that run here."""

    name: str
    """Among the queries and outputs of this node."""
    holder: str
    """The node and the input that read it."""
    output: str
    """What it reads."""
    boxes: str
    grant: str
    """The id of the grant; empty for a node of the same participant."""
    problem: str
    """Why it is stopped."""
    rate: float
    """Tuples that left it per second, lately."""
    cores: float
    """The part of a core that it used."""
    state_bytes: int
    """Its states, and what waits for its reader."""


class GrantHeld(BaseModel):
    """A grant that this node holds."""

    file: str
    id: str
    granter: str
    outputs: list[str]
    boxes: list[str]
    expires: datetime | None
    problem: str
    """Why it is of no use."""


class ClusterState(BaseModel):
    """How the node stands with others."""

    name: str | None
    """Its name among them; null if it has no identity, or runs no network."""
    listens: str | None
    nodes: list[Neighbour]
    links_in: list[LinkIn]
    links_out: list[LinkOut]
    pieces: list[PieceHere]
    grants: list[GrantHeld]
    refused: dict[str, int]
    """What other nodes were refused, and how often."""
    moves: list[Move] = Field(default_factory=list)


@router.get("/cluster", responses=documented())
def cluster(host: TheHost, caller: Viewer) -> ClusterState:
    """Other nodes, and the links with them."""
    found = host.neighbours.status
    if found is None:
        empty: dict[str, list[Any]] = {
            name: [] for name in ("nodes", "links_in", "links_out", "pieces", "grants")
        }
        return ClusterState(name=None, listens=None, refused={}, **empty)
    return ClusterState(
        name=found.name,
        listens=None if found.listens is None else f"{found.listens[0]}:{found.listens[1]}",
        nodes=[Neighbour.model_validate(vars(each)) for each in found.peers],
        links_in=[LinkIn.model_validate(vars(each)) for each in found.links_in],
        links_out=[_link_out(each) for each in found.links_out],
        pieces=[_piece(each) for each in found.pieces],
        grants=[_held(each) for each in found.grants],
        refused=dict(found.refused),
        moves=[_moved(each) for each in found.moves],
    )


def _link_out(found: WriterStatus) -> LinkOut:
    worth = None if found.worth is None else StreamWorth.model_validate(found.worth, from_attributes=True)
    return LinkOut.model_validate({**vars(found), "worth": worth})


@router.post(
    "/cluster/moves",
    responses={**documented(ErrorCode.CONFLICT, ErrorCode.INVALID_REQUEST), **LATER},
    response_model=Move,
)
def move(host: TheHost, caller: Owner, given: MoveRequest, request: Request, wait: Wait = True) -> Any:
    """Let boxes run at another node of the same participant, with their states.

    Repeat the call to learn how the move went.
    """
    neighbours = host.neighbours.cluster
    operation = host.operations.start(
        Operation("move", caller.name), lambda: _asked(host, lambda _: neighbours.move(given.boxes, given.to))
    )
    audited(request, operation=operation.id, boxes=given.boxes, to=given.to)
    if not wait:
        return Response(status_of(operation).model_dump_json(), 202, media_type="application/json")
    found: Moved = finished(host, operation)
    return _moved(found.status)


def _moved(found: MoveStatus) -> Move:
    return Move.model_validate({**vars(found), "boxes": list(found.boxes)})


def _piece(piece: PieceStatus) -> PieceHere:
    return PieceHere(
        name=piece.name,
        holder=piece.holder,
        output=piece.output,
        boxes=boxes_of(piece.definition),
        grant=piece.grant,
        problem=piece.problem,
        rate=piece.rate,
        cores=piece.cores,
        state_bytes=piece.state,
    )


def _held(held: HeldGrant) -> GrantHeld:
    grant = held.grant
    return GrantHeld(
        file=held.file,
        id="" if grant is None else grant.id,
        granter="" if grant is None else grant.granter,
        outputs=[] if grant is None else [*grant.outputs],
        boxes=[] if grant is None else [*grant.boxes],
        expires=None if grant is None else grant.expires_at,
        problem=held.problem,
    )


class WithdrawalRequest(BaseModel, extra="forbid"):
    """A withdrawal of a grant, as `australis grant withdraw` has signed it."""

    withdrawal: dict[str, Any]


class Withdrawn(BaseModel):
    """What holds no more."""

    id: str
    serial: int
    """The grants of this id up to this serial number."""


@router.post("/cluster/withdrawals", responses=documented(ErrorCode.CONFLICT, ErrorCode.INVALID_REQUEST))
def withdraw(host: TheHost, caller: Owner, request: WithdrawalRequest) -> Withdrawn:
    """Heed the withdrawal of a grant: the pieces that it admitted end here, and at other nodes."""
    try:
        found = read_signed(json.dumps(request.withdrawal).encode(), "withdrawal", Withdrawal)
    except (ClusterError, ValueError, RecursionError) as error:
        problem = Problem("withdrawal", "is no withdrawal", "what `australis grant withdraw` has signed")
        raise ServiceError(ErrorCode.INVALID_REQUEST, problem) from error
    _asked(host, lambda cluster: cluster.withdraw_grant(found))
    return Withdrawn(id=found.said.id, serial=found.said.serial)


class MemberOfCluster(BaseModel):
    """A node, as all nodes tell each other."""

    name: str
    address: str
    """Where it says that it is."""
    state: str
    """alive, suspect or dead."""
    is_here: bool
    """Whether it is the one that answers."""


class MemberList(BaseModel):
    """All nodes that are known, by name."""

    members: list[MemberOfCluster]


class NamePlace(BaseModel):
    """A node that has what a name stands for."""

    node: str
    kind: str
    """query, stream or piece."""
    detail: str
    """The schema of a stream, the boxes of a query that run at the node."""
    address: str
    """Where the node is; empty if that is not known."""
    state: str | None
    """What is believed of the node; null if it is not known."""


class NameFound(BaseModel):
    """Who has a name."""

    name: str
    places: list[NamePlace]
    """Nodes that are alive first; none if nobody has the name."""
    hops: int
    """How many nodes the question passed; 0 if the answer was here."""


class NameListed(BaseModel):
    """A name, and a node that has it."""

    name: str
    node: str
    kind: str


class NameList(BaseModel):
    """The names that match a pattern."""

    names: list[NameListed]
    is_whole: bool
    """Whether all nodes that are alive have answered."""


_FEW = documented(ErrorCode.CONFLICT, ErrorCode.INVALID_REQUEST)


@router.get("/cluster/members", responses=_FEW)
def members(host: TheHost, caller: Viewer) -> MemberList:
    """All nodes that are known, whether or not there is a connection with them."""
    found = _asked(host, lambda cluster: cluster.members())
    return MemberList(members=[MemberOfCluster.model_validate(vars(each)) for each in found])


@router.get("/cluster/where", responses=_FEW)
def where(
    host: TheHost, caller: Viewer, name: Annotated[str, Query(min_length=1, max_length=255)]
) -> NameFound:
    """The nodes that have what a name, PARTICIPANT/NAME, stands for."""
    found = _asked(host, lambda cluster: cluster.where(name))
    places = [NamePlace.model_validate(vars(each)) for each in found.places]
    return NameFound(name=found.name, places=places, hops=found.hops)


@router.get("/cluster/find", responses=_FEW)
def find(
    host: TheHost, caller: Viewer, pattern: Annotated[str, Query(min_length=1, max_length=100)]
) -> NameList:
    """The names that match a pattern: those of this participant, and those that others make public."""
    found = _asked(host, lambda cluster: cluster.find(pattern))
    names = [NameListed.model_validate(vars(each)) for each in found.names]
    return NameList(names=names, is_whole=found.is_whole)


_Answer = TypeVar("_Answer")


def _asked(host: Host, ask: Callable[[Cluster], _Answer]) -> _Answer:
    try:
        return ask(host.neighbours.cluster)
    except ClusterError as error:
        raise ServiceError(ErrorCode.CONFLICT, error.problem) from error
