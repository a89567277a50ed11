"""Messages between peers, their events and their commands: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from australis.policy.hotspot.levels import Loads


class Migration(NamedTuple):
    """The identity of a migration: those of a source are numbered."""

    source: str
    serial: int


class Task(NamedTuple):
    """What a component does for one application: the streams that it reads, and those that it writes."""

    id: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    stateful: bool = True
    """A task without state reads one stream, and its output tuples keep the numbers of their inputs."""


class Writer(NamedTuple):
    """The writer of a stream, and how often it has moved."""

    peer: str
    moves: int = 0


class Route(NamedTuple):
    """Where the tuples of a stream go: the peer, since which version, after which tuple."""

    version: int
    home: str
    last: int | None = 0
    """None while the switch is in progress."""
    moves: int = 0
    """How often the writer has moved."""


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


class LoadUpdate(NamedTuple):
    """A peer offers operators, and had these loads at a time of its own clock."""

    operators: tuple[str, ...]
    loads: Loads
    at: float


class Unregister(NamedTuple):
    """A peer no longer offers some operators."""

    operators: tuple[str, ...]


class Decision(NamedTuple):
    """Phase 1: the receiver should move its execution of an operator to a target."""

    serial: int
    operator: str
    target: str


class Request(NamedTuple):
    """Phase 2: the receiver should prepare to take over."""

    migration: Migration
    holding: Holding
    loads: Loads


class Reply(NamedTuple):
    """Phase 3: the target is ready for tuples."""

    migration: Migration


class Refusal(NamedTuple):
    """Phase 3, refused: the target has another migration, or more load than the source."""

    migration: Migration


class UpdateRequest(NamedTuple):
    """Phase 4: the writer of a stream should send later tuples to a new home."""

    migration: Migration
    stream: str
    version: int
    home: str


class UpdateReply(NamedTuple):
    """Phase 5: it does, and this was the last tuple before."""

    migration: Migration
    stream: str
    version: int
    last: int


class State(NamedTuple):
    """Phase 6: everything up to the last tuples is processed, and this is the resulting state."""

    migration: Migration
    holding: Holding
    payload: Any


class Taken(NamedTuple):
    """The target has the state: the source can drop it."""

    migration: Migration


class Cancel(NamedTuple):
    """The source has given up: the target should stop waiting."""

    migration: Migration


class Introduce(NamedTuple):
    """The sender now writes a stream that the receiver reads."""

    stream: str
    moves: int


class Introduced(NamedTuple):
    """The sender knows that the receiver writes it."""

    stream: str
    moves: int


# --- events of a peer


class Received(NamedTuple):
    """A message has arrived."""

    sender: str
    message: Any


class Assigned(NamedTuple):
    """An execution begins here, with an application."""

    holding: Holding


class Writes(NamedTuple):
    """A stream begins here, at its source, and goes to a home."""

    stream: str
    home: str


class Measured(NamedTuple):
    """The load of this peer was measured."""

    now: float
    loads: Loads


class Look(NamedTuple):
    """It is time to compare the loads of other peers."""

    now: float


class Tick(NamedTuple):
    """Some time has passed: unanswered messages are repeated."""


class Members(NamedTuple):
    """The current members."""

    peers: tuple[str, ...]


class Offers(NamedTuple):
    """The operators that this peer now offers."""

    operators: tuple[str, ...]


class Failed(NamedTuple):
    """A peer seems to have failed; that may be wrong."""

    peer: str


class Switched(NamedTuple):
    """The tuples of a stream go to their new home since a version, after the last one."""

    migration: Migration
    stream: str
    version: int
    last: int


class Drained(NamedTuple):
    """The tuples that `Drain` asked for are processed."""

    migration: Migration


# --- commands of a peer


class Send(NamedTuple):
    """Send a message; it may be lost, delayed or duplicated."""

    to: str
    message: Any


class Spawn(NamedTuple):
    """Start an execution: stateless tasks process what arrives, others buffer it for their state."""

    migration: Migration
    holding: Holding


class Drop(NamedTuple):
    """Discard what was spawned, and the tuples that it buffered."""

    migration: Migration


class Switch(NamedTuple):
    """Send later tuples of a stream to a new home, and report `Switched`."""

    migration: Migration
    stream: str
    version: int
    home: str


class Drain(NamedTuple):
    """Report `Drained` when the streams are processed up to these tuples."""

    migration: Migration
    last: Mapping[str, int]


class Ship(NamedTuple):
    """Send a `State` with the state of the execution, which reads no more."""

    migration: Migration
    to: str
    holding: Holding


class Install(NamedTuple):
    """Continue from a state that arrived."""

    migration: Migration
    holding: Holding
    payload: Any


class Kill(NamedTuple):
    """Discard an execution: it has moved."""

    migration: Migration
    holding: Holding


Command = Send | Spawn | Drop | Switch | Drain | Ship | Install | Kill
