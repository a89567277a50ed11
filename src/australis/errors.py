"""The errors of Australis: one root, one class per room, with fields rather than prose.

A `Problem` says where it is, what failed, what was expected and, for a text, at which position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

EXCERPT_LENGTH = 100
"""How many characters of a long line a message shows, around the position."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, at one place.

    >>> print(Problem("soldiers.across.predicates[0]", "unknown attribute 'poz'", "one of sid, time, pos",
    ...               text="poz >= 30", position=0))
    soldiers.across.predicates[0]: unknown attribute 'poz'; expected one of sid, time, pos
        poz >= 30
        ^
    """

    path: str
    what: str
    expected: str = ""
    text: str = ""
    position: int | None = None

    def __str__(self) -> str:
        head = f"{self.path}: {self.what}" if self.path else self.what
        if self.expected:
            head += f"; expected {self.expected}"
        return head + self._excerpt()

    def _excerpt(self) -> str:
        if self.position is None:
            return ""
        start = self.text.rfind("\n", 0, self.position) + 1
        line = self.text[start:].split("\n", 1)[0]
        column = self.position - start
        first = max(0, column - EXCERPT_LENGTH // 2) if len(line) > EXCERPT_LENGTH else 0
        before = ("..." if first else "") + line[first:column]
        after = line[column : first + EXCERPT_LENGTH] + ("..." if len(line) > first + EXCERPT_LENGTH else "")
        # A tab stays one, so that the caret stays below its character however wide tabs are.
        blank = re.sub(r"[^\t]", " ", before)
        return f"\n    {before}{after}\n    {blank}^"

    def under(self, path: str) -> Problem:
        """The same problem, with `path` put before its own."""
        joiner = "" if not self.path or self.path.startswith("[") else "."
        return replace(self, path=f"{path}{joiner}{self.path}")

    def as_dict(self) -> dict[str, object]:
        """The fields that are set, for `--json`."""
        fields = vars(self)
        return {name: value for name, value in fields.items() if value not in ("", None)}


class AustralisError(Exception):
    """The root: everything that Australis raises on purpose."""


class AlgebraError(AustralisError):
    """A schema, an expression, a box or a network that has no meaning; holds every problem found."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[AlgebraError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)

    def under(self, path: str) -> AlgebraError:
        """The same error with `path` put before the path of every problem."""
        return type(self)(problem.under(path) for problem in self.problems)


class ExpressionError(AlgebraError):
    """A text that is not an expression of the whitelisted subset, or that does not fit its schema."""


class NetworkError(AlgebraError):
    """A network that is not well formed: loops, unconnected ports, unknown names."""


class FormError(AlgebraError):
    """A JSON or YAML text that is not a network of a known version."""


class ProblemError(AustralisError):
    """An error that is one problem; it can be pickled, since it travels from workers to the driver."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))

    def __reduce__(self) -> tuple[type[Self], tuple[Problem]]:
        return type(self), (self.problem,)


class KernelError(ProblemError):
    """A state that is damaged or of another kernel, or a user's aggregate that broke its contract."""

    def under(self, path: str) -> KernelError:
        """The same error, with `path` put before the path of its problem."""
        return type(self)(self.problem.under(path))


class PolicyError(ProblemError):
    """An input that no policy can decide about: a plan that no tuple gets through, an infinite load."""


class SimulationError(ProblemError):
    """A virtual world that cannot exist, or a run of it that cannot continue."""


class EngineError(ProblemError):
    """A failure of the real world: no Java, a file that cannot be written, a damaged file."""


class TryLater(EngineError):
    """What may succeed when it is tried again, after `after_s` seconds where the other side said so."""

    after_s: float = 0.0

    def __init__(self, problem: Problem, after_s: float = 0.0) -> None:
        super().__init__(problem)
        self.after_s = after_s


class ClusterError(ProblemError):
    """A name, an identity or a link between nodes that cannot be used, or a message that is refused."""


class ErrorCode(StrEnum):
    """What kind of refusal or failure an answer of the service is; clients decide by it what to do."""

    INVALID_REQUEST = "invalid_request"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    CONFLICT = "conflict"
    WOULD_LOSE = "would_lose"
    """A change would lose states or tuples, and the request does not accept that."""
    GONE = "gone"
    REVISION_MISMATCH = "revision_mismatch"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    INVALID_NETWORK = "invalid_network"
    INVALID_TUPLES = "invalid_tuples"
    KEY_REUSED = "key_reused"
    """An idempotency key came with another payload than the first time."""
    TOO_MANY = "too_many"
    NOT_READY = "not_ready"
    STOPPING = "stopping"
    INTERNAL = "internal"


class ServiceError(ProblemError):
    """A request that the service refuses, or cannot serve now; `retry_after_s` is when to try again."""

    def __init__(self, code: ErrorCode, problem: Problem, retry_after_s: float | None = None) -> None:
        self.code, self.retry_after_s = code, retry_after_s
        super().__init__(problem)

    def __reduce__(self) -> tuple[type[Self], tuple[ErrorCode, Problem, float | None]]:  # type: ignore[override]
        return type(self), (self.code, self.problem, self.retry_after_s)
