"""How the node does: statistics, quality, drop boxes, what was quarantined, and metrics."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from australis.algebra.form import to_json
from australis.engine.observe import metrics_text
from australis.errors import ErrorCode
from australis.service.host import plain, quarantine
from australis.service.http.bodies import Form, encoded
from australis.service.http.context import Auditor, TheContext, TheHost, Viewer
from australis.service.http.errors import documented
from australis.service.http.measured import feed_families, subscriber_families

router = APIRouter(prefix="/v1", tags=["observing"])
metrics_router = APIRouter(tags=["observing"])
_SOME = documented(ErrorCode.CONFLICT)
Limit = Annotated[int, Query(ge=1, le=10_000)]


class DropBoxList(BaseModel):
    """The drop boxes so far: those in place, and those withdrawn."""

    dropboxes: list[dict[str, Any]]


class Rewriting(BaseModel):
    """Once that the optimiser let another network run."""

    says: list[str]
    """What was done, and why."""
    cost_before: float
    """The microseconds a tuple that were expected of the network before, by what was measured."""
    cost_after: float
    switch_ms: float


class OptimiserReport(BaseModel):
    """The network before and after the optimiser."""

    enabled: bool
    drawn: dict[str, Any]
    """The network as it was deployed."""
    running: dict[str, Any]
    """The equal network that runs."""
    switches: list[Rewriting]
    """What was done, the latest last."""


class AuditEntries(BaseModel):
    """Who has changed what, the newest first."""

    entries: list[dict[str, Any]]


@router.get("/statistics", responses=_SOME)
def statistics(host: TheHost, caller: Viewer) -> dict[str, Any]:
    """Everything that is known of boxes, queues and outputs at this moment."""
    found: dict[str, Any] = plain(host.deployed.statistics().as_dict())
    return found


@router.get("/optimiser", responses=_SOME)
def optimiser(host: TheHost, caller: Viewer) -> OptimiserReport:
    """The network as it was deployed and as the optimiser lets it run, and what it did why."""
    found = host.deployed.rewritten()
    return OptimiserReport(
        enabled=host.settings.optimise,
        drawn=to_json(found.drawn),
        running=to_json(found.running),
        switches=[Rewriting.model_validate(dict(each)) for each in found.switches],
    )


@router.get("/quality", responses=_SOME)
def quality(host: TheHost, caller: Viewer) -> dict[str, Any]:
    """What outputs received over the last seconds, and what that is worth by their graphs."""
    found: dict[str, Any] = plain(host.deployed.quality())
    return found


@router.get("/dropboxes", responses=_SOME)
def dropboxes(host: TheHost, caller: Viewer) -> DropBoxList:
    """Where tuples are or were shed, by which predicate, since when, and how many.

    `arc` is null where the network has changed since.
    """
    node = host.deployed
    return DropBoxList(
        dropboxes=[{**plain(each), "arc": node.arc_of(each.superbox, each.stream)} for each in node.shed()]
    )


@router.get(
    "/quarantine",
    responses={
        **_SOME,
        200: {
            "description": "Tuples that could not be processed, with the reasons",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "properties": {"tuples": {"type": "array", "items": {"type": "object"}}},
                        "required": ["tuples"],
                    }
                }
            },
        },
    },
    response_class=Response,
)
def quarantined(host: TheHost, caller: Viewer, limit: Limit = 100) -> Response:
    """The last tuples that no box could process, with the place and the reason."""
    table = quarantine(host, limit)
    rows = b"".join(encoded([table], table.schema, Form.JSON))
    return Response(b'{"tuples":' + rows + b"}", media_type="application/json")


@router.get("/audit", responses=documented(ErrorCode.NOT_FOUND))
def audit(context: TheContext, caller: Auditor, limit: Limit = 100) -> AuditEntries:
    """Who has changed what, when, and with which result."""
    return AuditEntries(entries=[] if context.audit is None else context.audit.latest(limit))


@metrics_router.get(
    "/metrics",
    responses={
        **documented(),
        200: {"description": "The metrics", "content": {"text/plain": {"schema": {"type": "string"}}}},
    },
    response_class=Response,
)
def metrics(host: TheHost, context: TheContext, caller: Viewer) -> Response:
    """Metrics for Prometheus; without a network there are none of it."""
    node = host.node
    beside = (feed_families(host.feeds.statuses()), subscriber_families(context.fanout.audience))
    more = chain(context.measured.families(), *beside)
    text, media_type = metrics_text(node.statistics() if node.is_deployed else None, node.train_times, more)
    return Response(text, headers={"Content-Type": media_type})
