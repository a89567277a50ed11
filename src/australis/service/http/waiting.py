"""Waits for operations in calls that want their result."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.host import Host, Operation

Wait = Annotated[bool, Query(description="Whether to wait for the result; else an operation is the answer")]
LOOK_S = 0.5


def finished(host: Host, operation: Operation) -> Any:
    """The result of an operation, once it is over; a service that stops waits no longer."""
    while not operation.over.wait(LOOK_S):
        if host.stopping.is_set():
            hint = f"GET /v1/operations/{operation.id} when it runs again"
            raise ServiceError(ErrorCode.STOPPING, Problem("", "the service is stopping", hint), 1)
    if operation.error is not None:
        raise operation.error
    return operation.result
