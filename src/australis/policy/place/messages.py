"""The events and commands of a placement daemon."""

from __future__ import annotations

from dataclasses import dataclass

from australis.policy.place.moves import Move
from australis.policy.place.slide import Standstill
from australis.policy.place.survey import Survey

# --- events


@dataclass(frozen=True)
class Looked:
    """A new survey."""

    now: float
    survey: Survey


@dataclass(frozen=True)
class Offered:
    """Another site offers to give something away; with a new survey."""

    now: float
    sender: str
    serial: int
    move: Move
    survey: Survey


@dataclass(frozen=True)
class Answered:
    """Whether the other site takes what was offered."""

    now: float
    sender: str
    serial: int
    accepted: bool


@dataclass(frozen=True)
class Done:
    """A move is over; it was done, or it failed."""

    now: float
    move: Move
    succeeded: bool = True


Event = Looked | Offered | Answered | Done

# --- commands


@dataclass(frozen=True)
class Offer:
    """Ask a site whether it takes something."""

    target: str
    serial: int
    move: Move


@dataclass(frozen=True)
class Answer:
    """Tell a site whether its offer is accepted, and if not, why."""

    target: str
    serial: int
    accepted: bool
    why: str = ""


@dataclass(frozen=True)
class Begin:
    """Do a move: hold some streams, drain some boxes, move, and continue."""

    move: Move
    stop: Standstill


Command = Offer | Answer | Begin
