"""A peer: everything that it decides about hot spots and migrations, events in and commands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from australis.policy.hotspot import messages as m
from australis.policy.hotspot import state as kept
from australis.policy.hotspot.arrival import Arrival
from australis.policy.hotspot.departure import Departure
from australis.policy.hotspot.directory import Directory
from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.introduction import Introduction
from australis.policy.hotspot.levels import Criteria, Levels
from australis.policy.hotspot.redirection import Redirection
from australis.policy.hotspot.reporter import Reporter
from australis.policy.hotspot.ring import Ring
from australis.policy.machines import Machine, Refuse, Started, put, state_of


@dataclass(frozen=True)
class Manners:
    """How a peer behaves."""

    criteria: Criteria = field(default_factory=Criteria)
    levels: Levels = field(default_factory=Levels)
    remind_us: int = 300_000_000
    """How long a peer whose level does not change stays silent."""
    silence: int = 15
    """How often silent peers are checked before they are removed."""
    patience: int = 5
    """How many ticks a target has to reply."""


class Peer(Machine):
    """Reports its own load, compares those of others, and takes part in one migration at a time.

    >>> peer = Peer("b", ("filter",), ["a", "b"])
    >>> [told] = peer.handle(m.Measured(m.Loads(3.0, 1.0, 0.5)), 60_000_000)
    >>> told.to, told.kind
    ('a', 'LoadUpdate')
    >>> peer.handle(m.Measured(m.Loads(3.1, 1.0, 0.5)), 120_000_000)
    []
    """

    POLICY = "hotspot"
    MESSAGES: ClassVar[Any] = m.Message
    EVENTS: ClassVar[Any] = m.Event | Started
    STATE = kept.PeerState
    SETUP = kept.PeerSetup
    ASKS = True

    def __init__(
        self,
        name: str,
        offers: tuple[str, ...],
        peers: Iterable[str],
        manners: Manners | None = None,
        incarnation: int = 1,
    ) -> None:
        super().__init__(name, incarnation)
        manners = manners or Manners()
        self._given = (offers, tuple(peers), manners)
        self.holdings = Holdings()
        self.ring = Ring(self._given[1])
        self._met = set(self._given[1])
        """All peers that have ever been members: the last words of one that has left still count."""
        self._criteria = manners.criteria
        self.reporter = Reporter(offers, manners.levels, manners.remind_us)
        self.directory = Directory(name, manners.criteria, manners.silence)
        self.departure = Departure(name, self.holdings, manners.patience)
        self.arrival = Arrival(self.holdings, manners.patience)
        self._redirection = Redirection(self.holdings)
        self._introduction = Introduction(self.holdings)
        self._heard: dict[str, int] = {}
        """The last decision of each peer; an older one, or the same again, is void."""

    # --- as a machine

    @classmethod
    def of(cls, name: str, setup: kept.PeerSetup, incarnation: int) -> Self:
        """A peer with a configuration."""
        manners = Manners(setup.criteria, setup.levels, setup.remind_us, setup.silence, setup.patience)
        return cls(name, setup.offers, setup.peers, manners, incarnation)

    def setup(self) -> kept.PeerSetup:
        """What it was made with."""
        offers, peers, given = self._given
        return kept.PeerSetup(
            offers, peers, given.criteria, given.levels, given.remind_us, given.silence, given.patience
        )

    def state(self) -> kept.PeerState:
        """What it executes, knows and moves."""
        return kept.PeerState(
            self.ring.peers,
            self._met,
            self._heard,
            self._introduction.unknown,
            state_of(self.holdings, kept.HoldingsState),
            state_of(self.reporter, kept.ReporterState),
            state_of(self.directory, kept.DirectoryState),
            state_of(self.departure, kept.DepartureState),
            state_of(self.arrival, kept.ArrivalState),
        )

    def resume(self, state: kept.PeerState) -> None:
        """Continue from a state."""
        self.ring, self._met, self._heard = Ring(state.peers), state.met, state.heard
        self._introduction.unknown = state.unknown
        put(self.holdings, state.holdings)
        put(self.reporter, state.reporter)
        put(self.directory, state.directory)
        put(self.departure, state.departure)
        put(self.arrival, state.arrival)

    def partners(self) -> Set[str]:
        """The members."""
        return set(self.ring.peers)

    def knows(self, name: str) -> bool:
        """Whether a peer is or was a member."""
        return name in self._met

    @property
    def busy(self) -> bool:
        """Whether it takes part in a migration, as source or as target."""
        return self.departure.phase is not None or self.arrival.waiting

    def decide(self, event: Any, now: int) -> list[Any]:
        """What to do about an event of the host."""
        return _ABOUT[type(event)](self, event, now)

    def hear(self, sender: str, message: Any, now: int) -> list[Any]:
        """What to do about a message; who tells of a migration must take part in it."""
        if isinstance(message, _OF_SOURCES) and message.migration.source != sender:
            return [Refuse("sender")]
        return _HEARD[type(message)](self, sender, message)

    # --- applications

    def _started(self, _: Started, now: int) -> list[Any]:
        return self._ticked()

    def _assigned(self, event: m.Assigned, now: int) -> list[Any]:
        self.holdings.add(event.holding)
        return []

    def _writes(self, event: m.Writes, now: int) -> list[Any]:
        self.holdings.write({event.stream: m.Route(0, event.home)})
        return []

    # --- loads

    def _updated(self, sender: str, update: m.LoadUpdate) -> list[Any]:
        self.directory.updated(sender, update)
        return []

    def _unregistered(self, sender: str, told: m.Unregister) -> list[Any]:
        self.directory.unregistered(sender, told)
        return []

    def _look(self, _: m.Look, now: int) -> list[Any]:
        return [] if self.is_asking else self.directory.look(self.ring)

    def _members(self, event: m.Members, now: int) -> list[Any]:
        if not event.peers:
            return [Refuse("members")]
        old, self.ring = self.ring, Ring(event.peers)
        self._met.update(event.peers)
        self.directory.moved(self.ring)
        commands = self.reporter.moved(old, self.ring)
        for peer in sorted(set(old.peers) - set(event.peers)):
            commands += self.answered(peer, now)
        return commands

    # --- migrations

    def _decided(self, sender: str, decision: m.Decision) -> list[Any]:
        """Phase 1: a decision is ignored while another migration runs, or if the hot spot is gone."""
        if self.ring.responsible(decision.operator) != sender:
            return [Refuse("sender")]
        if decision.serial <= self._heard.get(sender, 0) or decision.target not in self.ring.peers:
            return [Refuse("late")]
        self._heard[sender] = decision.serial
        loads = self.reporter.loads
        if self.busy or decision.target == self.name or loads is None:
            return []
        if not self.holdings.tasks.get(decision.operator) or not self._criteria.overloaded(loads):
            return []
        return self.departure.begun(decision.operator, decision.target, loads)

    def _willing(self, request: m.Request) -> bool:
        """Whether it can be the target: it offers the operator, has less load, and gives nothing away."""
        loads = self.reporter.loads
        free = self.departure.phase is None and request.holding.operator in self.reporter.offers
        return free and loads is not None and self._criteria.lighter(loads, request.loads)

    def _came(self, _: str, state: m.State) -> list[Any]:
        """Phase 6: what has moved here introduces itself."""
        commands = self.arrival.came(state)
        installed = any(isinstance(command, m.Install) for command in commands)
        return [*commands, *(self._introduction.moved(state.holding) if installed else ())]

    def _ticked(self, _: Any = None, now: int = 0) -> list[Any]:
        if self.is_asking:
            return []
        return [*self.departure.ticked(), *self.arrival.ticked(), *self._introduction.ticked()]

    def _failed(self, event: m.Failed, now: int) -> list[Any]:
        self.directory.failed(event.peer)
        return [*self.departure.failed(event.peer), *self.arrival.failed(event.peer)]


_ABOUT: dict[type, Callable[[Peer, Any, int], list[Any]]] = {
    Started: Peer._started,
    m.Assigned: Peer._assigned,
    m.Writes: Peer._writes,
    m.Measured: lambda self, event, now: self.reporter.measured(now, event.loads, self.ring),
    m.Look: Peer._look,
    m.Tick: Peer._ticked,
    m.Members: Peer._members,
    m.Offers: lambda self, event, now: self.reporter.offered(event.operators, self.ring),
    m.Failed: Peer._failed,
    m.Switched: lambda self, event, now: self._redirection.switched(event),
    m.Packed: lambda self, event, now: self.departure.packed(event.migration, event.payload),
    m.Drained: lambda self, event, now: self.departure.drained(event.migration),
}

_OF_SOURCES = (m.Request, m.UpdateRequest, m.State, m.Shipped, m.Cancel)
"""What only the source of a migration may say."""

_HEARD: dict[type, Callable[[Peer, str, Any], list[Any]]] = {
    m.LoadUpdate: Peer._updated,
    m.Unregister: Peer._unregistered,
    m.Decision: Peer._decided,
    m.Request: lambda self, _, message: self.arrival.requested(message, willing=self._willing(message)),
    m.Reply: lambda self, sender, message: self.departure.replied(sender, message.migration),
    m.Refusal: lambda self, sender, message: self.departure.refused(sender, message.migration),
    m.UpdateRequest: lambda self, _, message: self._redirection.requested(message),
    m.UpdateReply: lambda self, sender, message: self.departure.updated(sender, message),
    m.State: Peer._came,
    m.Taken: lambda self, sender, message: self.departure.taken(sender, message.migration),
    m.Shipped: lambda self, _, message: self.arrival.asked(message.migration),
    m.Wanted: lambda self, sender, message: self.departure.wanted(sender, message.migration),
    m.Cancel: lambda self, _, message: self.arrival.cancelled(message.migration),
    m.Elsewhere: lambda self, sender, message: self.departure.elsewhere(sender, message.stream, message.peer),
    m.Introduce: lambda self, sender, message: self._introduction.heard(sender, message),
    m.Introduced: lambda self, sender, message: self._introduction.known(sender, message),
}
