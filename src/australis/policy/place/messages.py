"""What a placement daemon hears, and what it says."""

from __future__ import annotations

from dataclasses import dataclass

from australis.policy.place.moves import Move
from australis.policy.place.slide import Standstill
from australis.policy.place.survey import Survey

# --- events


@dataclass(frozen=True)
class Looked:
    """What is known now."""

    now: float
    survey: Survey


@dataclass(frozen=True)
class Offered:
    """Another site would like to give something away; and what is known now."""

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
    """A move that is over; it did happen, or it could not."""

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
    """Tell a site whether its offer is taken, and why not."""

    target: str
    serial: int
    accepted: bool
    why: str = ""


@dataclass(frozen=True)
class Begin:
    """Do a move: hold some streams, let some boxes run empty, move, and go on."""

    move: Move
    stop: Standstill


Command = Offer | Answer | Begin
