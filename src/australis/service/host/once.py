"""Once: calls that must not be repeated, though a caller that got no answer calls again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from australis.errors import ErrorCode, Problem, ServiceError

Result = TypeVar("Result")
KEPT_MOST = 10_000
"""How many answers are remembered, until the service ends."""


class Once:
    """The answers of calls by caller and key.

    >>> once, found = Once(), iter("ab")
    >>> [once.do(("me", "key"), "step", lambda: next(found)) for _ in range(2)]
    ['a', 'a']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], tuple[str, Future[Any]]] = {}

    def do(self, key: tuple[str, str | None], what: str, work: Callable[[], Result]) -> Result:
        """What `work` gives, or gave when it was called with this key; an error is not remembered."""
        caller, name = key
        if name is None:
            return work()
        future: Future[Result] = Future()
        with self._lock:
            before, known = self._known.setdefault((caller, name), (what, future))
            while len(self._known) > KEPT_MOST:
                del self._known[next(iter(self._known))]
        if before != what:
            problem = Problem("Idempotency-Key", f"{name!r} was of another call, {before}", "a new key")
            raise ServiceError(ErrorCode.KEY_REUSED, problem)
        if known is not future:
            earlier: Result = known.result()
            return earlier
        try:
            future.set_result(work())
        except BaseException as error:
            with self._lock:
                self._known.pop((caller, name), None)
            future.set_exception(error)
        return future.result()
