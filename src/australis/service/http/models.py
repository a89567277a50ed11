"""Models that several routes answer with."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from australis.engine import Difference
from australis.service.host import Operation, OperationState, Outcome, plain
from australis.service.http.errors import ErrorDetail, detail_of


class Change(BaseModel):
    """What a deployment has changed, and the revision of what runs now."""

    difference: dict[str, Any] | None
    """What changed; null where nothing ran before."""
    lines: list[str]
    """The same for people."""
    revision: str

    @classmethod
    def of(cls, outcome: Outcome) -> Change:
        """The model of what a deployment has done."""
        found = outcome.difference
        if found is None:
            return cls(difference=None, lines=[], revision=outcome.revision)
        lines = list(found.lines())
        return cls(difference=difference_of(found), lines=lines, revision=outcome.revision)


class Progress(BaseModel):
    """How far an operation has come."""

    stage: str
    """What it is doing: preparing, draining or switching."""


class OperationStatus(BaseModel):
    """An operation: what it does, how far it is, what came of it."""

    id: str
    kind: str
    caller: str
    started_at: datetime
    state: OperationState
    progress: Progress | None
    result: Any = None
    error: ErrorDetail | None


LATER: dict[int | str, dict[str, Any]] = {
    202: {"model": OperationStatus, "description": "An operation, with `wait=false`"}
}
"""The answer of a call that was not waited for."""


def difference_of(found: Difference) -> dict[str, Any]:
    """A difference for programs."""
    told: dict[str, Any] = plain(found.as_dict())
    return told


def status_of(operation: Operation) -> OperationStatus:
    """The status of an operation."""
    is_running, result = operation.state is OperationState.RUNNING, operation.result
    return OperationStatus(
        id=operation.id,
        kind=operation.kind,
        caller=operation.caller,
        started_at=operation.started_at,
        state=operation.state,
        progress=Progress(stage=operation.stage()) if is_running else None,
        result=Change.of(result) if isinstance(result, Outcome) else result_of(operation.kind, result),
        error=None if operation.error is None else detail_of(operation.error),
    )


def result_of(kind: str, result: Any) -> Any:
    """The result of an operation under the name that the call without waiting has for it."""
    names = {"remove": "removed", "attach": "outputs"}
    return {names[kind]: result} if kind in names and result is not None else result
