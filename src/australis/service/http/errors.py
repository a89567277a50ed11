"""The one shape of errors, and the status of each code."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from australis.errors import AlgebraError, AustralisError, ErrorCode, Problem, ProblemError, ServiceError

_log = logging.getLogger(__name__)

STATUS: Mapping[ErrorCode, int] = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.NOT_ACCEPTABLE: 406,
    ErrorCode.CONFLICT: 409,
    ErrorCode.WOULD_LOSE: 409,
    ErrorCode.GONE: 410,
    ErrorCode.REVISION_MISMATCH: 412,
    ErrorCode.TOO_LARGE: 413,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.INVALID_NETWORK: 422,
    ErrorCode.INVALID_TUPLES: 422,
    ErrorCode.KEY_REUSED: 422,
    ErrorCode.TOO_MANY: 429,
    ErrorCode.INTERNAL: 500,
    ErrorCode.NOT_READY: 503,
    ErrorCode.STOPPING: 503,
}
_CODES = {status: code for code, status in reversed(list(STATUS.items()))}
"""The code of a status that the framework itself answers with."""


class ErrorDetail(BaseModel):
    """What failed, where, and what to do about it."""

    code: ErrorCode
    message: str
    path: str
    """The id `network.box.port`, or the field of the request; empty if it is about no place."""
    hint: str
    """What was expected; empty if there is nothing to say."""


class ErrorBody(BaseModel):
    """The body of every answer that is an error."""

    error: ErrorDetail


def documented(*codes: ErrorCode) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that may refuse with some codes, besides those that any route may give."""
    common = (
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNAUTHENTICATED,
        ErrorCode.FORBIDDEN,
        ErrorCode.TOO_MANY,
        ErrorCode.INTERNAL,
        ErrorCode.NOT_READY,
    )
    found: dict[int | str, dict[str, Any]] = {}
    for code in sorted({*common, *codes}, key=lambda code: (STATUS[code], code)):
        known = found.get(STATUS[code])
        words = f"{known['description']}, {code}" if known else str(code)
        found[STATUS[code]] = {"model": ErrorBody, "description": words}
    return found


def detail_of(error: AustralisError) -> ErrorDetail:
    """An error as answers describe it."""
    code, problem, _ = _told(error)
    return ErrorDetail(code=code, message=problem.what, path=problem.path, hint=problem.expected)


def answer(error: AustralisError) -> JSONResponse:
    """The answer that an error becomes."""
    code, problem, retry_after_s = _told(error)
    headers = {} if retry_after_s is None else {"Retry-After": str(max(1, math.ceil(retry_after_s)))}
    if code is ErrorCode.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = "Bearer"
    return _json(code, problem, headers)


def _told(error: AustralisError) -> tuple[ErrorCode, Problem, float | None]:
    """The code of an error; the engine refuses what does not suit its state, or what was asked."""
    if isinstance(error, ServiceError):
        return error.code, error.problem, error.retry_after_s
    if isinstance(error, ProblemError):
        return ErrorCode.CONFLICT, error.problem, None
    if isinstance(error, AlgebraError):
        return ErrorCode.INVALID_REQUEST, error.problems[0], None
    return ErrorCode.INTERNAL, Problem("", str(error)), None


def _json(code: ErrorCode, problem: Problem, headers: Mapping[str, str]) -> JSONResponse:
    detail = {
        "code": code,
        "message": problem.what,
        "path": problem.path,
        "hint": problem.expected,
    }
    return JSONResponse({"error": detail}, STATUS[code], headers)


def _allowed(request: Request) -> set[str]:
    """All methods of a path: each has a route of its own, and the framework names those of the first."""
    paths = request.app.openapi()["paths"]
    known = {path for path in paths if compile_path(path)[0].match(request.url.path)}
    return {method.upper() for path in known for method in paths[path]}


def handle_errors(app: FastAPI) -> None:
    """Give all errors of an application the one shape."""

    @app.exception_handler(AustralisError)
    def known(request: Request, error: AustralisError) -> JSONResponse:
        return answer(error)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        problem = Problem(path, str(first["msg"]), "a request as /v1/openapi.json describes it")
        return _json(ErrorCode.INVALID_REQUEST, problem, {})

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, ErrorCode.INVALID_REQUEST)
        headers = dict(error.headers or {})
        if error.status_code == STATUS[ErrorCode.METHOD_NOT_ALLOWED]:
            headers["Allow"] = ", ".join(sorted(_allowed(request))) or headers.get("Allow", "")
        return _json(code, Problem("", str(error.detail)), headers)

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> JSONResponse:
        _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        what = f"failed: {type(error).__name__}"
        return _json(ErrorCode.INTERNAL, Problem("", what, "the log of the service, which says where"), {})
