"""The network: read, checked, compared, deployed, removed, paused."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field

from australis.algebra.form import dumps, to_json
from australis.algebra.network import Network
from australis.errors import AlgebraError, ErrorCode, Problem, ServiceError
from australis.service.host import (
    Outcome,
    State,
    Wanted,
    compare,
    network_of,
    network_of_host,
    pause,
    resume,
    start_deploy,
    start_remove,
    step,
)
from australis.service.http.context import Operator, Owner, TheHost, Viewer, audited
from australis.service.http.errors import documented
from australis.service.http.models import LATER, Change, difference_of, status_of
from australis.service.http.waiting import Wait, finished

router = APIRouter(prefix="/v1/network", tags=["network"])
IfMatch = Annotated[str | None, Header(description='The revision that the caller knows; "" for none')]
AcceptLoss = Annotated[bool, Query(description="Whether states and tuples may be lost")]


class Form(StrEnum):
    """How a network is written."""

    JSON = "json"
    YAML = "yaml"


class NetworkDocument(BaseModel):
    """A network in its JSON form, or as text of YAML, and its revision."""

    network: dict[str, Any] | str
    revision: str


class NetworkRequest(BaseModel, extra="forbid", strict=True):
    """A network: its document, or a text of it in JSON or YAML."""

    network: dict[str, Any] | str


class DeployRequest(NetworkRequest):
    """A network to run."""

    tables: dict[str, list[dict[str, Any]]] = Field(default_factory=dict)
    """The rows of stored tables that are new, or that a join needs again."""
    accept_loss: bool = False
    """Whether states and tuples may be lost."""


class ProblemDetail(BaseModel):
    """One thing that is wrong with a network."""

    path: str
    what: str
    expected: str


class Checked(BaseModel):
    """Whether a network could run, and what it consists of if it is valid."""

    ok: bool
    problems: list[ProblemDetail]
    warnings: list[ProblemDetail]
    """What is allowed, but probably not meant."""
    schemas: dict[str, str]
    """The schema of every stream."""
    inputs: dict[str, str]
    outputs: dict[str, str]


class Difference(BaseModel):
    """What a deployment would change."""

    difference: dict[str, Any]
    lines: list[str]
    """The same for people."""


class Removed(BaseModel):
    """Whether there was a network."""

    removed: bool


class Running(BaseModel):
    """Whether trains run."""

    state: State


class Stepped(BaseModel):
    """The train that ran; null if there was nothing to do."""

    train: dict[str, Any] | None


_NONE = ServiceError(ErrorCode.NOT_FOUND, Problem("", "the node has no network", "PUT /v1/network"))
_WANTED = documented(
    ErrorCode.INVALID_NETWORK, ErrorCode.CONFLICT, ErrorCode.REVISION_MISMATCH, ErrorCode.WOULD_LOSE
)


@router.get("", responses=documented(ErrorCode.NOT_FOUND))
def read(
    host: TheHost, caller: Viewer, response: Response, form: Form = Form.JSON, live: bool = False
) -> NetworkDocument:
    """The network as it was deployed; `live` as it runs, with its queries and drop boxes."""
    current = host.current
    if current is None:
        raise _NONE
    response.headers["ETag"] = f'"{current.revision}"'
    found = network_of_host(host) if live else current.network
    return NetworkDocument(network=_written(found, form), revision=current.revision)


def _written(network: Network, form: Form) -> dict[str, Any] | str:
    return dumps(network, ".yaml") if form is Form.YAML else to_json(network)


@router.post("/check", responses=documented())
def check(host: TheHost, caller: Viewer, given: NetworkRequest) -> Checked:
    """Whether the node could run a network, and everything that is wrong with it."""
    try:
        network = network_of(given.network)
    except ServiceError as error:
        # What is wrong with the network is the answer.
        cause = error.__cause__
        found = cause.problems if isinstance(cause, AlgebraError) else (error.problem,)
        problems = _details(found)
        return Checked(ok=False, problems=problems, warnings=[], schemas={}, inputs={}, outputs={})
    refused = _details(host.rules.problems(network))
    return Checked(
        ok=not refused,
        problems=refused,
        warnings=_details(network.warnings()),
        schemas={str(ref): str(schema) for ref, schema in network.schemas.items()},
        inputs={name: str(each.schema) for name, each in network.inputs.items()},
        outputs={name: str(network.output_schema(name)) for name in network.outputs},
    )


def _details(problems: Iterable[Problem]) -> list[ProblemDetail]:
    return [ProblemDetail(path=each.path, what=each.what, expected=each.expected) for each in problems]


@router.post("/diff", responses=documented(ErrorCode.INVALID_NETWORK, ErrorCode.CONFLICT))
def diff(host: TheHost, caller: Viewer, given: NetworkRequest) -> Difference:
    """What deploying a network would change, and what would be lost."""
    found = compare(host, given.network)
    return Difference(difference=difference_of(found), lines=list(found.lines()))


@router.put("", responses={**_WANTED, **LATER}, response_model=Change)
def deploy(
    host: TheHost,
    caller: Owner,
    given: DeployRequest,
    request: Request,
    response: Response,
    wait: Wait = True,
    if_match: IfMatch = None,
) -> Any:
    """Run a network in place of the one that runs; what is the same in both continues with its state.

    The same network again changes nothing. What would lose states or tuples is refused unless accepted.
    """
    wanted = Wanted(given.network, given.tables, given.accept_loss, _revision(if_match))
    operation = start_deploy(host, wanted, caller)
    audited(request, operation=operation.id, accept_loss=given.accept_loss)
    if not wait:
        response.status_code = 202
        return _as_response(status_of(operation), 202)
    outcome: Outcome = finished(host, operation)
    change = Change.of(outcome)
    audited(request, revision=outcome.revision, changes=change.lines)
    response.headers["ETag"] = f'"{outcome.revision}"'
    return change


@router.delete("", responses={**_WANTED, **LATER}, response_model=Removed)
def remove(
    host: TheHost,
    caller: Owner,
    request: Request,
    wait: Wait = True,
    accept_loss: AcceptLoss = False,
    if_match: IfMatch = None,
) -> Any:
    """Remove the network with all that the node keeps of it; where there is none, nothing is done."""
    operation = start_remove(host, caller, accept_loss=accept_loss, revision=_revision(if_match))
    audited(request, operation=operation.id, accept_loss=accept_loss)
    if not wait:
        return _as_response(status_of(operation), 202)
    removed: bool = finished(host, operation)
    return Removed(removed=removed)


def _revision(if_match: str | None) -> str | None:
    return None if if_match is None else if_match.strip().removeprefix("W/").strip('"')


def _as_response(told: BaseModel, status: int) -> Response:
    return Response(told.model_dump_json(), status, media_type="application/json")


@router.post("/pause", responses=documented(ErrorCode.CONFLICT))
def pause_trains(host: TheHost, caller: Operator) -> Running:
    """Start no more trains, and wait for those that run; tuples are still taken."""
    return Running(state=pause(host))


@router.post("/resume", responses=documented(ErrorCode.CONFLICT))
def resume_trains(host: TheHost, caller: Operator) -> Running:
    """Continue, also after a failure whose cause is fixed."""
    return Running(state=resume(host))


@router.post("/step", responses=documented(ErrorCode.CONFLICT, ErrorCode.KEY_REUSED))
def step_once(
    host: TheHost, caller: Operator, idempotency_key: Annotated[str | None, Header(max_length=200)] = None
) -> Stepped:
    """Run one train while the node is paused."""
    return Stepped(train=host.once.do((caller.name, idempotency_key), "step", lambda: step(host)))
