"""A peer: everything that it decides about hot spots and migrations, events in and commands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from australis.policy.hotspot import messages as m
from australis.policy.hotspot.arrival import Arrival
from australis.policy.hotspot.departure import Departure
from australis.policy.hotspot.directory import Directory
from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.introduction import Introduction
from australis.policy.hotspot.levels import Criteria, Levels
from australis.policy.hotspot.redirection import Redirection
from australis.policy.hotspot.reporter import Reporter
from australis.policy.hotspot.ring import Ring


@dataclass(frozen=True)
class Manners:
    """How a peer behaves."""

    criteria: Criteria = field(default_factory=Criteria)
    levels: Levels = field(default_factory=Levels)
    remind_s: float = 300.0
    """How long a peer whose level does not change stays silent."""
    silence: int = 15
    """How often silent peers are checked before they are removed."""
    patience: int = 5
    """How many ticks a target has to reply."""


class Peer:
    """Reports its own load, compares those of others, and takes part in one migration at a time.

    >>> peer = Peer("b", ("filter",), ["a", "b"])
    >>> [told] = peer.handle(m.Measured(60.0, m.Loads(3.0, 1.0, 0.5)))
    >>> told.to, told.message.operators, told.message.loads.one
    ('a', ('filter',), 3.0)
    >>> peer.handle(m.Measured(120.0, m.Loads(3.1, 1.0, 0.5)))
    []
    """

    def __init__(
        self, name: str, offers: tuple[str, ...], peers: Iterable[str], manners: Manners | None = None
    ) -> None:
        manners = manners or Manners()
        self.name = name
        self.holdings = Holdings()
        self.ring = Ring(peers)
        self._criteria = manners.criteria
        self.reporter = Reporter(offers, manners.levels, manners.remind_s)
        self.directory = Directory(name, manners.criteria, manners.silence)
        self.departure = Departure(name, self.holdings, manners.patience)
        self.arrival = Arrival(self.holdings, manners.patience)
        self._redirection = Redirection(self.holdings)
        self._introduction = Introduction(self.holdings)
        self._heard: dict[str, int] = {}
        """The last decision of each peer; an older one, or the same again, is void."""
        self._events: dict[type, Callable[[Any], list[m.Command]]] = {
            m.Received: self._received,
            m.Assigned: self._assigned,
            m.Writes: self._writes,
            m.Measured: lambda event: self.reporter.measured(event.now, event.loads, self.ring),
            m.Look: lambda _: self.directory.look(self.ring),
            m.Tick: self._ticked,
            m.Members: self._members,
            m.Offers: lambda event: self.reporter.offered(event.operators, self.ring),
            m.Failed: self._failed,
            m.Switched: self._redirection.switched,
            m.Drained: lambda event: self.departure.drained(event.migration),
        }
        self._messages: dict[type, Callable[[str, Any], list[m.Command]]] = {
            m.LoadUpdate: self._updated,
            m.Unregister: self._unregistered,
            m.Decision: self._decided,
            m.Request: lambda _, message: self.arrival.requested(message, willing=self._willing(message)),
            m.Reply: lambda sender, message: self.departure.replied(sender, message.migration),
            m.Refusal: lambda _, message: self.departure.refused(message.migration),
            m.UpdateRequest: lambda _, message: self._redirection.requested(message),
            m.UpdateReply: lambda _, message: self.departure.updated(message),
            m.State: self._came,
            m.Taken: lambda _, message: self.departure.taken(message.migration),
            m.Cancel: lambda _, message: self.arrival.cancelled(message.migration),
            m.Introduce: self._introduction.heard,
            m.Introduced: lambda _, message: self._introduction.known(message),
        }

    @property
    def busy(self) -> bool:
        """Whether it takes part in a migration, as source or as target."""
        return self.departure.phase is not None or self.arrival.waiting

    def handle(self, event: Any) -> list[m.Command]:
        """The commands that follow from an event."""
        return self._events[type(event)](event)

    def _received(self, event: m.Received) -> list[m.Command]:
        return self._messages[type(event.message)](event.sender, event.message)

    # --- applications

    def _assigned(self, event: m.Assigned) -> list[m.Command]:
        self.holdings.add(event.holding)
        return []

    def _writes(self, event: m.Writes) -> list[m.Command]:
        self.holdings.write({event.stream: m.Route(0, event.home)})
        return []

    # --- loads

    def _updated(self, sender: str, update: m.LoadUpdate) -> list[m.Command]:
        self.directory.updated(sender, update)
        return []

    def _unregistered(self, sender: str, told: m.Unregister) -> list[m.Command]:
        self.directory.unregistered(sender, told)
        return []

    def _members(self, event: m.Members) -> list[m.Command]:
        old, self.ring = self.ring, Ring(event.peers)
        self.directory.moved(self.ring)
        return self.reporter.moved(old, self.ring)

    # --- migrations

    def _decided(self, sender: str, decision: m.Decision) -> list[m.Command]:
        """Phase 1: a decision is ignored while another migration runs, or if the hot spot is gone."""
        new = decision.serial > self._heard.get(sender, 0)
        self._heard[sender] = max(decision.serial, self._heard.get(sender, 0))
        loads = self.reporter.loads
        if not new or self.busy or decision.target == self.name or loads is None:
            return []
        if not self.holdings.tasks.get(decision.operator) or not self._criteria.overloaded(loads):
            return []
        return self.departure.begun(decision.operator, decision.target, loads)

    def _willing(self, request: m.Request) -> bool:
        """Whether it can be the target: it offers the operator, has less load, and gives nothing away."""
        loads = self.reporter.loads
        free = self.departure.phase is None and request.holding.operator in self.reporter.offers
        return free and loads is not None and self._criteria.lighter(loads, request.loads)

    def _came(self, _: str, state: m.State) -> list[m.Command]:
        """Phase 6: what has moved here introduces itself."""
        commands = self.arrival.came(state)
        installed = any(isinstance(command, m.Install) for command in commands)
        return [*commands, *(self._introduction.moved(state.holding) if installed else ())]

    def _ticked(self, _: m.Tick) -> list[m.Command]:
        return [*self.departure.ticked(), *self.arrival.ticked(), *self._introduction.ticked()]

    def _failed(self, event: m.Failed) -> list[m.Command]:
        self.directory.failed(event.peer)
        return [*self.departure.failed(event.peer), *self.arrival.failed(event.peer)]
