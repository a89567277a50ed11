"""Operations: what takes longer than a call should, with its progress, its result, and a way to cancel it."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from australis.errors import AustralisError, ErrorCode, Problem, ServiceError

_log = logging.getLogger(__name__)
AT_ONCE = 4
"""How many operations run at a time; others wait."""
KEPT_MOST = 200
"""How many finished ones are remembered."""


class OperationState(StrEnum):
    """How far an operation has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self in (OperationState.DONE, OperationState.FAILED, OperationState.CANCELLED)


@dataclass
class Operation:
    """One operation."""

    kind: str
    caller: str
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    state: OperationState = OperationState.WAITING
    result: Any = None
    error: AustralisError | None = None
    stage: Callable[[], str] = lambda: ""
    """What it is doing now."""
    cancel: Callable[[], None] | None = None
    """What gives it up; None if that cannot be done."""
    is_cancelled: bool = False
    has_turn: bool = False
    """Whether it is the one that changes the network now."""
    over: threading.Event = field(default_factory=threading.Event)
    ended: Future[None] = field(default_factory=Future)
    """The same for those who wait without a thread."""

    def check_wanted(self) -> None:
        """Raise if it was cancelled, and has not begun yet."""
        if self.is_cancelled:
            raise ServiceError(ErrorCode.CONFLICT, Problem("", "was cancelled before it began"))


class Operations:
    """Runs operations, and remembers the last ones."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, "australis-operation")
        self._known: dict[str, Operation] = {}
        self._lock = threading.Lock()

    def start(self, operation: Operation, work: Callable[[], Any]) -> Operation:
        """Start an operation; `work` gives its result."""
        with self._lock:
            over = [name for name, each in self._known.items() if each.state.is_over]
            for name in over[: max(0, len(over) - KEPT_MOST + 1)]:
                del self._known[name]
            self._known[operation.id] = operation
        self._pool.submit(self._run, operation, work)
        return operation

    def get(self, name: str) -> Operation:
        """The operation of an id."""
        with self._lock:
            found = self._known.get(name)
        if found is None:
            problem = Problem("operation", f"there is no operation {name!r}", "one of GET /v1/operations")
            raise ServiceError(ErrorCode.NOT_FOUND, problem)
        return found

    def __iter__(self) -> Iterator[Operation]:
        with self._lock:
            return iter(list(self._known.values()))

    def cancel(self, name: str) -> Operation:
        """Ask an operation to end; one that is over stays as it is."""
        operation = self.get(name)
        if operation.state.is_over:
            return operation
        if operation.cancel is None:
            problem = Problem("operation", f"a {operation.kind} cannot be cancelled", "to wait for its end")
            raise ServiceError(ErrorCode.CONFLICT, problem)
        operation.is_cancelled = True
        operation.cancel()
        return operation

    def close(self) -> None:
        """Wait for the operations that run; those that wait do not begin."""
        self._pool.shutdown(cancel_futures=True)

    def _run(self, operation: Operation, work: Callable[[], Any]) -> None:
        operation.state = OperationState.RUNNING
        try:
            operation.check_wanted()
            operation.result = work()
            operation.state = OperationState.DONE
        except AustralisError as error:
            is_cancelled = operation.is_cancelled
            operation.error = error
            operation.state = OperationState.CANCELLED if is_cancelled else OperationState.FAILED
        except Exception as error:
            _log.error("the operation %s (%s) failed", operation.id, operation.kind, exc_info=error)
            problem = Problem("", f"failed: {type(error).__name__}", "the log of the service")
            operation.error = ServiceError(ErrorCode.INTERNAL, problem)
            operation.state = OperationState.FAILED
        finally:
            operation.over.set()
            operation.ended.set_result(None)
