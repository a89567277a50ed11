"""What the machines of names are told, say to each other, and command."""

from __future__ import annotations

from typing import Annotated

import msgspec

from australis.cluster.catalogue import DETAIL_MOST, Kind
from australis.cluster.identity import Seal
from australis.policy.machines import ENCODE, Count, Name, Natural, Value

RECORDS_MOST = 100
VERSIONS_MOST = 200
PATTERN_MOST = 100
OptionalName = Annotated[str, msgspec.Meta(max_length=255)]


class Record(Value, frozen=True):
    """A node has something under a name, or had it; it has said so itself."""

    name: Name
    owner: Name
    kind: Kind
    version: Count
    """A time in microseconds, by the owner's clock: what is said later has a greater one."""
    expires: Count
    """When the record ends, in microseconds since 1970."""
    detail: Annotated[str, msgspec.Meta(max_length=DETAIL_MOST)] = ""
    is_gone: bool = False
    moved: OptionalName = ""
    """The node that has it now, as far as the owner knows."""
    seal: Seal | None = None

    @property
    def key(self) -> tuple[str, str]:
        """A name may have one record from each node."""
        return self.name, self.owner


def record_bytes(record: Record) -> bytes:
    """What a node signs of a record."""
    return b"australis record\n" + ENCODE(msgspec.structs.replace(record, seal=None))


Records = Annotated[tuple[Record, ...], msgspec.Meta(max_length=RECORDS_MOST)]


class Version(msgspec.Struct, frozen=True, forbid_unknown_fields=True, array_like=True):
    """Which record somebody has."""

    name: Name
    owner: Name
    version: Count


Versions = Annotated[tuple[Version, ...], msgspec.Meta(max_length=VERSIONS_MOST)]

# --- messages


class Store(Value, frozen=True):
    """Keep these records."""

    records: Records


class Have(Value, frozen=True):
    """The sender has these records, which the receiver should keep as well."""

    number: Natural
    versions: Versions


class Want(Value, frozen=True):
    """The receiver of `Have` lacks these, and has all others as new as that."""

    number: Natural
    versions: Versions


class Look(Value, frozen=True):
    """Who has a name? Whoever does not know sends it on, once; the answer goes to the asker at once."""

    number: Natural
    name: Name
    asker: Name
    hops: Annotated[int, msgspec.Meta(ge=1, le=2)]


class Answer(Value, frozen=True):
    """The records of a name, as far as the sender has them."""

    number: Natural
    name: Name
    hops: Annotated[int, msgspec.Meta(ge=1, le=2)]
    records: Records


class Scan(Value, frozen=True):
    """Which names that the receiver keeps match a pattern?"""

    number: Natural
    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=PATTERN_MOST)]


class Listing(Value, frozen=True):
    """Some names that match, and whether they are the last ones."""

    number: Natural
    names: Annotated[tuple[tuple[Name, Name, Kind], ...], msgspec.Meta(max_length=VERSIONS_MOST)]
    """Names, owners and kinds."""
    is_last: bool


Message = Store | Have | Want | Look | Answer | Scan | Listing

# --- events


class Publish(Value, frozen=True):
    """This node has something that other participants may know of."""

    name: Name
    kind: Kind
    detail: Annotated[str, msgspec.Meta(max_length=DETAIL_MOST)] = ""


class Retract(Value, frozen=True):
    """This node has something no more."""

    name: Name
    moved: OptionalName = ""


class Signed(Value, frozen=True):
    """The host has signed records, as it was asked to."""

    records: tuple[Record, ...]


class Present(Value, frozen=True):
    """A node is alive."""

    name: Name


class Absent(Value, frozen=True):
    """A node is dead."""

    name: Name


class Ask(Value, frozen=True):
    """Somebody at this node asks for a name, under a number."""

    number: Natural
    name: Name


class Search(Value, frozen=True):
    """Somebody at this node asks for names that match a pattern."""

    number: Natural
    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=PATTERN_MOST)]


class Tick(Value, frozen=True):
    """A period has passed."""


class Slow(Value, frozen=True):
    """A keeper should have answered a question: the others are asked."""

    number: Natural


class TooLate(Value, frozen=True):
    """A question is not answered any more."""

    number: Natural


# --- commands


class Sign(Value, frozen=True):
    """Sign these records."""

    records: tuple[Record, ...]


class Found(Value, frozen=True):
    """The answer to a question: records that are signed and have not expired, after so many hops."""

    number: Natural
    name: Name
    records: tuple[Record, ...]
    hops: Natural


class Matched(Value, frozen=True):
    """The names that match a pattern, with owners and kinds, and whether all nodes have answered."""

    number: Natural
    names: tuple[tuple[str, str, Kind], ...]
    is_whole: bool
