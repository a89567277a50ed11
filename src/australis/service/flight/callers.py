"""Who calls: the token in a header of each call, and how many calls there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyarrow import flight

from australis.errors import ErrorCode, Problem, ServiceError
from australis.service.access import Access, Caller, Role

KEY = "australis"
"""The name of the middleware."""


class CallerMiddleware(flight.ServerMiddleware):  # type: ignore[misc]
    """What a call presents; it is checked by the call, which can say what is wrong."""

    def __init__(self, authorization: str | None) -> None:
        self.authorization = authorization


class Callers(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    """Gives every call its caller, and counts the calls: each has a thread of its own."""

    def __init__(self, access: Access, most: int) -> None:
        self._access, self._most = access, most
        self._lock, self._calls = threading.Lock(), 0

    def start_call(self, info: Any, headers: Mapping[str, Any]) -> CallerMiddleware:
        given = next((values for name, values in headers.items() if name.lower() == "authorization"), ())
        first = next(iter(given), None)
        return CallerMiddleware(first.decode("latin-1") if isinstance(first, bytes) else first)

    def caller(self, context: Any, role: Role) -> Caller:
        """The caller of a call, whose role includes another one."""
        middleware = context.get_middleware(KEY)
        caller = self._access.caller(middleware.authorization)
        caller.check(role)
        return caller

    def enter(self) -> None:
        """Count a call that may last; raises if there are too many."""
        with self._lock:
            if self._calls >= self._most:
                hint = "the same in a moment; flight.calls is the limit"
                problem = Problem("", f"{self._calls} calls of Flight are under way", hint)
                raise ServiceError(ErrorCode.TOO_MANY, problem, 1)
            self._calls += 1

    def leave(self) -> None:
        """Count it no longer."""
        with self._lock:
            self._calls -= 1

    @property
    def calls(self) -> int:
        """How many calls are under way that may last."""
        return self._calls

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call in the block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()
