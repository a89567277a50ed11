"""One feed: a thread that works, starts again after a wait when something failed, and tells how it goes."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from australis.errors import AustralisError, TryLater

_log = logging.getLogger(__name__)
_RATE_S = 10.0
"""The seconds over which a rate is measured."""
FIRST_S, LONGEST_S = 0.5, 60.0
"""The waits between two attempts: the first, and the longest."""


class Direction(StrEnum):
    """Whether a feed brings tuples or takes them."""

    INPUT = "input"
    OUTPUT = "output"


class FeedState(StrEnum):
    """What a feed is doing."""

    ABSENT = "absent"
    """The network has no such input or output."""
    RUNNING = "running"
    WAITING = "waiting"
    """Something failed that may pass; it is tried again."""
    FAILED = "failed"
    """Something failed that trying again would not mend: it waits for `restart`."""
    PAUSED = "paused"
    ENDED = "ended"
    """A source came to its end."""


@dataclass(frozen=True)
class FeedStatus:
    """How a feed goes."""

    name: str
    direction: Direction
    address: str
    state: FeedState
    since: datetime
    """When it came into this state."""
    problem: str | None = None
    """What failed last, while it waits or has failed."""
    position: str | None = None
    """How far it has come: a source's own words, or the number after an output's last tuple."""
    tuples: int = 0
    """Tuples since the service started."""
    per_s: float = 0.0
    restarts: int = 0
    """How often it was tried again since the service started."""


class Rate:
    """Tuples per second over the last seconds.

    >>> now = iter((0.0, 0.0, 5.0, 5.0))
    >>> rate = Rate(lambda: next(now))
    >>> rate.add(100)
    >>> rate.per_s
    20.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._seen = clock, deque[tuple[float, int]]()
        self._began = clock()

    def add(self, tuples: int) -> None:
        now = self._clock()
        self._seen.append((now, tuples))
        self._forget(now)

    @property
    def per_s(self) -> float:
        now = self._clock()
        self._forget(now)
        over = min(_RATE_S, max(now - self._began, 1.0))
        return sum(tuples for _, tuples in list(self._seen)) / over

    def _forget(self, now: float) -> None:
        while self._seen and self._seen[0][0] < now - _RATE_S:
            try:
                self._seen.popleft()
            except IndexError:
                # Another thread was faster.
                return


class Feed(ABC):
    """A feed at work; every method but those of its thread may be called by any thread.

    `before` is the feed whose place it takes: it begins when that one has ended.
    """

    retries_all = True
    """Whether it is tried again whatever failed; else only what may pass."""

    def __init__(self, name: str, direction: Direction, address: str, before: Feed | None = None) -> None:
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._rate: Rate = before._rate if before else Rate()
        start = before.status if before else FeedStatus(name, direction, address, FeedState.WAITING, _now())
        self._status = replace(start, state=FeedState.WAITING, since=_now(), problem=None)
        self._before = before
        self._thread = threading.Thread(target=self._work, name=f"feed-{name}", daemon=True)

    # --- from outside

    @property
    def status(self) -> FeedStatus:
        """How it goes now."""
        with self._lock:
            return replace(self._status, per_s=round(self._rate.per_s, 3))

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Let it end, as soon as what is under way is committed; returns at once."""
        self._ended.set()
        self._wake_up()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # --- its thread

    @abstractmethod
    def _attempt(self) -> None:
        """Work until the end of the source, or until `end` was called."""

    @abstractmethod
    def _wake_up(self) -> None:
        """Let whatever the attempt waits for return."""

    def _work(self) -> None:
        if self._before is not None:
            self._before.join()
            self._before = None
        wait_s = FIRST_S
        while not self._ended.is_set():
            tuples = self.status.tuples
            try:
                self._change(FeedState.RUNNING)
                self._attempt()
                self._change(FeedState.ENDED)
                return
            except Exception as error:
                if self._ended.is_set():
                    # What fails because it is to end is no news.
                    _log.debug("%s ends: %s", self, error)
                    break
                if self.status.tuples > tuples:
                    wait_s = FIRST_S
                if not self._note(error):
                    return
                self._ended.wait(max(wait_s, error.after_s if isinstance(error, TryLater) else 0.0))
                wait_s = min(wait_s * 2, LONGEST_S)
                with self._lock:
                    self._status = replace(self._status, restarts=self._status.restarts + 1)

    def _note(self, error: Exception) -> bool:
        """Tell of a failure; returns whether to try again."""
        is_known = isinstance(error, AustralisError | OSError)
        again = isinstance(error, TryLater) or (self.retries_all and is_known)
        self._change(FeedState.WAITING if again else FeedState.FAILED, str(error))
        _log.warning(
            "%s %s: %s", self, "is tried again" if again else "has failed", error, exc_info=not is_known
        )
        return again

    def _change(self, state: FeedState, problem: str | None = None) -> None:
        with self._lock:
            # While the first tuples after a failure are awaited, what failed is still worth knowing.
            known = self._status.problem if state is FeedState.RUNNING else problem
            self._status = replace(self._status, state=state, since=_now(), problem=known)

    def _count(self, tuples: int, position: str) -> None:
        self._rate.add(tuples)
        with self._lock:
            known = self._status
            self._status = replace(known, tuples=known.tuples + tuples, position=position, problem=None)

    def __str__(self) -> str:
        return f"the feed of the {self._status.direction} {self._status.name}"


def _now() -> datetime:
    return datetime.now(UTC)
