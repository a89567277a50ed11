"""The events and decisions of policies, in order; a replay reports every difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

from australis.errors import Problem, SimulationError


class PolicyMachine(Protocol):
    """A policy: events in, commands out."""

    def handle(self, event: Any) -> Sequence[Any]:
        """The commands that follow from an event."""


class JournalEntry(NamedTuple):
    """One event, and the resulting commands."""

    time: float
    who: str
    event: Any
    commands: tuple[Any, ...]


class Journal:
    """The events and decisions of a run."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []

    def write(self, time: float, who: str, event: Any, commands: Sequence[Any]) -> None:
        """Record an event and its commands."""
        self.entries.append(JournalEntry(time, who, event, tuple(commands)))

    def replay(self, machines: Mapping[str, PolicyMachine]) -> int:
        """Give new machines the same events; returns how many there were, if they decide the same."""
        for number, entry in enumerate(self.entries):
            found = tuple(machines[entry.who].handle(entry.event))
            if found != entry.commands:
                raise _differs(number, entry, f"decided {found}", f"{entry.commands}")
        return len(self.entries)

    def compare(self, other: Journal) -> int:
        """The number of entries, if both journals are the same."""
        for number, (ours, theirs) in enumerate(zip_longest(self.entries, other.entries)):
            if ours != theirs:
                raise _differs(number, ours or theirs, f"is {theirs}", f"{ours}")
        return len(self.entries)


def _differs(number: int, entry: JournalEntry | None, what: str, expected: str) -> SimulationError:
    where = f"journal[{number}]" + (f" at {entry.time:g}, {entry.who}" if entry else "")
    return SimulationError(Problem(where, what, expected))
