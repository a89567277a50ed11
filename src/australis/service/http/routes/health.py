"""Health and readiness, for whatever keeps the process running; they need no token."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from australis.service.host import State
from australis.service.http.context import TheHost
from australis.service.http.errors import ErrorBody

router = APIRouter(tags=["health"])


class Health(BaseModel):
    """What the process is doing."""

    state: State


_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": code}
    for status, code in ((403, "forbidden"), (500, "internal"))
}


@router.get("/healthz", responses=_ANSWERS)
async def health(host: TheHost) -> Health:
    """Whether the process lives: it answers, though all threads may be busy."""
    return Health(state=host.state)


@router.get("/readyz", responses={**_ANSWERS, 503: {"model": Health, "description": "It cannot serve now"}})
async def readiness(host: TheHost, response: Response) -> Health:
    """Whether the node runs its network, or is empty and ready for one."""
    state = host.state
    if not state.is_ready:
        response.status_code = 503
    return Health(state=state)
