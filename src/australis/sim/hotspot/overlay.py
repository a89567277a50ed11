"""All peers of a virtual world, the links between them, and the records of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

from australis.policy.hotspot import Loads, Manners, Peer
from australis.policy.hotspot import messages as m
from australis.policy.machines import Journal, Send
from australis.sim.hotspot.station import Posted, Station
from australis.sim.kernel import Clock, Links, Net


class Move(NamedTuple):
    """A migration that was accepted: when, of what, from where to where, with which loads."""

    time: float
    migration: m.Migration
    operator: str
    tasks: tuple[str, ...]
    target: str
    source_loads: Loads
    target_loads: Loads | None


class PlacedTask(NamedTuple):
    """A task, and the peer whose component of an operator executes it."""

    operator: str
    peer: str
    task: m.Task


class Delivered(NamedTuple):
    """A tuple at the receiver of its application."""

    time: float
    origin: Any
    written: int
    """The state of the task that wrote it."""


class Overlay:
    """Peers that send each other messages."""

    def __init__(
        self,
        offers: Mapping[str, tuple[str, ...]],
        costs: Mapping[str, float],
        *,
        manners: Manners,
        links: Links,
        chance: Random,
        write: Callable[[bytes], object] | None = None,
        keeps: bool = False,
        restores: bool = False,
    ) -> None:
        self.clock = Clock()
        self.costs = costs
        self.journal = None if write is None else Journal(write)
        self.keeps, self.restores = keeps, restores
        self.net = Net(self.clock, chance, links, self._arrived)
        self.stations = {
            name: Station(self, name, partial(Peer, name, offered, tuple(offers), manners))
            for name, offered in offers.items()
        }
        self.sent: Counter[str] = Counter()
        """The messages between different peers, by kind."""
        self.deliveries: dict[str, list[Delivered]] = {}
        self._asked: dict[m.Migration, Loads] = {}
        self._accepts: dict[m.Migration, Move] = {}
        self.moves: list[Move] = []
        """The migrations whose state arrived."""

    def place(self, tasks: Sequence[PlacedTask], sources: Mapping[str, str]) -> None:
        """Start an application: its tasks, and the peers of its source streams."""
        readers = {stream: each.peer for each in tasks for stream in each.task.reads}
        writers = {stream: each.peer for each in tasks for stream in each.task.writes} | dict(sources)
        for operator, peer, task in tasks:
            holding = m.Holding(
                operator,
                (task,),
                {stream: m.Writer(writers[stream]) for stream in task.reads},
                dict.fromkeys(task.reads, 0),
                {stream: m.Route(0, readers[stream]) for stream in task.writes},
            )
            self.stations[peer].held(holding)
        for stream, peer in sources.items():
            self.stations[peer].written(stream, readers[stream])

    def send(self, source: str, target: str, message: Any) -> None:
        """Send a message from peer to peer."""
        if source != target:
            self.sent[type(message).__name__] += 1
        self.net.send(source, target, message)

    def post(self, source: str, send: Send) -> None:
        """Send a letter of a policy."""
        if source != send.to:
            self.sent[send.kind] += 1
        leaving = self.stations[source].policy.departure.leaving
        if send.kind == m.Request.__name__ and leaving is not None:
            self._asked[leaving.id] = leaving.loads
        self.net.send(source, send.to, Posted(send.letter))

    def _arrived(self, source: str, target: str, message: Any) -> None:
        self.stations[target].arrived(source, message)

    def tell_all(self, event: Any) -> None:
        """Tell every peer of an event."""
        for station in self.stations.values():
            station.tell(event)

    def delivered(self, stream: str, value: Any) -> None:
        """A tuple has reached its receiver."""
        self.deliveries.setdefault(stream, []).append(Delivered(self.clock.now, *value))

    def accepted(self, spawn: m.Spawn, policy: Peer) -> None:
        """A target has accepted; record the loads."""
        source, target = self._asked[spawn.migration], policy.reporter.loads
        tasks = tuple(task.id for task in spawn.holding.tasks)
        operator = spawn.holding.operator
        move = Move(self.clock.now, spawn.migration, operator, tasks, policy.name, source, target)
        self._accepts[spawn.migration] = move

    def migrated(self, install: m.Install) -> None:
        """A component has reached its new home."""
        self.moves.append(self._accepts[install.migration])

    def returns(self) -> list[tuple[Move, Move]]:
        """The moves of a task that undid its previous move, each with that one."""
        last: dict[str, Move] = {}
        found = []
        for move in self.moves:
            for task in move.tasks:
                before = last.get(task)
                if before and before.migration.source == move.target:
                    found.append((before, move))
                last[task] = move
        return found
