"""What goes over the wire: requests and answers as values, and an error of the service as an exception."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from australis.errors import ErrorCode, Problem, ServiceError

Result = TypeVar("Result")

ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"
KEY = "Idempotency-Key"
NEXT = "Australis-Next"
"""The header that says from which number to read on."""
MISSED = "Australis-Missed"
"""The header that says which numbers are not kept any more, as FROM-TO."""


@dataclass(frozen=True)
class Request:
    """One call of the API, as a value; it can be sent again if `repeatable`."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    repeatable: bool = True
    """Whether it may be sent again though it may have arrived: a call without an effect, or with a key."""

    @classmethod
    def get(cls, path: str, params: Mapping[str, Any]) -> Request:
        """A request for something; parameters that are None are left out."""
        return cls("GET", path, {name: _text(value) for name, value in params.items() if value is not None})

    @classmethod
    def of(
        cls, method: str, path: str, body: object = None, *, repeatable: bool = True, **params: Any
    ) -> Request:
        """A request with a body of JSON, if any; parameters that are None are left out."""
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": JSON}
        given = {name: _text(value) for name, value in params.items() if value is not None}
        return cls(method, path, given, headers, content, repeatable)


@dataclass(frozen=True)
class Answer:
    """What came back: a status, headers with names in lower case, and a body."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The body as JSON."""
        try:
            return json.loads(self.content)
        except ValueError as error:
            what = f"answered {self.status} with what is no JSON: {error}"
            raise ServiceError(
                ErrorCode.INTERNAL, Problem("", what, "the address of an Australis node")
            ) from None

    def table(self) -> pa.Table:
        """The body as an Arrow table."""
        try:
            with pa.ipc.open_stream(self.content) as reader:
                return reader.read_all()
        except (pa.ArrowException, OSError) as error:
            what = f"answered with what is no Arrow stream: {error}"
            raise ServiceError(ErrorCode.INTERNAL, Problem("", what, "an Australis node")) from None

    def check(self) -> Answer:
        """Raise the error that it is, if it is one."""
        if self.status >= 400:
            raise self.error()
        return self

    def error(self) -> ServiceError:
        """The error that it is."""
        try:
            told = json.loads(self.content)["error"]
            if isinstance(told, dict):
                return error_of(told, self._retry_after_s)
        except (ValueError, TypeError, KeyError):
            # It is not the service that answered, but something in between.
            pass
        what = f"answered {self.status}: {self.content[:200].decode(errors='replace')}"
        return ServiceError(
            CODES.get(self.status, ErrorCode.INTERNAL),
            Problem("", what, "the address of an Australis node"),
            self._retry_after_s,
        )

    @property
    def _retry_after_s(self) -> float | None:
        try:
            return float(self.headers["retry-after"])
        except (KeyError, ValueError):
            # The node does not say, so the caller waits as long as it would have.
            return None


CODES: Mapping[int, ErrorCode] = {
    400: ErrorCode.INVALID_REQUEST,
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    409: ErrorCode.CONFLICT,
    413: ErrorCode.TOO_LARGE,
    429: ErrorCode.TOO_MANY,
    502: ErrorCode.NOT_READY,
    503: ErrorCode.NOT_READY,
    504: ErrorCode.NOT_READY,
}
"""What a status means where no error of the service comes with it."""

Steps = Generator[Request, Answer, Result]
"""A call of the client: yields requests, is sent their answers, and returns the result."""


def error_of(told: Mapping[str, Any], retry_after_s: float | None = None) -> ServiceError:
    """An error as the service describes it, in HTTP and in Flight.

    >>> error = error_of({"code": "too_many", "message": "waits", "path": "n.a", "hint": "less"}, 2.0)
    >>> error.code.value, str(error.problem), error.retry_after_s
    ('too_many', 'n.a: waits; expected less', 2.0)
    """
    try:
        code = ErrorCode(told.get("code", ""))
    except ValueError:
        # A code that only a newer node knows.
        code = ErrorCode.INTERNAL
    after = told.get("retry_after_s", retry_after_s)
    path, what = str(told.get("path") or ""), str(told.get("message") or code.value)
    problem = Problem(path, what.removeprefix(f"{path}: "), str(told.get("hint") or ""))
    return ServiceError(code, problem, None if after is None else float(after))


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
