"""The messages, events and commands of a server: values with one form on the wire."""

from __future__ import annotations

from typing import Annotated

import msgspec

from australis.policy.machines import Count, Name, Natural, Value
from australis.policy.recover.flow import Noted

Reached = dict[Name, Natural]
"""The last number of each path."""
LEVELS_MOST = 100

# --- between servers ----------------------------------------------------------------------------------------


class Alive(Value, frozen=True):
    """A heartbeat, to those that the server reads from."""


class Secured(Value, frozen=True):
    """What is safe on an arc, at the levels 0 to k: the back channel."""

    arc: Name
    safe: Annotated[tuple[Reached, ...], msgspec.Meta(min_length=1, max_length=LEVELS_MOST)]


class Query(Value, frozen=True):
    """The writer of an arc asks for the reader's array of sequence numbers."""

    arc: Name


class Ready(Value, frozen=True):
    """The writer of an arc has begun a life in which it was asked for nothing: said until it is."""

    arc: Name
    life: Count


class Wanted(Value, frozen=True):
    """The reader of an arc wants everything that is kept for it, and then what follows."""

    arc: Name
    life: Count
    request: Count
    """Counts the requests of a server: one that is repeated has no second effect."""
    received: Reached | None
    """What it has; None if it begins with nothing, as one does that took the place of a failed one."""


class Gap(Value, frozen=True):
    """What the reader had when it asked, and what is kept for it, do not meet."""

    arc: Name
    life: Count
    request: Count
    base: Reached
    """Up to here nothing is kept."""


Message = Alive | Secured | Query | Ready | Wanted | Gap

# --- events -------------------------------------------------------------------------------------------------


class Flowed(Value, frozen=True):
    """A flow message has passed all tuples before it; a source sends one, along no arc."""

    arc: str
    serial: int
    received: dict[Name, Reached]
    noted: Noted


class Noting(Value, frozen=True):
    """The answer to `Note`."""

    arc: Name
    received: Reached
    noted: Noted


class Opening(Value, frozen=True):
    """The answer to `Open`: what was received along an arc."""

    arc: Name
    received: Reached


class Replaying(Value, frozen=True):
    """The replay of an arc begins, by a life of its writer."""

    arc: Name
    life: Count
    request: Count


class Ticked(Value, frozen=True):
    """It is time to send a heartbeat, and to check for missing ones."""


class Asking(Value, frozen=True):
    """It is time to query the readers of all arcs."""


Event = Flowed | Noting | Opening | Replaying | Ticked | Asking

# --- commands -----------------------------------------------------------------------------------------------


class Onward(Value, frozen=True):
    """Send the flow message along all arcs, after the tuples so far."""

    serial: int


class Truncate(Value, frozen=True):
    """Discard what is safe, in the queue of an arc."""

    arc: str
    safe: Reached


class Note(Value, frozen=True):
    """Report what was received along an arc, and what boxes depend on now."""

    arc: str


class Open(Value, frozen=True):
    """Report what was received along an arc."""

    arc: str


class Replay(Value, frozen=True):
    """Announce the replay of an arc to a life of its reader, send what is kept, and then what follows."""

    arc: str
    life: int
    request: int
    base: Reached
    """Up to here nothing is kept, because nobody will ever need it."""


class Take(Value, frozen=True):
    """From now on take what a life of the writer sends along an arc because of this request, nothing else."""

    arc: str
    life: int
    request: int


class TakeOver(Value, frozen=True):
    """Start another life of a silent server here, with nothing."""

    server: str


class Rebuild(Value, frozen=True):
    """Begin another life of this server with nothing: its snapshot was too old."""


Command = Onward | Truncate | Note | Open | Replay | Take | TakeOver | Rebuild
