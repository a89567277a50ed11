"""Tuples in: bodies of JSON, JSON lines, CSV or Arrow, durable before they are acknowledged."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel

from australis.engine.ledger import Key
from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.host import Host, push
from australis.service.http.bodies import POSTED, decode, places
from australis.service.http.context import Pusher, TheContext, TheHost
from australis.service.http.errors import documented
from australis.service.http.working import pushing
from australis.service.tracing import Span

router = APIRouter(prefix="/v1/inputs", tags=["inputs"])
SHOWN = 100
"""How many of the rows that do not fit an answer has."""
WAIT_S = 5.0
"""How long a push waits for room before it is refused."""
_BODY: dict[str, Any] = {media_type: {"schema": {}} for media_type in POSTED}
_REFUSALS = (
    ErrorCode.NOT_FOUND,
    ErrorCode.CONFLICT,
    ErrorCode.TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.INVALID_TUPLES,
    ErrorCode.KEY_REUSED,
)


class RejectedRow(BaseModel):
    """A row that is no tuple of the input."""

    line: int | None
    """Its line in the body, or its place among the objects."""
    reason: str


class Pushed(BaseModel):
    """What came of a push."""

    accepted: int
    """Tuples that are stored."""
    rejected: list[RejectedRow]
    """The first rows that did not fit; all of them are in the quarantine."""
    rejected_count: int
    end: int
    """The end of the log after them."""
    repeated: bool
    """Whether the same was pushed before under the same key: then nothing was stored now."""


@router.post(
    "/{name}/tuples",
    responses=documented(*_REFUSALS),
    openapi_extra={"requestBody": {"required": True, "content": _BODY}},
)
async def post(
    name: str,
    request: Request,
    host: TheHost,
    context: TheContext,
    caller: Pusher,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Pushed:
    """Push tuples; with the header `Idempotency-Key` the same request may be sent again without harm."""
    body, media_type = await request.body(), request.headers.get("content-type", "")
    span, most = request.state.span, context.access.limits.body_bytes
    return await pushing(
        lambda: _push(host, name, body, media_type, caller.name, idempotency_key, span, most)
    )


def _push(
    host: Host,
    name: str,
    body: bytes,
    media_type: str,
    caller: str,
    key: str | None,
    span: Span,
    bytes_most: int,
) -> Pushed:
    network = host.deployed.network()
    if name not in network.inputs:
        hint = f"one of {', '.join(network.inputs)}"
        problem = Problem(f"{network.name}.{name}", f"there is no input {name!r}", hint)
        raise ServiceError(ErrorCode.NOT_FOUND, problem)
    decoded = decode(body, media_type, network.inputs[name].arriving, network.timezone, bytes_most)
    made = None if key is None else Key(caller, key, _digest(name, media_type, body))
    receipt = push(host, name, decoded.table, rejected=decoded.rejected, key=made, wait_s=WAIT_S, within=span)
    return Pushed(
        accepted=receipt.accepted,
        rejected=[RejectedRow(**each) for each in places(decoded.rejected[:SHOWN])],
        rejected_count=receipt.rejected,
        end=receipt.end or 0,
        repeated=receipt.is_repeated,
    )


def _digest(name: str, media_type: str, body: bytes) -> str:
    found = hashlib.sha256(f"{name}\n{media_type}\n".encode())
    found.update(body)
    return found.hexdigest()
