"""What a participant has: its tasks, their load, and its money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from australis.errors import PolicyError, Problem
from australis.policy.trade.contract import Task
from australis.policy.trade.cost import CostCurve


@dataclass(frozen=True)
class Settings:
    """How a participant trades; times are microseconds."""

    period: int = 2_000_000
    """The period between rounds of offers, and between answers to collected offers (the paper's Ω)."""
    phase: int = 0
    """The offset of its own times in a period, so that not all participants act at once."""
    patience: int | None = None
    """How long to wait for an answer before it is taken as lost; None: messages are never lost."""
    notify: bool = False
    """Whether partners report when they can take what they rejected."""
    retry: int | None = None
    """How long to wait after a round without a movement; None: a period."""
    fee: int = 0
    """The cost of moving a task."""

    def __post_init__(self) -> None:
        least = {"period": 1, "phase": 0, "patience": 1, "retry": 1, "fee": 0}
        for name, bound in least.items():
            found = getattr(self, name)
            if found is not None and found < bound:
                raise PolicyError(Problem(f"settings.{name}", f"is {found}", f"{bound} or more"))

    def next_moment(self, now: int) -> int:
        """The next of its own times to act after a time.

        >>> Settings(period=2000, phase=300).next_moment(4300)
        6300
        """
        return now + self.period - (now - self.phase) % self.period


class Holding:
    """The tasks of a participant, and its balance: what it was paid less what it paid."""

    def __init__(self, id_: str, cost: CostCurve, tasks: Iterable[Task], settings: Settings) -> None:
        self.id = id_
        self.cost = cost
        self.settings = settings
        self.tasks: dict[str, Task] = {}
        self.bound: set[str] = set()
        """Tasks that a contract forbids to move further."""
        self.load = 0
        self.balance = 0
        for task in tasks:
            self.add(task)

    def add(self, task: Task, *, bound: bool = False) -> None:
        """Add a task."""
        if task.load < 1 or task.id in self.tasks:
            raise PolicyError(Problem(f"{self.id}.{task.id}", "cannot come", "a new task with some load"))
        self.tasks[task.id] = task
        self.load += task.load
        if bound:
            self.bound.add(task.id)

    def resize(self, id_: str, load: int) -> None:
        """The load of a task has changed."""
        task = self.tasks[id_]
        self.load += load - task.load
        self.tasks[id_] = task._replace(load=load)

    def drop(self, id_: str) -> None:
        """Remove a task, if it is here."""
        task = self.tasks.pop(id_, None)
        if task is not None:
            self.load -= task.load
            self.bound.discard(id_)
