"""What a check has found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How good something is: a node runs with warnings, and does not with a failure."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: what it is like, and what to do unless it is well."""

    what: str
    status: Status
    told: str
    advice: str = ""

    def lines(self) -> Iterator[str]:
        """As text.

        >>> print(*Finding("memory", Status.WARNING, "1 GB is free", "2 GB or more").lines(), sep="\\n")
        warning  memory   1 GB is free
                          -> 2 GB or more
        """
        yield f"{self.status:<8} {self.what:<8} {self.told}"
        if self.advice:
            yield f"{'':<18}-> {self.advice}"

    def as_dict(self) -> dict[str, str]:
        """As a dictionary, for programs."""
        return {"what": self.what, "status": self.status.value, "told": self.told, "advice": self.advice}


def well(what: str, told: str) -> Finding:
    """What needs nothing to be done."""
    return Finding(what, Status.OK, told)


def warning(what: str, told: str, advice: str) -> Finding:
    """What a node runs with, though not as well as it could."""
    return Finding(what, Status.WARNING, told, advice)


def failure(what: str, told: str, advice: str) -> Finding:
    """What keeps a node from running."""
    return Finding(what, Status.FAILED, told, advice)
