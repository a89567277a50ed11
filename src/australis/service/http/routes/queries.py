"""Ad hoc queries: attached to connection points, and detached."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel

from australis.algebra.form import to_json
from australis.errors import ErrorCode
from australis.service.host import detach, outputs_of, start_attach
from australis.service.http.context import Operator, TheHost, Viewer, audited
from australis.service.http.errors import documented
from australis.service.http.models import OperationStatus, status_of
from australis.service.http.waiting import Wait, finished

router = APIRouter(prefix="/v1/queries", tags=["queries"])
Name = Annotated[str, Path(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class QueryRequest(BaseModel, extra="forbid", strict=True):
    """A network whose inputs are named after connection points, outputs or stored tables."""

    network: dict[str, Any] | str


class AttachedQuery(BaseModel):
    """A query that is attached."""

    name: str
    network: dict[str, Any]
    outputs: list[str]
    """The names of its outputs on the node."""
    error: str | None
    """Why it has stopped, if it has."""


class QueryList(BaseModel):
    """The queries that are attached."""

    queries: list[AttachedQuery]


class QueryOutputs(BaseModel):
    """Where the results of a query come."""

    name: str
    outputs: list[str]


class Detached(BaseModel):
    """Whether there was such a query."""

    removed: bool


@router.get("", responses=documented(ErrorCode.CONFLICT))
def every(host: TheHost, caller: Viewer) -> QueryList:
    """The queries that are attached."""
    node = host.deployed
    failures = node.failures()
    return QueryList(
        queries=[
            AttachedQuery(
                name=name,
                network=to_json(query),
                outputs=outputs_of(name, query),
                error=str(failures[name]) if name in failures else None,
            )
            for name, query in node.attached().items()
        ]
    )


@router.put(
    "/{name}",
    responses={
        **documented(ErrorCode.INVALID_NETWORK, ErrorCode.CONFLICT),
        202: {"model": OperationStatus, "description": "An operation, with `wait=false`"},
    },
    response_model=QueryOutputs,
)
def attach(
    host: TheHost, caller: Operator, name: Name, given: QueryRequest, request: Request, wait: Wait = True
) -> Any:
    """Attach a query: it begins with what its connection points keep, and continues until it is detached.

    The same query again changes nothing; another one of the name is refused.
    """
    operation = start_attach(host, name, given.network, caller)
    audited(request, operation=operation.id)
    if not wait:
        return Response(status_of(operation).model_dump_json(), 202, media_type="application/json")
    outputs: list[str] = finished(host, operation)
    return QueryOutputs(name=name, outputs=outputs)


@router.delete("/{name}", responses=documented(ErrorCode.CONFLICT))
def remove(host: TheHost, caller: Operator, name: Name) -> Detached:
    """Detach a query, with all that it keeps; where there is none, nothing is done."""
    return Detached(removed=detach(host, name))
