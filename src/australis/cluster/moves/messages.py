"""What the two nodes of a move tell each other; everything large is fetched by the node that takes.

Every message may come twice, late, or after a crash of either node: it names its move, and each side knows
what it has done.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from australis.cluster.wire import Incarnation, Token
from australis.policy.machines import Count, Name, Natural, Value

TOPIC = "moves"
PIECE, PARCEL = "piece", "parcel"
"""What can be fetched of a move besides files: its boxes, and the list of files."""
Why = Annotated[str, msgspec.Meta(max_length=2000)]


class Offer(Value, frozen=True):
    """The sender would give boxes: fetch what there is of them, in round after round."""

    move: Token
    round: Count


class Ready(Value, frozen=True):
    """The receiver would take them, and has fetched what there was in a round."""

    move: Token
    round: Count


class Declined(Value, frozen=True):
    """The receiver would not, or cannot take them."""

    move: Token
    why: Why


class Given(Value, frozen=True):
    """The boxes run at the sender no more: fetch the rest, and run them."""

    move: Token


class Taken(Value, frozen=True):
    """The boxes run at the sender now."""

    move: Token


class Dropped(Value, frozen=True):
    """The sender gives them no more: forget what was fetched."""

    move: Token


class Reserve(Value, frozen=True):
    """Keep for another reader what the sender's input has not acknowledged of an output."""

    move: Token
    output: Name
    input: Name
    """The sender's input that reads it now."""
    reader: Name
    """The node and the input that shall read it."""


class Reserved(Value, frozen=True):
    """It is kept; the incarnations of both links, and what the sender's input has acknowledged."""

    move: Token
    incarnation: Incarnation
    yours: Incarnation
    number: Natural


class Reroute(Value, frozen=True):
    """Read an input from where the sender reads it: all that came before a number is in the input."""

    move: Token
    input: Name
    source: Name
    """From where it is read now: an output of the sender."""
    to: Name
    incarnation: Incarnation
    number: Natural


class Rerouted(Value, frozen=True):
    """It is read from there."""

    move: Token


class Release(Value, frozen=True):
    """A reader of an output needs it no more."""

    move: Token
    output: Name
    reader: Name


Letter = (
    Reserve | Reserved | Reroute | Rerouted | Release | Dropped | Offer | Ready | Declined | Given | Taken
)
