"""What peers tell each other, what happens to them, and what they command: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from australis.policy.hotspot.levels import Loads


class Migration(NamedTuple):
    """Which migration: those of a source are numbered."""

    source: str
    serial: int


class Task(NamedTuple):
    """What a component does for one application: the streams that it reads, and those that it writes."""

    id: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    stateful: bool = True
    """One without state reads one stream, and gives its tuples the numbers of what they are made of."""


class Writer(NamedTuple):
    """Who writes a stream, and how often that has moved."""

    peer: str
    moves: int = 0


class Route(NamedTuple):
    """Where the tuples of a stream go: the peer, since which version, behind which tuple."""

    version: int
    home: str
    last: int | None = 0
    """Nothing while the switch is on its way."""
    moves: int = 0
    """How often the writer has moved."""


class Holding(NamedTuple):
    """All that a component's execution is, but for its state: what moves with it."""

    operator: str
    tasks: tuple[Task, ...]
    upstreams: Mapping[str, Writer]
    """Who writes each stream, as far as is known."""
    versions: Mapping[str, int]
    """How often the reader of each stream has moved."""
    routes: Mapping[str, Route]
    """Where each stream that it writes goes."""


# --- messages between peers


class LoadUpdate(NamedTuple):
    """A peer offers operators, and had such loads at a time of its own clock."""

    operators: tuple[str, ...]
    loads: Loads
    at: float


class Unregister(NamedTuple):
    """A peer offers operators no longer."""

    operators: tuple[str, ...]


class Decision(NamedTuple):
    """Phase 1: the receiver should move its execution of an operator to a target."""

    serial: int
    operator: str
    target: str


class Request(NamedTuple):
    """Phase 2: the receiver should make ready to take over."""

    migration: Migration
    holding: Holding
    loads: Loads


class Reply(NamedTuple):
    """Phase 3: the target is ready for tuples."""

    migration: Migration


class Refusal(NamedTuple):
    """Phase 3 as well: the target has another migration, or more load than the source."""

    migration: Migration


class UpdateRequest(NamedTuple):
    """Phase 4: the writer of a stream should send what follows to a new home."""

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
    """Phase 6: everything up to the last tuples is processed, and this has come of it."""

    migration: Migration
    holding: Holding
    payload: Any


class Taken(NamedTuple):
    """The target has the state: the source can forget it."""

    migration: Migration


class Cancel(NamedTuple):
    """The source has given up: the target need not wait."""

    migration: Migration


class Introduce(NamedTuple):
    """The sender writes a stream now, which the receiver reads."""

    stream: str
    moves: int


class Introduced(NamedTuple):
    """The receiver is known to write it."""

    stream: str
    moves: int


# --- what happens to a peer


class Received(NamedTuple):
    """A message has come."""

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
    """The load of this peer was looked at."""

    now: float
    loads: Loads


class Look(NamedTuple):
    """It is time to compare the loads of others."""

    now: float


class Tick(NamedTuple):
    """Some time has passed: what got no answer is said again."""


class Members(NamedTuple):
    """These peers are there now."""

    peers: tuple[str, ...]


class Offers(NamedTuple):
    """These are the operators that this peer offers now."""

    operators: tuple[str, ...]


class Failed(NamedTuple):
    """A peer seems to have failed; it need not be true."""

    peer: str


class Switched(NamedTuple):
    """The tuples of a stream go to their new home since a version, behind the last one."""

    migration: Migration
    stream: str
    version: int
    last: int


class Drained(NamedTuple):
    """The tuples that `Drain` asked for are processed."""

    migration: Migration


# --- what a peer commands


class Send(NamedTuple):
    """Send a message; it may be lost, late, or there twice."""

    to: str
    message: Any


class Spawn(NamedTuple):
    """Make an execution: tasks without state process what comes, others keep it until their state comes."""

    migration: Migration
    holding: Holding


class Drop(NamedTuple):
    """Forget what was spawned, and the tuples that it kept."""

    migration: Migration


class Switch(NamedTuple):
    """Send the further tuples of a stream to a new home, and say `Switched`."""

    migration: Migration
    stream: str
    version: int
    home: str


class Drain(NamedTuple):
    """Say `Drained` when the streams are processed up to these tuples."""

    migration: Migration
    last: Mapping[str, int]


class Ship(NamedTuple):
    """Send a `State` with what the execution has come to, which reads no more."""

    migration: Migration
    to: str
    holding: Holding


class Install(NamedTuple):
    """Go on from a state that came."""

    migration: Migration
    holding: Holding
    payload: Any


class Kill(NamedTuple):
    """Forget an execution: it has moved."""

    migration: Migration
    holding: Holding


Command = Send | Spawn | Drop | Switch | Drain | Ship | Install | Kill
