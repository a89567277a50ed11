"""How a seed determines settings: how threads are scheduled, and how much fails in a run."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from australis.errors import Problem, SimulationError

UNIFORM, PRIORITIES = "uniform", "priorities"
FAILURES = ("create", "sync", "open", "delete", "move", "commit", "statement")
"""The operations that may fail, each with its own chance."""
AMOUNTS = (0.0, 0.0, 0.0, 0.002, 0.002, 0.01, 0.01, 0.05, 0.2)
"""The typical chances of failure in a run: many runs have few failures, some have many."""


@dataclass(frozen=True)
class Chances:
    """The settings of a run; chances are between 0 and 1, and by default nothing fails."""

    schedule: str = UNIFORM
    stay: float = 0.0
    """In a uniform schedule, the chance that the current thread continues without a choice."""
    change_every: int = 100
    """In a schedule by priorities, how many switch points there are between two changes, on average."""
    step_ns: int = 1_000
    """How much virtual time a switch point takes."""
    crashes: int = 0
    """How many lives a power loss or a kill ends, at most."""
    crash_within: int = 2_000
    """A life that will crash does so at one of its first switch points, up to this one."""
    kill: float = 0.0
    """The share of crashes that end only the process, so that the disk loses nothing."""
    create: float = 0.0
    sync: float = 0.0
    open: float = 0.0
    delete: float = 0.0
    move: float = 0.0
    commit: float = 0.0
    statement: float = 0.0
    again: float = 0.0
    """The chance that an operation fails if the last one of its kind did; the database is one kind."""
    doubt: float = 0.0
    """The share of failed commit syncs that seem undone, although the next life finds the commit done."""
    stall: float = 0.0
    """The chance that an operation of the disk or the database takes long."""
    stall_ms_most: int = 1_000

    def __post_init__(self) -> None:
        if self.schedule not in (UNIFORM, PRIORITIES):
            raise _refusal("schedule", self.schedule, f"{UNIFORM} or {PRIORITIES}")
        for name in ("stay", "kill", *FAILURES, "again", "doubt", "stall"):
            if not 0 <= getattr(self, name) <= 1:
                raise _refusal(name, getattr(self, name), "a chance between 0 and 1")
        for name, least in (("change_every", 1), ("step_ns", 1), ("crashes", 0), ("crash_within", 1)):
            if getattr(self, name) < least:
                raise _refusal(name, getattr(self, name), f"{least} or more")

    def __str__(self) -> str:
        """The settings that differ from the defaults."""
        usual = vars(Chances())
        return ", ".join(f"{name} {value}" for name, value in vars(self).items() if value != usual[name])

    def calm(self) -> Chances:
        """The same schedule, without any failure.

        >>> print(Chances(stay=0.5, crashes=3, sync=0.1).calm())
        stay 0.5
        """
        return Chances(self.schedule, self.stay, self.change_every, self.step_ns)


def _refusal(name: str, value: object, expected: str) -> SimulationError:
    return SimulationError(Problem(f"chances.{name}", f"is {value!r}", expected))


def draw_chances(seed: int, crash_within: int = 2_000) -> Chances:
    """The settings that a seed determines.

    >>> draw_chances(7) == draw_chances(7)
    True
    """
    random = Random(f"chances {seed}")
    amount = random.choice(AMOUNTS)
    return Chances(
        schedule=random.choice((UNIFORM, PRIORITIES)),
        stay=random.choice((0.0, 0.5, 0.9)),
        change_every=random.choice((10, 100, 1_000)),
        # With slow steps, timeouts expire while other threads work.
        step_ns=random.choice((1_000, 1_000, 50_000, 2_000_000)),
        crashes=random.choice((0, 1, 1, 2, 3, 5, 10)),
        crash_within=crash_within,
        kill=random.choice((0.0, 0.0, 0.3, 1.0)),
        create=_chance(random, amount),
        sync=_chance(random, amount),
        open=_chance(random, amount),
        delete=_chance(random, amount),
        move=_chance(random, amount),
        commit=_chance(random, amount),
        statement=_chance(random, amount),
        again=random.choice((0.0, 0.5, 0.9)),
        doubt=random.choice((0.0, 0.0, 0.5)),
        stall=_chance(random, 0.02),
        stall_ms_most=random.choice((10, 1_000, 60_000)),
    )


def _chance(random: Random, amount: float) -> float:
    """About an amount, or 0 in every second run: a failure may hide another, so some runs lack it."""
    return round(2 * amount * random.random(), 4) * random.choice((0, 1))
