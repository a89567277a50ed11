"""A peer in the virtual world: its machine, its policy, and the streams that it reads and writes.

A peer commits as a node of Australis does: what it has processed, decided and numbered outlives a crash, what
waits in memory or is on its way does not.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

from australis.policy.hotspot import messages as m
from australis.policy.hotspot.levels import MINUTES, Loads
from australis.policy.hotspot.peer import Peer
from australis.policy.hotspot.streams import Inlet, Outlet
from australis.sim.kernel.nodes import Node

if TYPE_CHECKING:
    from australis.sim.hotspots.overlay import Overlay

WINDOW = 32
"""The most tuples of a stream that are said again at a time."""


class Data(NamedTuple):
    """A tuple of a stream."""

    stream: str
    number: int
    value: Any


class Ack(NamedTuple):
    """The tuples of a stream are processed up to a number."""

    stream: str
    number: int


class Station:
    """What carries out the commands of a policy, and tells it what happens."""

    def __init__(self, overlay: Overlay, policy: Peer, capacity: float = 1.0) -> None:
        self.name, self.policy = policy.name, policy
        self.node = Node(overlay.clock, self.name, capacity)
        self.inlets: dict[str, Inlet] = {}
        self.outlets: dict[str, Outlet] = {}
        self.counts: dict[str, int] = {}
        """The state of each task: how many tuples it has processed."""
        self.loads = Loads(0.0, 0.0, 0.0)
        self.background = 0.0
        """What others have running here."""
        self._overlay = overlay
        self._readers: dict[str, tuple[str, m.Task]] = {}
        """The operator and the task that read a stream."""
        self._early: dict[str, list[tuple[int, Any]]] = {}
        """Tuples for tasks whose state has not come."""
        self._running: dict[str, int] = {}
        """The tuples that wait for each task."""
        self._answers: dict[str, str] = {}
        """Who is to hear how far a stream is processed."""
        self._unheard: dict[str, int] = {}
        self._draining: m.Drain | None = None
        self._carried: dict[type, Callable[[Any], None]] = {
            m.Send: lambda command: overlay.send(self.name, command.to, command.message),
            m.Spawn: self._spawn,
            m.Drop: self._drop,
            m.Switch: self._switch,
            m.Drain: self._drain,
            m.Ship: self._ship,
            m.Install: self._install,
            m.Kill: self._kill,
        }

    # --- the policy

    def tell(self, event: Any) -> None:
        """Tell the policy what happens, and carry out what it commands."""
        if self.node.up:
            commands = self.policy.handle(event)
            if self._overlay.journal is not None:
                self._overlay.journal.write(self._overlay.clock.now, self.name, event, commands)
            for command in commands:
                self._carried[type(command)](command)

    def held(self, holding: m.Holding) -> None:
        """Execute from the start."""
        self.tell(m.Assigned(holding))
        self._execute(holding)
        self.inlets.update({stream: Inlet() for stream in holding.upstreams})
        self.outlets.update({stream: Outlet(route.home) for stream, route in holding.routes.items()})
        self.counts.update({task.id: 0 for task in holding.tasks})

    def written(self, stream: str, home: str) -> None:
        """Write a stream from the start: that of a source."""
        self.tell(m.Writes(stream, home))
        self.outlets[stream] = Outlet(home)

    def _execute(self, holding: m.Holding) -> None:
        for task in holding.tasks:
            self._running.setdefault(task.id, 0)
            self._readers.update(dict.fromkeys(task.reads, (holding.operator, task)))

    def _spawn(self, command: m.Spawn) -> None:
        self._overlay.accepted(command, self.policy)
        self._early.update({stream: [] for task in command.tasks for stream in task.reads})

    def _drop(self, _: m.Drop) -> None:
        self._early.clear()

    def _switch(self, command: m.Switch) -> None:
        last = self.outlets[command.stream].switch(command.home)
        self.tell(m.Switched(command.migration, command.stream, last))

    def _drain(self, command: m.Drain) -> None:
        self._draining = command
        self._look_drained()

    def _look_drained(self) -> None:
        drain = self._draining
        if drain and all(self.inlets[stream].position >= last for stream, last in drain.last.items()):
            self._draining = None
            self.tell(m.Drained(drain.migration))

    def _ship(self, command: m.Ship) -> None:
        holding = command.holding
        payload = (
            {stream: self.inlets[stream].position for stream in holding.upstreams},
            {stream: self.outlets[stream].snapshot() for stream in holding.routes},
            {task.id: self.counts[task.id] for task in holding.tasks},
        )
        self._overlay.send(self.name, command.to, m.State(command.migration, holding, payload))

    def _install(self, command: m.Install) -> None:
        positions, outlets, counts = command.payload
        self.inlets.update({stream: Inlet(position) for stream, position in positions.items()})
        self.outlets.update({stream: Outlet.restored(each) for stream, each in outlets.items()})
        self.counts.update(counts)
        self._execute(command.holding)
        self._overlay.migrated(command)
        for stream in positions:
            for number, value in self._early.pop(stream, ()):
                self._take(stream, number, value)

    def _kill(self, command: m.Kill) -> None:
        for stream in command.holding.upstreams:
            del self.inlets[stream], self._readers[stream]
            self._answers.pop(stream, None)
        for stream in command.holding.routes:
            del self.outlets[stream]
            self._unheard.pop(stream, None)
        for task in command.holding.tasks:
            del self.counts[task.id], self._running[task.id]

    # --- tuples

    def emit(self, stream: str, value: Any) -> None:
        """Write a tuple, if it can be; a source that is down has it in its log."""
        outlet = self.outlets[stream]
        number = outlet.add(value)
        if self.node.up:
            self._overlay.send(self.name, outlet.home, Data(stream, number, value))

    def arrived(self, sender: str, message: Any) -> None:
        """A message has come; it is lost if the machine is down."""
        if not self.node.up:
            return
        if type(message) is Data:
            self._answers[message.stream] = sender
            self._take(*message)
        elif type(message) is Ack:
            if message.stream in self.outlets:
                self.outlets[message.stream].acknowledged(message.number)
                self._unheard[message.stream] = 0
        else:
            self.tell(m.Received(sender, message))

    def _take(self, stream: str, number: int, value: Any) -> None:
        if stream in self._early:
            self._early[stream].append((number, value))
        if stream not in self.inlets:
            return
        operator, task = self._readers[stream]
        cost = self._overlay.costs.get(operator, 0.0)
        for each in self.inlets[stream].arrived(number, value):
            self._running[task.id] += 1
            self.node.work(cost, self._processed, task, stream, each)

    def _processed(self, task: m.Task, stream: str, value: Any) -> None:
        self._running[task.id] -= 1
        self.inlets[stream].processed()
        self.counts[task.id] += 1
        if not task.writes:
            self._overlay.delivered(stream, value)
        for write in task.writes:
            self.emit(write, (value[0], self.counts[task.id]))
        if self._draining:
            self._look_drained()

    # --- time

    def measured(self, period_s: float, minute_s: float = 60.0) -> None:
        """Count what runs, as the load averages of Linux do."""
        running = self.background + sum(1 for waiting in self._running.values() if waiting)
        kept = [exp(-period_s / (minutes * minute_s)) for minutes in MINUTES]
        old_and_kept = zip(self.loads, kept, strict=True)
        self.loads = Loads(*(old * keep + running * (1 - keep) for old, keep in old_and_kept))

    def ticked(self, patience: int | None) -> None:
        """Say again what got no answer, and how far streams are processed."""
        if not self.node.up:
            return
        self.tell(m.Tick())
        for stream, sender in self._answers.items():
            if stream in self.inlets:
                self._overlay.send(self.name, sender, Ack(stream, self.inlets[stream].position))
        self._answers.clear()
        if patience is not None:
            self._again(patience)

    def _again(self, patience: int) -> None:
        for stream, outlet in self.outlets.items():
            unheard = self._unheard.get(stream, 0) + 1
            self._unheard[stream] = unheard if outlet.kept else 0
            if outlet.kept and unheard > patience:
                self._unheard[stream] = 0
                for _, (home, number, value) in zip(range(WINDOW), outlet.unanswered(), strict=False):
                    self._overlay.send(self.name, home, Data(stream, number, value))

    def crash(self) -> None:
        """Lose what is in memory."""
        self.node.crash()
        self._early = {stream: [] for stream in self._early}
        self._running = dict.fromkeys(self._running, 0)
        self._answers.clear()
        for inlet in self.inlets.values():
            inlet.crashed()
