"""Samples of what passes an arc, as it passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from australis.engine.deliver import Tap
from australis.errors import EngineError, ErrorCode, ServiceError
from australis.service.fanout import json_array
from australis.service.http.context import Lasting, TheHost, Viewer
from australis.service.http.errors import documented
from australis.service.http.following import HEARTBEAT_S, EventStream
from australis.service.http.working import reading

router = APIRouter(prefix="/v1/arcs", tags=["arcs"])
LOOKED_AT_MOST = 1_000
TAP_EVERY_S = 0.5
"""The least time between two samples."""
Limit = Annotated[int, Query(ge=1, le=LOOKED_AT_MOST)]
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Events `sample`", "content": {"text/event-stream": {"schema": {}}}}
}


@router.get(
    "/{arc}/tap",
    response_class=StreamingResponse,
    dependencies=[Lasting],
    responses=_EVENTS | documented(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT),
)
async def tap(arc: str, host: TheHost, caller: Viewer, limit: Limit = 100) -> StreamingResponse:
    """Samples of what passes an arc, as server-sent events; nothing is slowed down for it."""
    node = host.deployed
    try:
        samples = await reading(lambda: node.tap(arc, limit))
    except EngineError as error:
        raise ServiceError(ErrorCode.NOT_FOUND, error.problem) from None
    return EventStream(_samples(samples), host.stopping.is_set)


async def _samples(samples: Tap) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    quiet_s = 0.0
    while not samples.is_over:
        table = await reading(lambda: samples.take(0))
        if table is not None:
            yield b"event: sample\ndata: %b\n\n" % await reading(partial(json_array, table))
            quiet_s = 0.0
        elif quiet_s >= HEARTBEAT_S:
            yield b": alive\n\n"
            quiet_s = 0.0
        # A sample now and then is wanted, not each change.
        await asyncio.sleep(TAP_EVERY_S)
        quiet_s += TAP_EVERY_S
