"""When a request is sent again: at most for so long, each time later, and never if that could do it twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from australis.client.wire import Answer, Request
from australis.errors import ErrorCode, Problem, ServiceError

_REFUSED_FOR_NOW = (429, 502, 503, 504)


@dataclass(frozen=True)
class Backoff:
    """For how long a call is tried in all, and how long its waits are.

    >>> Backoff(first_s=0.1, most_s=5.0).wait_s(3, chance=1.0)
    0.8
    """

    total_s: float = 60.0
    first_s: float = 0.1
    most_s: float = 5.0

    def wait_s(self, failures: int, chance: float) -> float:
        """How long to wait after so many failures before the last; half of it is chance, from 0 to 1."""
        longest = min(self.most_s, self.first_s * 2.0 ** min(failures, 30))
        return longest * (1 + chance) / 2


class Unreachable(Exception):
    """A request that got no answer; `arrived` says whether it may have arrived all the same."""

    def __init__(self, why: str, *, arrived: bool) -> None:
        self.arrived = arrived
        super().__init__(why)


class Attempts:
    """The attempts at one request: decides after each whether there is another, and when."""

    def __init__(self, request: Request, backoff: Backoff, where: str, clock: Callable[[], float]) -> None:
        self._request, self._backoff, self._where, self._clock = request, backoff, where, clock
        self._end, self._failures = clock() + backoff.total_s, 0

    def wait_s(self, outcome: Answer | Unreachable) -> float | None:
        """How long to wait before the next attempt; None if the outcome stands."""
        if isinstance(outcome, Unreachable):
            if outcome.arrived and not self._request.repeatable:
                return None
            after = 0.0
        elif outcome.status in _REFUSED_FOR_NOW:
            after = outcome.error().retry_after_s or 0.0
        else:
            return None
        wait = max(after, self._backoff.wait_s(self._failures, random.random()))
        self._failures += 1
        return wait if self._clock() + wait <= self._end else None

    def result(self, outcome: Answer | Unreachable) -> Answer:
        """The answer, if there is one and it is no error."""
        if isinstance(outcome, Unreachable):
            raise unreachable(self._where, outcome)
        # What was removed by an attempt whose answer was lost is not there any more.
        if self._failures and self._request.method == "DELETE" and outcome.status == 404:
            return Answer(200, outcome.headers, b"{}")
        return outcome.check()


def unreachable(where: str, why: Exception) -> ServiceError:
    """The error for a node that does not answer."""
    problem = Problem(
        where, f"cannot be reached: {why}", "the address of a node that runs: `australis serve`"
    )
    return ServiceError(ErrorCode.NOT_READY, problem)
