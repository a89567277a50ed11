"""Who calls: the token in a header of each call, and how many calls there are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from pyarrow import flight

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access import Access, Caller, Role
from australis.service.tracing import Span, Traces

SERVICE = "arrow.flight.protocol.FlightService"
KEY = "australis"
"""The name of the middleware."""


class CallerMiddleware(flight.ServerMiddleware):  # type: ignore[misc]
    """What a call presents; it is checked by the call, which can say what is wrong."""

    def __init__(self, authorization: str | None, span: Span, leave: Callable[[], None]) -> None:
        self.authorization, self.span, self._leave = authorization, span, leave
        self.is_counted = False

    def call_completed(self, exception: Exception | None) -> None:
        """The call is over, also one whose client has gone before its stream began."""
        if self.is_counted:
            self._leave()
        self.span.end(failure=str(exception).partition("\n")[0] if exception is not None else "")


class Callers(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Gives every call its caller, and counts the calls: each has a thread of its own."""

    def __init__(self, access: Access, most: int, traces: Traces) -> None:
        self._access, self._most, self._traces = access, most, traces
        self._lock, self._calls = threading.Lock(), 0

    def start_call(self, info: Any, headers: Mapping[str, Any]) -> CallerMiddleware:
        given = {name.lower(): _text(values[0]) for name, values in headers.items() if values}
        method = info.method.name.title().replace("_", "")
        facts = {"rpc.system": "grpc", "rpc.service": SERVICE, "rpc.method": method}
        span = self._traces.begin(f"Flight {method}", given, facts)
        return CallerMiddleware(given.get("authorization"), span, self._leave)

    def caller(self, context: Any, role: Role) -> Caller:
        """The caller of a call, whose role includes another one."""
        middleware = context.get_middleware(KEY)
        caller = self._access.caller(middleware.authorization)
        middleware.span.note({"enduser.id": caller.name})
        caller.check(role)
        return caller

    def span(self, context: Any) -> Span:
        """A call, as it is traced."""
        found = context.get_middleware(KEY).span
        assert isinstance(found, Span)
        return found

    def enter(self, context: Any) -> None:
        """Count a call that may last until it is over; raises if there are too many."""
        with self._lock:
            if self._calls >= self._most:
                hint = "the same in a moment; flight.calls is the limit"
                problem = Problem("", f"{self._calls} calls of Flight are under way", hint)
                raise ServiceError(ErrorCode.TOO_MANY, problem, 1)
            self._calls += 1
        context.get_middleware(KEY).is_counted = True

    def _leave(self) -> None:
        with self._lock:
            self._calls -= 1

    @property
    def calls(self) -> int:
        """How many calls are under way that may last."""
        return self._calls


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
