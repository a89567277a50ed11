"""A server: a machine that knows what it must keep, which servers it monitors, and what to do when one fails.

A life of a server that was replaced is fenced: whoever has heard of a later one refuses its letters, and
takes none of its tuples, since each replay names the lives of both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import msgspec

from australis.errors import PolicyError, Problem
from australis.policy.machines import Machine, Refuse, Say, Started
from australis.policy.recover import messages as m
from australis.policy.recover.checkpoints import Checkpoints
from australis.policy.recover.flow import Junction, Noted
from australis.policy.recover.heartbeats import Heartbeats
from australis.policy.recover.positions import farthest


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
    timeout_us: int = 2_000_000

    def __post_init__(self) -> None:
        if not 0 <= self.k < m.LEVELS_MOST:
            raise PolicyError(Problem(f"{self.name}.k", f"is {self.k}", f"0 to {m.LEVELS_MOST - 1}"))
        if not self.timeout_us > 0:
            raise PolicyError(Problem(f"{self.name}.timeout_us", f"is {self.timeout_us}", "above 0"))
        for guarded in self.guards:
            if guarded not in self.writes.values():
                what = f"guards {guarded}, to which it sends nothing"
                raise PolicyError(Problem(self.name, what, "servers downstream"))
        # What follows from arcs does not depend on their order.
        object.__setattr__(self, "reads", dict(sorted(self.reads.items())))
        object.__setattr__(self, "writes", dict(sorted(self.writes.items())))


class ServerState(msgspec.Struct, forbid_unknown_fields=True):
    """What survives a restart."""

    known: dict[str, list[dict[str, int]]]
    moments: list[Noted]
    saved: dict[str, int]
    heard: dict[str, int]
    failed: list[str]
    truncated: dict[str, dict[str, int]]
    sessions: dict[str, tuple[int, int]]
    asked: dict[str, int]
    opened: dict[str, int]
    awaiting: list[str]
    fresh: list[str]
    gaps: dict[str, dict[str, int]]


class Server(Machine):
    """Passes on flow messages, reports upstream what is safe, and takes over failed servers downstream.

    >>> server = Server(ServerArcs("s2", {"a": "s1"}, {"b": "s3"}, guards=("s3",)))
    >>> server.handle(Started(), 0)
    [Open(arc='a')]
    >>> [each.kind for each in server.handle(m.Opening("a", {}), 0)]
    ['Wanted']
    >>> server.handle(m.Ticked(), 3_000_000)[-2:]
    [TakeOver(server='s3'), Open(arc='a')]
    """

    POLICY = "recover"
    MESSAGES: ClassVar[Any] = m.Message
    EVENTS: ClassVar[Any] = m.Event | Started
    STATE = ServerState
    SETUP = ServerArcs

    def __init__(self, plan: ServerArcs, incarnation: int = 1) -> None:
        super().__init__(plan.name, incarnation)
        self.plan = plan
        self._checkpoints = Checkpoints(plan.k, plan.reads, plan.writes)
        self._flow = Junction(plan.reads)
        self._beats = Heartbeats(plan.guards, plan.timeout_us)
        self._truncated: dict[str, dict[str, int]] = {arc: {} for arc in plan.writes}
        self._sessions: dict[str, tuple[int, int]] = {}
        """By arc: the life of the reader to which this life sends, and its request."""
        self._asked = dict.fromkeys(plan.reads, 0)
        self._opened: dict[str, int] = {}
        """The life of each arc's writer from which this server takes."""
        self._awaiting: set[str] = set()
        """Arcs whose replay has not begun."""
        self._fresh = set(plan.reads)
        """Arcs along which nothing was received, not even before a restart."""
        self._gaps: dict[str, dict[str, int]] = {}
        """By arc: what its writer says that it keeps no more, to be compared with what was received."""

    # --- as a machine

    @classmethod
    def of(cls, name: str, setup: ServerArcs, incarnation: int) -> Self:
        """A server with its arcs."""
        return cls(setup, incarnation)

    def setup(self) -> ServerArcs:
        """Its arcs."""
        return self.plan

    def state(self) -> ServerState:
        """What it knows of its arcs and of the servers around it."""
        beats, checkpoints = self._beats, self._checkpoints
        return ServerState(
            checkpoints.known,
            list(checkpoints.moments),
            self._flow.saved,
            beats.heard_at,
            sorted(beats.failed),
            self._truncated,
            self._sessions,
            self._asked,
            self._opened,
            sorted(self._awaiting),
            sorted(self._fresh),
            self._gaps,
        )

    def resume(self, state: ServerState) -> None:
        """Continue from a state."""
        self._checkpoints.resume(state.known, state.moments)
        self._flow.saved, self._truncated = state.saved, state.truncated
        self._beats.heard_at, self._beats.failed = state.heard, set(state.failed)
        self._sessions, self._asked, self._opened = state.sessions, state.asked, state.opened
        self._awaiting, self._fresh, self._gaps = set(state.awaiting), set(state.fresh), state.gaps

    def partners(self) -> Set[str]:
        """The servers that it reads from and writes to."""
        return {*self.plan.reads.values(), *self.plan.writes.values()}

    def decide(self, event: Any, now: int) -> list[Any]:
        """What to do about an event of the host."""
        return _ABOUT[type(event)](self, event, now)

    def hear(self, sender: str, message: Any, now: int) -> list[Any]:
        """What to do about a message; each arc is spoken of by the server at its other end."""
        arcs = self.plan.reads if isinstance(message, m.Query | m.Ready | m.Gap) else self.plan.writes
        if not isinstance(message, m.Alive) and arcs.get(message.arc) != sender:
            return [Refuse("arc")]
        return _HEARD[type(message)](self, sender, message, now)

    # --- checkpoints

    def _flowed(self, event: m.Flowed, now: int) -> list[Any]:
        if event.arc not in self.plan.reads and (event.arc or self.plan.reads):
            return [Refuse("arc")]
        onward = self._flow.arrived(event.arc, event.serial)
        if onward is None:
            return []
        self._checkpoints.note(event.noted)
        told = [self._secured(arc, event.received.get(arc, {})) for arc in self.plan.reads]
        return [m.Onward(onward), *told]

    def _noting(self, event: m.Noting, now: int) -> list[Any]:
        if event.arc not in self.plan.reads:
            return [Refuse("arc")]
        self._checkpoints.note(event.noted)
        return [self._secured(event.arc, event.received)]

    def _secured(self, arc: str, received: Mapping[str, int]) -> Say:
        found = self._checkpoints.safe(arc, received)
        self._checkpoints.forget()
        return Say(self.plan.reads[arc], m.Secured(arc, tuple(map(dict, found))))

    def _told(self, sender: str, message: m.Secured, now: int) -> list[Any]:
        if len(message.safe) != self.plan.k + 1:
            return [Refuse("levels")]
        self._checkpoints.told(message.arc, message.safe)
        safe = farthest(self._truncated[message.arc], self._checkpoints.truncation(message.arc))
        self._truncated[message.arc] = safe
        return [m.Truncate(message.arc, safe)]

    def _asking(self, _: m.Asking, now: int) -> list[Any]:
        return [Say(reader, m.Query(arc)) for arc, reader in self.plan.writes.items()]

    # --- failures

    def _started(self, _: Started, now: int) -> list[Any]:
        """Connections are new: nothing was asked, and all arcs are to be asked for."""
        self._beats.begin(now)
        self._sessions = {}
        return [*self._ready(), *(command for arc in self.plan.reads for command in self._ask(arc))]

    def _ready(self) -> list[Say]:
        """Say that nothing was asked, if this may be a surprise: a first life is asked anyway."""
        if self.incarnation == 1:
            return []
        writes = self.plan.writes.items()
        return [Say(to, m.Ready(arc, self.incarnation)) for arc, to in writes if arc not in self._sessions]

    def _ask(self, arc: str) -> list[Any]:
        self._awaiting.add(arc)
        self._asked[arc] += 1
        return [m.Open(arc)]

    def _ticked(self, _: m.Ticked, now: int) -> list[Any]:
        upstream = dict.fromkeys(self.plan.reads.values())
        silent = self._beats.silent(now)
        for server in silent:
            self._beats.heard(server, now)
        return [
            *(Say(server, m.Alive()) for server in upstream),
            *self._ready(),
            *(m.TakeOver(server) for server in silent),
            *(m.Open(arc) for arc in sorted(self._awaiting)),
        ]

    def _alive(self, sender: str, message: m.Alive, now: int) -> list[Any]:
        self._beats.heard(sender, now)
        return []

    # --- the beginning of an arc

    def _is_ready(self, sender: str, message: m.Ready, now: int) -> list[Any]:
        arc = message.arc
        if arc in self._awaiting or message.life <= self._opened.get(arc, 0):
            return []
        return self._ask(arc)

    def _opening(self, event: m.Opening, now: int) -> list[Any]:
        arc = event.arc
        if arc not in self._awaiting:
            return [Refuse("late")]
        if _lacks(event.received, self._gaps.pop(arc, {})):
            return [m.Rebuild()]
        received = None if arc in self._fresh else event.received
        wanted = m.Wanted(arc, self.incarnation, self._asked[arc], received)
        return [Say(self.plan.reads[arc], wanted)]

    def _wanted(self, sender: str, message: m.Wanted, now: int) -> list[Any]:
        """Give a reader its replay once per request, unless there is a gap."""
        arc, request = message.arc, (message.life, message.request)
        if request <= self._sessions.get(arc, (0, 0)):
            return []
        gone = self._truncated[arc]
        if message.received is not None and _lacks(message.received, gone):
            return [Say(sender, m.Gap(arc, *request, gone))]
        self._sessions[arc] = request
        return [m.Replay(arc, *request, gone)]

    def _replaying(self, event: m.Replaying, now: int) -> list[Any]:
        arc = event.arc
        if arc in self.plan.reads and arc not in self._awaiting and event.life > self._opened.get(arc, 0):
            # The writer began another life, and then had a request that was meant for the one before.
            return self._ask(arc)
        if arc not in self._awaiting or event.request != self._asked[arc]:
            return [Refuse("late")]
        self._awaiting.discard(arc)
        self._fresh.discard(arc)
        self._opened[arc] = event.life
        return [m.Take(arc, event.life, event.request)]

    def _gap(self, sender: str, message: m.Gap, now: int) -> list[Any]:
        arc = message.arc
        asked = self.incarnation, self._asked[arc]
        if arc not in self._awaiting or arc in self._fresh or (message.life, message.request) != asked:
            return [Refuse("late")]
        # More may have come since it asked, and that may be why its writer keeps less.
        self._gaps[arc] = message.base
        return [m.Open(arc)]


def _lacks(received: Mapping[str, int], base: Mapping[str, int]) -> bool:
    return any(number > received.get(path, 0) for path, number in base.items())


_ABOUT: dict[type, Callable[[Server, Any, int], list[Any]]] = {
    Started: Server._started,
    m.Flowed: Server._flowed,
    m.Noting: Server._noting,
    m.Opening: Server._opening,
    m.Replaying: Server._replaying,
    m.Ticked: Server._ticked,
    m.Asking: Server._asking,
}

_HEARD: dict[type, Callable[[Server, str, Any, int], list[Any]]] = {
    m.Alive: Server._alive,
    m.Secured: Server._told,
    m.Query: lambda self, sender, message, now: [m.Note(message.arc)],
    m.Ready: Server._is_ready,
    m.Wanted: Server._wanted,
    m.Gap: Server._gap,
}
