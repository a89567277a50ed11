"""Who is told of each train with its times, such as a tracer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from australis.engine.train.commit import Train
from australis.errors import AustralisError


@dataclass(frozen=True)
class FailedTrain:
    """A train that was given up."""

    superbox: str
    lo: int
    hi: int
    took_us: int
    error: AustralisError


class Observer(Protocol):
    """Is told in the thread of the train, so it must not wait; `inputs` are those that reach the train."""

    def committed(self, train: Train, inputs: frozenset[str]) -> None:
        """A train was committed just now."""

    def failed(self, train: FailedTrain, inputs: frozenset[str]) -> None:
        """A train has failed for good just now."""
