"""The messages, events and commands of a placement daemon: values with one form on the wire."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import msgspec

from australis.policy.machines import Amount, Count, Name, Natural, Value

Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=10_000)]
Serial = tuple[Count, Natural]
"""The identity of a move of a site, never used twice: the incarnation that offered it, and a number."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of what values are made of."""


# --- between sites ------------------------------------------------------------------------------------------


class Report(Value, frozen=True):
    """How a site is, and what concerns the receiver: said again and again, so that each may be lost."""

    at: Serial
    """The incarnation, and the number of the report: one that was overtaken is ignored."""
    capacity: Annotated[float, msgspec.Meta(ge=1e-6, le=1e9)]
    kinds: Names | None
    """The kinds of boxes that it can run; None for all."""
    work: Amount
    """Seconds of computing per second that are asked of it, with all that it has promised to take."""
    links: dict[Name, Amount]
    """The bytes per second that its links to neighbours carry at most."""
    used: dict[Name, Amount]
    """The bytes per second that are asked of its links."""
    sends: dict[Name, Amount]
    """The streams that go to the receiver, in tuples per second if nothing were overloaded on the way."""
    reads: dict[Name, str]
    """The streams that come from the receiver, each with the first box downstream that depends on order."""
    giving: Serial | None
    """What it has offered to the receiver, or is giving to it."""
    last: Serial
    """The last serial that it has used."""
    gave: Serial | None
    """The last move that was done."""


class Form(Enum):
    """What happens to boxes."""

    SLIDE = "slide"
    SPLIT = "split"
    UNSPLIT = "unsplit"


class Offer(Value, frozen=True):
    """Will you take this? It is said again until there is an answer."""

    serial: Serial
    form: Form
    boxes: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=10_000)]
    kinds: Names
    """The kinds of the boxes that you would run."""
    work: Amount
    """Seconds of computing per second that it would bring."""
    comes: dict[Name, Amount]
    """Bytes per second of the streams to them, by site."""
    goes: dict[Name, Amount]
    """Bytes per second of the streams from them, by site."""


class Accepted(Value, frozen=True):
    """There is room for it, and it is kept."""

    serial: Serial


class Rejected(Value, frozen=True):
    """It is not taken, and why."""

    serial: Serial
    why: str


Message = Report | Offer | Accepted | Rejected

# --- events -------------------------------------------------------------------------------------------------


class End(Part, frozen=True):
    """A stream that comes to a site or leaves it: its name at all sites, and the site at the other end.

    What applications push or read has this site at the other end.
    """

    stream: Name
    site: Name


class Home(Part, frozen=True):
    """Where a copy belongs: the box that was split, and its site."""

    box: Name
    site: Name


class Runs(Value, frozen=True):
    """What runs here now; to be told at the start and after each change."""

    network: str
    """The boxes here and what they read and emit, in the JSON form of networks; empty if there is nothing."""
    comes: dict[Name, End]
    """By input."""
    goes: dict[Name, End]
    """By output."""
    fixed: Names = ()
    """The boxes that stay, such as the Filters and the merge of a split."""
    copies: dict[Name, Home] = msgspec.field(default_factory=dict)
    """The copies here that may be put together again with what they were split from."""
    divided: dict[Name, tuple[Name, ...]] = msgspec.field(default_factory=dict)
    """The boxes here that are split, with their copies, the last one last."""


class Link(Part, frozen=True):
    """The link to a neighbour, in this direction."""

    width: Amount
    """The bytes per second that it can carry."""
    other: Amount = 0.0
    """The bytes per second that it carries besides the streams of `Runs`."""


class Use(Part, frozen=True):
    """What a box does to a tuple, and its state."""

    tuple_us: Amount
    selectivity: Annotated[tuple[Amount, ...], msgspec.Meta(min_length=1)]
    """The tuples that it emits for one, by port."""
    state_bytes: Amount = 0.0


class Counted(Part, frozen=True):
    """How many tuples at the input of a box have which value of an attribute."""

    attribute: Name
    counts: tuple[tuple[str | int | bool, Amount], ...]


class Measured(Value, frozen=True):
    """What was measured here; told at each tick, at which the site also decides.

    What was not measured is estimated: costs and selectivities by the kind of a box, sizes by the schema.
    """

    rates: dict[Name, Amount]
    """Tuples per second that arrive, by input."""
    boxes: dict[Name, Use]
    links: dict[Name, Link]
    """By neighbour: who is missing is none any more."""
    other_work: Amount = 0.0
    """Seconds of computing per second for anything but the boxes of `Runs`."""
    sizes: dict[Name, Amount] = msgspec.field(default_factory=dict)
    """Bytes of a tuple, by input or `box.port`."""
    values: dict[Name, Counted] = msgspec.field(default_factory=dict)
    """By box."""


class Done(Value, frozen=True):
    """A move of this site is over; what runs here now was told before."""

    serial: Serial
    succeeded: bool = True


class Gone(Value, frozen=True):
    """A neighbour is gone for good."""

    partner: Name


Event = Runs | Measured | Done | Gone

# --- commands -----------------------------------------------------------------------------------------------
# Moves name the streams to hold and the boxes to drain meanwhile. A restart may command one again: the host
# knows it by its serial, and reports `Done`.


class Slide(Value, frozen=True):
    """Move boxes with their state to another site."""

    serial: Serial
    boxes: tuple[str, ...]
    to: str
    way: str
    hold: tuple[str, ...]
    drain: tuple[str, ...]


class Split(Value, frozen=True):
    """Make two of a box, with the copy at another site: it gets what the predicate does not keep."""

    serial: Serial
    box: str
    to: str
    keeps: str
    kept: float
    """The fraction of the tuples that is expected to stay."""
    merge: str
    """Where the outputs are merged: here or there."""
    hold: tuple[str, ...]
    drain: tuple[str, ...]


class Unsplit(Value, frozen=True):
    """Give a copy back to the box that it was split from."""

    serial: Serial
    copy: str
    box: str
    to: str
    hold: tuple[str, ...]
    drain: tuple[str, ...]


class Expect(Value, frozen=True):
    """A site may move this here: what no `Expect` names is not to be admitted."""

    giver: str
    serial: Serial
    form: Form
    boxes: tuple[str, ...]


class Dismiss(Value, frozen=True):
    """Nothing is expected any more under this serial."""

    giver: str
    serial: Serial


Begin = Slide | Split | Unsplit
