"""A server: what it keeps, what it passes on, which servers it monitors, and what it does when one fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from australis.errors import PolicyError, Problem
from australis.policy.recover.checkpoints import Checkpoints, Safe
from australis.policy.recover.flow import Junction, Noted
from australis.policy.recover.heartbeats import Heartbeats
from australis.policy.recover.positions import Positions


@dataclass(frozen=True)
class ServerArcs:
    """The arcs that a server reads and writes, and the servers at their other ends."""

    name: str
    reads: Mapping[str, str]
    """The server that writes each arc."""
    writes: Mapping[str, str]
    """The server or application that reads each arc."""
    guards: tuple[str, ...] = ()
    """The servers that this one takes over when they fail: each has one such server upstream."""
    k: int = 1
    timeout_s: float = 2.0

    def __post_init__(self) -> None:
        if self.k < 0:
            raise PolicyError(Problem(f"{self.name}.k", f"is {self.k}", "0 or more"))
        if not self.timeout_s > 0:
            raise PolicyError(Problem(f"{self.name}.timeout_s", f"is {self.timeout_s:g}", "above 0"))
        for guarded in self.guards:
            if guarded not in self.writes.values():
                what = f"guards {guarded}, to which it sends nothing"
                raise PolicyError(Problem(self.name, what, "servers downstream"))


# --- what happens


class FlowMessage(NamedTuple):
    """A flow message arrived along an arc; with what was received, and what boxes depend on now."""

    arc: str
    serial: int
    received: Mapping[str, Positions]
    noted: Noted


class Queried(NamedTuple):
    """The writer of an arc asks for this server's array of sequence numbers."""

    arc: str
    received: Positions
    noted: Noted


class Told(NamedTuple):
    """The reader of an arc reports what is safe: the back channel."""

    arc: str
    safe: Safe


class Heard(NamedTuple):
    """A heartbeat of a server downstream arrived."""

    server: str
    now: float


class Beat(NamedTuple):
    """It is time to send a heartbeat, and to check for missing ones."""

    now: float


class Started(NamedTuple):
    """This server starts in place of one that failed."""

    now: float
    life: int


class ReplayWanted(NamedTuple):
    """The reader of an arc was restarted: it wants everything that is kept for it, once."""

    arc: str
    life: int


class Replaying(NamedTuple):
    """The replay of an arc begins."""

    arc: str


# --- what is commanded


class Onward(NamedTuple):
    """Send the flow message along all arcs, after the tuples so far."""

    serial: int


class TellSafe(NamedTuple):
    """Report to the writer of an arc what is safe: the back channel."""

    arc: str
    safe: Safe


class Truncate(NamedTuple):
    """Discard what is safe, in the queue of an arc."""

    arc: str
    safe: Positions


class Heartbeat(NamedTuple):
    """Send a heartbeat to a server upstream."""

    to: str


class TakeOver(NamedTuple):
    """Restart a failed server here; it gets a replay of what is kept for it."""

    server: str


class AskReplay(NamedTuple):
    """Ask the writer of an arc for a replay; take none of its tuples before the replay begins."""

    arc: str
    life: int


class Replay(NamedTuple):
    """Announce the replay of an arc, and send what is kept."""

    arc: str


Command = Onward | TellSafe | Truncate | Heartbeat | TakeOver | AskReplay | Replay


class Server:
    """Passes on flow messages, reports upstream what is safe, and takes over failed servers downstream.

    >>> server = Server(ServerArcs("s2", {"a": "s1"}, {"b": "s3"}, guards=("s3",)))
    >>> server.handle(Told("b", ({"p": 7}, {"p": 4})))
    [Truncate(arc='b', safe={'p': 4})]
    >>> server.handle(FlowMessage("a", 1, {"a": {"p": 8}}, Noted({"b": {"p": 7}}, {"a": {"p": 5}})))
    [Onward(serial=1), TellSafe(arc='a', safe=({'p': 8}, {'p': 5}))]
    >>> server.handle(Beat(3.0))
    [Heartbeat(to='s1'), TakeOver(server='s3')]
    """

    def __init__(self, plan: ServerArcs, now: float = 0.0) -> None:
        self.plan = plan
        self._checkpoints = Checkpoints(plan.k, plan.reads, plan.writes)
        self._flow = Junction(plan.reads)
        self._beats = Heartbeats(plan.guards, plan.timeout_s, now)
        self._life = 0
        self._awaiting: set[str] = set()
        """Arcs whose replay has not begun."""
        self._replayed: dict[str, int] = {}
        """The life of each arc's reader, counted by restarts, that was given a replay."""
        self._handled: dict[type, Callable[[Any], list[Command]]] = {
            FlowMessage: self._flowed,
            Queried: self._queried,
            Told: self._told,
            Heard: self._heard,
            Beat: self._beat,
            Started: self._started,
            ReplayWanted: self._replay_wanted,
            Replaying: self._replaying,
        }

    def handle(self, event: Any) -> list[Command]:
        """The commands that follow from an event."""
        return self._handled[type(event)](event)

    # --- checkpoints

    def _flowed(self, event: FlowMessage) -> list[Command]:
        onward = self._flow.arrived(event.arc, event.serial)
        if onward is None:
            return []
        self._checkpoints.note(event.noted)
        told = [TellSafe(arc, self._safe(arc, event.received[arc])) for arc in self.plan.reads]
        return [Onward(onward), *told]

    def _queried(self, event: Queried) -> list[Command]:
        self._checkpoints.note(event.noted)
        return [TellSafe(event.arc, self._safe(event.arc, event.received))]

    def _safe(self, arc: str, received: Positions) -> Safe:
        found = self._checkpoints.safe(arc, received)
        self._checkpoints.forget()
        return found

    def _told(self, event: Told) -> list[Command]:
        self._checkpoints.told(event.arc, event.safe)
        return [Truncate(event.arc, self._checkpoints.truncation(event.arc))]

    # --- failures

    def _heard(self, event: Heard) -> list[Command]:
        self._beats.heard(event.server, event.now)
        return []

    def _beat(self, event: Beat) -> list[Command]:
        upstream = dict.fromkeys(self.plan.reads.values())
        silent = self._beats.silent(event.now)
        for server in silent:
            self._beats.awaited(server, event.now)
        return [
            *(Heartbeat(server) for server in upstream),
            *(TakeOver(server) for server in silent),
            *(AskReplay(arc, self._life) for arc in sorted(self._awaiting)),
        ]

    def _started(self, event: Started) -> list[Command]:
        self._life = event.life
        self._awaiting = set(self.plan.reads)
        return [AskReplay(arc, event.life) for arc in self.plan.reads]

    def _replaying(self, event: Replaying) -> list[Command]:
        self._awaiting.discard(event.arc)
        return []

    def _replay_wanted(self, event: ReplayWanted) -> list[Command]:
        """Give a reader its replay once per restart, even if the request is repeated."""
        if event.life <= self._replayed.get(event.arc, 0):
            return []
        self._replayed[event.arc] = event.life
        return [Replay(event.arc)]
