"""What the ledger keeps, as values: events of the log, heads of superboxes, files of states."""

from __future__ import annotations

from dataclasses import dataclass

PUSH, TICK, FLUSH, LOAD = "push", "tick", "flush", "load"
"""The kinds of events: tuples on an input, time passing, the end of all streams, a version of a table."""


@dataclass(frozen=True)
class LogEvent:
    """An entry of the log. Its sequence numbers are from `base` up to, not including, `end`."""

    base: int
    end: int
    kind: str
    input: str
    rows: int
    now: int


@dataclass(frozen=True)
class Key:
    """What a push is recognised by if it is repeated: its caller, a text of the caller's choice, a digest."""

    caller: str
    key: str
    digest: str
    """Of all that was pushed: another one under the same key is refused."""


@dataclass(frozen=True)
class Receipt:
    """What came of a push."""

    accepted: int
    rejected: int
    end: int | None
    """The end of the log after it; None if the position of its source showed that the log had it already."""
    is_repeated: bool = False
    """Whether this push has stored nothing, since one before had the same key or position."""


@dataclass(frozen=True)
class Head:
    """How far the trains of a superbox have come, and what makes it emit without tuples.

    That is its next timeout, or a mark if it holds something back.
    """

    seq: int = 0
    version: int = 0
    deadline: int | None = None
    awaits_marks: bool = False


@dataclass(frozen=True)
class StateFile:
    """A file with the state of a box in a partition, or with one of its layers; the lowest comes first."""

    box: str
    partition: int
    name: str
    bytes: int
