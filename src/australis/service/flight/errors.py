"""Errors over Flight: the kind that its clients know, and the same JSON as over HTTP beside it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyarrow import flight

from australis.errors import AlgebraError, AustralisError, ErrorCode, Problem, ProblemError, ServiceError

_log = logging.getLogger(__name__)
_KINDS: Mapping[ErrorCode, type[flight.FlightError]] = {
    ErrorCode.UNAUTHENTICATED: flight.FlightUnauthenticatedError,
    ErrorCode.FORBIDDEN: flight.FlightUnauthorizedError,
    ErrorCode.TOO_MANY: flight.FlightUnavailableError,
    ErrorCode.NOT_READY: flight.FlightUnavailableError,
    ErrorCode.STOPPING: flight.FlightUnavailableError,
    ErrorCode.INTERNAL: flight.FlightInternalError,
}


@contextmanager
def told() -> Iterator[None]:
    """Raise what fails as an error of Flight."""
    try:
        yield
    except flight.FlightError:
        raise
    except Exception as error:
        raise refusal(error) from error


def refusal(error: Exception) -> flight.FlightError:
    """What a client is told of an error."""
    code, problem, retry_after_s = _parts(error)
    if code is ErrorCode.INTERNAL:
        _log.error("a call of Flight failed", exc_info=error)
    detail = {"code": code, "message": problem.what, "path": problem.path, "hint": problem.expected}
    if retry_after_s is not None:
        detail["retry_after_s"] = retry_after_s  # type: ignore[assignment]
    kind = _KINDS.get(code, flight.FlightServerError)
    return kind(str(problem), json.dumps(detail).encode())


def _parts(error: Exception) -> tuple[ErrorCode, Problem, float | None]:
    if isinstance(error, ServiceError):
        return error.code, error.problem, error.retry_after_s
    if isinstance(error, ProblemError):
        return ErrorCode.CONFLICT, error.problem, None
    if isinstance(error, AlgebraError):
        return ErrorCode.INVALID_REQUEST, error.problems[0], None
    if isinstance(error, AustralisError):
        return ErrorCode.INTERNAL, Problem("", str(error)), None
    hint = "the log of the service, which says where"
    return ErrorCode.INTERNAL, Problem("", f"failed: {type(error).__name__}", hint), None
