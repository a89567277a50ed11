"""Messages between peers, their events and their commands: values with one form on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from australis.policy.hotspot.levels import Loads
from australis.policy.machines import Count, Name, Natural, Value


class Migration(NamedTuple):
    """The identity of a migration: those of a source are numbered."""

    source: Name
    serial: Count


class Task(NamedTuple):
    """What a component does for one application: the streams that it reads, and those that it writes."""

    id: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    stateful: bool = True
    """A task without state reads one stream, and its output tuples keep the numbers of their inputs."""


class Writer(NamedTuple):
    """The writer of a stream, and how often it has moved."""

    peer: Name
    moves: Natural = 0


class Route(NamedTuple):
    """Where the tuples of a stream go: the peer, since which version, after which tuple."""

    version: Natural
    home: Name
    last: Natural | None = 0
    """None while the switch is in progress."""
    moves: Natural = 0
    """How often the writer has moved."""
    before: str = ""
    """Where they went before: a migration that is undone sends them there again."""


class Holding(NamedTuple):
    """All of a component's execution except its state: what moves with it."""

    operator: str
    tasks: tuple[Task, ...]
    upstreams: Mapping[str, Writer]
    """The writer of each stream, as far as known."""
    versions: Mapping[str, int]
    """How often the reader of each stream has moved."""
    routes: Mapping[str, Route]
    """Where each of its output streams goes."""


# --- messages between peers


class LoadUpdate(Value, frozen=True):
    """A peer offers operators, and had these loads at a time of its own clock, in microseconds."""

    operators: tuple[str, ...]
    loads: Loads
    at: Natural


class Unregister(Value, frozen=True):
    """A peer no longer offers some operators."""

    operators: tuple[str, ...]


class Decision(Value, frozen=True):
    """Phase 1: the receiver should move its execution of an operator to a target."""

    serial: int
    operator: str
    target: str


class Request(Value, frozen=True):
    """Phase 2: the receiver should prepare to take over."""

    migration: Migration
    holding: Holding
    loads: Loads


class Reply(Value, frozen=True):
    """Phase 3: the target is ready for tuples."""

    migration: Migration


class Refusal(Value, frozen=True):
    """Phase 3, refused: the target has another migration, or more load than the source."""

    migration: Migration


class UpdateRequest(Value, frozen=True):
    """Phase 4: the writer of a stream should send later tuples to a new home."""

    migration: Migration
    stream: str
    version: int
    home: str


class UpdateReply(Value, frozen=True):
    """Phase 5: it does, and this was the last tuple before."""

    migration: Migration
    stream: str
    version: int
    last: int


class State(Value, frozen=True):
    """Phase 6: everything up to the last tuples is processed, and this is the resulting state."""

    migration: Migration
    holding: Holding
    payload: bytes
    """What the host made of it; a large state is in files, which this names."""


class Taken(Value, frozen=True):
    """The target has the state: the source can drop it."""

    migration: Migration


class Shipped(Value, frozen=True):
    """The source has sent the state, and asks whether the target has it."""

    migration: Migration


class Wanted(Value, frozen=True):
    """The target does not have the state: it was lost."""

    migration: Migration


class Cancel(Value, frozen=True):
    """The source has given up: the target should stop waiting."""

    migration: Migration


class Elsewhere(Value, frozen=True):
    """The writer of a stream has moved on: it is asked there."""

    stream: str
    peer: Name


class Introduce(Value, frozen=True):
    """The sender now writes a stream that the receiver reads."""

    stream: str
    moves: int


class Introduced(Value, frozen=True):
    """The sender knows that the receiver writes it."""

    stream: str
    moves: int


# --- events of a peer


class Assigned(Value, frozen=True):
    """An execution begins here, with an application."""

    holding: Holding


class Writes(Value, frozen=True):
    """A stream begins here, at its source, and goes to a home."""

    stream: str
    home: str


class Measured(Value, frozen=True):
    """The load of this peer was measured."""

    loads: Loads


class Look(Value, frozen=True):
    """It is time to compare the loads of other peers."""


class Tick(Value, frozen=True):
    """Some time has passed: unanswered messages are repeated."""


class Members(Value, frozen=True):
    """The current members."""

    peers: tuple[str, ...]


class Offers(Value, frozen=True):
    """The operators that this peer now offers."""

    operators: tuple[str, ...]


class Failed(Value, frozen=True):
    """A peer seems to have failed; that may be wrong."""

    peer: str


class Switched(Value, frozen=True):
    """The tuples of a stream go to their new home since a version, after the last one."""

    migration: Migration
    stream: str
    version: int
    last: int


class Packed(Value, frozen=True):
    """The state that `Ship` asked for."""

    migration: Migration
    payload: bytes


class Drained(Value, frozen=True):
    """The tuples that `Drain` asked for are processed."""

    migration: Migration


# --- commands of a peer


class Spawn(Value, frozen=True):
    """Start an execution: stateless tasks process what arrives, others buffer it for their state."""

    migration: Migration
    holding: Holding


class Drop(Value, frozen=True):
    """Discard what was spawned, and the tuples that it buffered."""

    migration: Migration


class Switch(Value, frozen=True):
    """Send later tuples of a stream to a new home, and report `Switched`."""

    migration: Migration
    stream: str
    version: int
    home: str


class Drain(Value, frozen=True):
    """Report `Drained` when the streams are processed up to these tuples."""

    migration: Migration
    last: Mapping[str, int]


class Ship(Value, frozen=True):
    """Pack the state of the execution, which reads no more, and report `Packed`."""

    migration: Migration
    holding: Holding


class Install(Value, frozen=True):
    """Continue from a state that arrived."""

    migration: Migration
    holding: Holding
    payload: bytes


class Kill(Value, frozen=True):
    """Discard an execution: it has moved."""

    migration: Migration
    holding: Holding


Message = (
    LoadUpdate
    | Unregister
    | Decision
    | Request
    | Reply
    | Refusal
    | UpdateRequest
    | UpdateReply
    | State
    | Taken
    | Shipped
    | Wanted
    | Cancel
    | Elsewhere
    | Introduce
    | Introduced
)
Event = Assigned | Writes | Measured | Look | Tick | Members | Offers | Failed | Switched | Packed | Drained
