"""What the machines of a catalogue are told, and say to each other."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from australis.policy.machines import Count, Name, Natural, Value

DETAIL_MOST = 2000
HOLDINGS_MOST = 200
OWNERS_MOST = 300
Detail = Annotated[str, msgspec.Meta(max_length=DETAIL_MOST)]


class Kind(StrEnum):
    """What a name stands for."""

    QUERY = "query"
    STREAM = "stream"
    """An output, with its schema."""
    PIECE = "piece"
    """A part of a query that runs at this node."""


class Holding(Value, frozen=True):
    """Something that a node has, or had."""

    name: Name
    kind: Kind
    version: Count
    """Of the node's holdings in this life: each change has the next one."""
    detail: Detail = ""
    """A schema, the boxes of a piece: for people, and for other nodes to read."""
    is_gone: bool = False
    moved: str = ""
    """The node that has it now, as far as this one knows."""


# --- messages


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """How much of a node's holdings somebody has: of which life, and up to which version."""

    owner: Name
    life: Count
    until: Natural


class Digest(Value, frozen=True):
    """How much of each node's holdings the sender has."""

    positions: Annotated[tuple[Position, ...], msgspec.Meta(max_length=OWNERS_MOST)]
    is_answer: bool = False


class Delta(Value, frozen=True):
    """The holdings of a node that have changed after one version, up to another one."""

    owner: Name
    life: Count
    after: Natural
    until: Count
    holdings: Annotated[tuple[Holding, ...], msgspec.Meta(max_length=HOLDINGS_MOST)]


Message = Digest | Delta

# --- events


class Announce(Value, frozen=True):
    """This node has something."""

    name: Name
    kind: Kind
    detail: Detail = ""


class Withdraw(Value, frozen=True):
    """This node has something no more."""

    name: Name
    moved: str = ""


class Present(Value, frozen=True):
    """A node is alive."""

    name: Name


class Absent(Value, frozen=True):
    """A node is dead; what it had may come back."""

    name: Name


class Gone(Value, frozen=True):
    """A node has been dead for so long that it is forgotten."""

    name: Name


class Tick(Value, frozen=True):
    """A period has passed."""
