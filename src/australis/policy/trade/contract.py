"""What participants agree on in advance, contracts; and what they move, tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from australis.errors import PolicyError, Problem
from australis.policy.machines import Count, Name


class Task(NamedTuple):
    """A piece of work, with its load."""

    id: Name
    load: Count = 1
    kind: str = ""
    hosts: frozenset[str] | None = None
    """The only participants that may run it; None: all."""


@dataclass(frozen=True)
class Contract:
    """The prices at which one participant may move load to another; the other direction has its own.

    >>> Contract("mit", "isp", low=8, high=6)
    Traceback (most recent call last):
    australis.errors.PolicyError: mit-isp: its prices are from 8 to 6; expected a range
    """

    giver: str
    taker: str
    low: int
    high: int
    """Per unit of load, in the smallest unit of money."""
    begin: int = 0
    end: int | None = None
    """The time at which it expires, in microseconds; tasks then stay where they are."""
    kinds: frozenset[str] | None = None
    """The only kinds of tasks that it covers; None: all."""
    moves_on: bool = True
    """Whether the taker may move the tasks further."""

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise PolicyError(Problem(self.id, f"its prices are from {self.low} to {self.high}", "a range"))
        if self.giver == self.taker:
            raise PolicyError(Problem(self.id, "is with itself", "two participants"))

    @property
    def id(self) -> str:
        """The giver and the taker."""
        return f"{self.giver}-{self.taker}"

    def holds(self, now: int) -> bool:
        """Whether it is in force."""
        return self.begin <= now and (self.end is None or now < self.end)

    def allowed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Those of some tasks that it allows to be moved."""
        kinds, taker = self.kinds, self.taker
        if kinds is not None:
            tasks = (task for task in tasks if task.kind in kinds)
        return (task for task in tasks if task.hosts is None or taker in task.hosts)


def fixed(giver: str, taker: str, price: int) -> Contract:
    """A contract with one price."""
    return Contract(giver, taker, price, price)
