"""Operations: what takes longer than a call, and how far it is."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from australis.errors import ErrorCode
from australis.service.http.context import Operator, TheHost, Viewer
from australis.service.http.errors import documented
from australis.service.http.models import OperationStatus, status_of

router = APIRouter(prefix="/v1/operations", tags=["operations"])
WaitS = Annotated[float, Query(ge=0, le=60, description="How long to wait for its end")]


class OperationList(BaseModel):
    """The operations that are remembered."""

    operations: list[OperationStatus]


@router.get("", responses=documented())
def every(host: TheHost, caller: Viewer) -> OperationList:
    """The operations that run, and the last that did, the newest first."""
    return OperationList(operations=[status_of(each) for each in reversed(list(host.operations))])


@router.get("/{operation}", responses=documented(ErrorCode.NOT_FOUND))
async def one_of_them(host: TheHost, caller: Viewer, operation: str, wait_s: WaitS = 0.0) -> OperationStatus:
    """One operation, at its end or after some seconds."""
    found = host.operations.get(operation)
    # Without a thread: those that wait would take all of them, and every other call would wait as well.
    await asyncio.wait({asyncio.wrap_future(found.ended)}, timeout=wait_s)
    return status_of(found)


@router.delete("/{operation}", responses=documented(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT))
def cancel(host: TheHost, caller: Operator, operation: str) -> OperationStatus:
    """Cancel an operation; one that is over stays as it is."""
    return status_of(host.operations.cancel(operation))
