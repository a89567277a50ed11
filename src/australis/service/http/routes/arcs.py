"""The arcs: what waits there, for whom, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from australis.engine.observe import ArcStatistics
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.host import Host, moment
from australis.service.http.bodies import TUPLES, Form, streamed
from australis.service.http.context import TheHost, Viewer
from australis.service.http.errors import documented

router = APIRouter(prefix="/v1/arcs", tags=["arcs"])
_ONE = documented(ErrorCode.CONFLICT, ErrorCode.NOT_FOUND)


class Arc(BaseModel):
    """An arc as a queue."""

    id: str
    tuples: int
    """Tuples that it keeps, those of its history included."""
    bytes: int
    waiting: int
    """Tuples that some reader has not taken yet."""
    waiting_bytes: int
    oldest: datetime | None
    """When the first of them arrived."""
    readers: dict[str, int]
    """The superboxes and consumers that read it, and how far each has come."""

    @classmethod
    def of(cls, name: str, known: ArcStatistics) -> Arc:
        """The model of an arc."""
        return cls(
            id=name,
            tuples=known.tuples,
            bytes=known.bytes,
            waiting=known.waiting,
            waiting_bytes=known.waiting_bytes,
            oldest=moment(known.oldest_us),
            readers=dict(known.readers),
        )


class ArcList(BaseModel):
    """Every arc on which tuples are queued."""

    arcs: list[Arc]


@router.get("", responses=documented(ErrorCode.CONFLICT))
def every(host: TheHost, caller: Viewer) -> ArcList:
    """Every arc on which tuples are queued: how many wait, since when, and for whom."""
    found = host.deployed.statistics().queues
    return ArcList(arcs=[Arc.of(name, known) for name, known in found.items()])


@router.get("/{arc}", responses=_ONE)
def one_arc(host: TheHost, caller: Viewer, arc: str) -> Arc:
    """One arc."""
    return Arc.of(arc, _known(host, arc))


def _known(host: Host, arc: str) -> ArcStatistics:
    found = host.deployed.statistics().queues
    if arc not in found:
        problem = Problem(arc, f"tuples are queued on no arc {arc!r}", f"one of {', '.join(found)}")
        raise ServiceError(ErrorCode.NOT_FOUND, problem)
    return found[arc]


@router.get("/{arc}/peek", responses={**_ONE, **TUPLES}, response_class=StreamingResponse)
def peek(
    host: TheHost,
    caller: Viewer,
    arc: str,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    form: Form = Form.JSON,
) -> StreamingResponse:
    """The first tuples that wait on an arc now; they stay there."""
    _known(host, arc)
    table = host.deployed.peek(arc, limit)
    return streamed([table], table.schema, form)
