"""What the machines of membership are told, say to each other, and command."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from australis.cluster.identity import Seal
from australis.policy.machines import ENCODE, Count, Name, Natural, Value

CLAIMS_MOST = 24
"""How many claims a letter holds: with their certificates they fit into it."""
SUMMARY_MOST = 200
Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]


class State(StrEnum):
    """What is believed of a node."""

    ALIVE = "alive"
    SUSPECT = "suspect"
    """It has not answered, and may say that it is alive."""
    DEAD = "dead"


RANKS = {State.ALIVE: 0, State.SUSPECT: 1, State.DEAD: 2}
"""Of claims of one incarnation, the one with the higher rank counts."""

# --- claims


class Presence(Value, frozen=True):
    """A node is alive, and can be reached at an address; it has said so itself."""

    name: Name
    host: Name
    port: Port
    incarnation: Count
    seal: Seal


class Doubt(Value, frozen=True):
    """A node did not answer."""

    name: Name
    incarnation: Count


class Death(Value, frozen=True):
    """A node says farewell; from others: it did not answer, and nobody has heard from it since."""

    name: Name
    incarnation: Count


Claim = Presence | Doubt | Death
Claims = Annotated[tuple[Claim, ...], msgspec.Meta(max_length=CLAIMS_MOST)]


def presence_bytes(name: str, host: str, port: int, incarnation: int) -> bytes:
    """What a node signs of its presence."""
    return b"australis presence\n" + ENCODE((name, host, port, incarnation))


# --- messages


class Ping(Value, frozen=True):
    """Are you there?"""

    number: Natural
    digest: Natural
    """Of the living nodes that the sender knows: if the receiver's differs, they compare in full."""
    news: Claims


class Ack(Value, frozen=True):
    """The answer to a ping, or to a probe once the node concerned has answered."""

    number: Natural
    news: Claims


class Probe(Value, frozen=True):
    """Ping another node for the sender, which cannot reach it."""

    number: Natural
    target: Name
    news: Claims


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """What is known of a node, in short."""

    name: Name
    incarnation: Count
    state: State


class Summary(Value, frozen=True):
    """All that the sender knows of nodes after one name, up to another one; an empty name is no limit."""

    after: Annotated[str, msgspec.Meta(max_length=255)]
    until: Annotated[str, msgspec.Meta(max_length=255)]
    entries: Annotated[tuple[Entry, ...], msgspec.Meta(max_length=SUMMARY_MOST)]


class News(Value, frozen=True):
    """Claims that the receiver lacks."""

    claims: Claims


class Wanted(Value, frozen=True):
    """Nodes of which the sender lacks the newest claim."""

    names: Annotated[tuple[Name, ...], msgspec.Meta(max_length=SUMMARY_MOST)]


Message = Ping | Ack | Probe | Summary | News | Wanted

# --- events


class Attested(Value, frozen=True):
    """The host has signed this node's presence, as it was asked to."""

    presence: Presence


class Met(Value, frozen=True):
    """There is a connection with a node."""

    name: Name


class Lost(Value, frozen=True):
    """A connection with a node has ended, and this node did not end it."""

    name: Name


class Leave(Value, frozen=True):
    """This node ends: say farewell."""


class Tick(Value, frozen=True):
    """A period has passed."""


class Late(Value, frozen=True):
    """A ping should have been answered: others are asked to try."""

    number: Natural


class Overdue(Value, frozen=True):
    """Nobody has reached the node that a ping was for."""

    number: Natural


class Expire(Value, frozen=True):
    """A suspicion has lasted for long enough."""

    name: Name
    incarnation: Count


# --- commands


class Attest(Value, frozen=True):
    """Sign this node's presence with an incarnation."""

    incarnation: Count


class Changed(Value, frozen=True):
    """What is believed of a node has changed."""

    name: Name
    host: Name
    port: Port
    incarnation: Count
    state: State


class Forgot(Value, frozen=True):
    """A node has been dead for so long that nothing is known of it any more."""

    name: Name


class Seek(Value, frozen=True):
    """Try the addresses that were given at the start: somebody may be there who is not known to be alive."""


class Pace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast nodes learn of each other, in microseconds."""

    period_us: Count = 1_000_000
    """A node pings another one so often."""
    answer_us: Count = 400_000
    """After how long others are asked to reach a node that has not answered."""
    suspect_us: Count = 4_000_000
    """For how long a node may say that it is alive."""
    forget_us: Count = 3_600_000_000
    """For how long a dead node is remembered, and looked for."""
    helpers: Count = 3
    """How many others are asked to reach a node."""
    revisit: Count = 10
    """A dead node is pinged once in so many periods, in case it was only cut off."""
