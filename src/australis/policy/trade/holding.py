"""What a participant has: its tasks, their load, and its money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from australis.errors import PolicyError, Problem
from australis.policy.trade.contract import Task
from australis.policy.trade.cost import CostCurve


@dataclass(frozen=True)
class Settings:
    """How a participant trades; times are milliseconds."""

    period: int = 2000
    """Between two rounds of offers, and between two answers to what was offered meanwhile (the paper's Ω)."""
    phase: int = 0
    """Where in a period its own moments lie, so that not all participants act at once."""
    patience: int | None = None
    """How long an answer is waited for before it is taken as lost; None: messages do not get lost."""
    notify: bool = False
    """Whether partners say when they can take what they rejected."""
    retry: int | None = None
    """How long to wait after a round in which nobody took anything; None: a period."""
    fee: int = 0
    """What it costs to move a task."""

    def __post_init__(self) -> None:
        least = {"period": 1, "phase": 0, "patience": 1, "retry": 1, "fee": 0}
        for name, bound in least.items():
            found = getattr(self, name)
            if found is not None and found < bound:
                raise PolicyError(Problem(f"settings.{name}", f"is {found}", f"{bound} or more"))

    def next_moment(self, now: int) -> int:
        """The next of its own moments after a time.

        >>> Settings(period=2000, phase=300).next_moment(4300)
        6300
        """
        return now + self.period - (now - self.phase) % self.period


class Holding:
    """The tasks of a participant; what it has been paid, less what it has paid."""

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
        """Have one more."""
        if task.load < 1 or task.id in self.tasks:
            raise PolicyError(Problem(f"{self.id}.{task.id}", "cannot come", "a new task with some load"))
        self.tasks[task.id] = task
        self.load += task.load
        if bound:
            self.bound.add(task.id)

    def drop(self, id_: str) -> None:
        """Have one less, if it is here."""
        task = self.tasks.pop(id_, None)
        if task is not None:
            self.load -= task.load
            self.bound.discard(id_)
