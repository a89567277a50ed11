"""A peer in the virtual world: its machine, its policy, and the streams that it reads and writes.

A peer commits like a node of Australis: what it has processed, decided and numbered survives a crash; what
waits in memory or is in transit does not.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from itertools import islice
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

from australis.policy.hotspot import MINUTES, Loads, Peer, ReadEnd, WriteEnd
from australis.policy.hotspot import messages as m
from australis.policy.machines import Fence, Send
from australis.sim.kernel import MachineHost, VirtualNode

if TYPE_CHECKING:
    from australis.sim.hotspot.overlay import Overlay

WINDOW = 32
"""The most tuples of a stream that are repeated at once."""


class Data(NamedTuple):
    """A tuple of a stream."""

    stream: str
    number: int
    value: Any


class Posted(NamedTuple):
    """A letter of a policy."""

    letter: bytes


class Ack(NamedTuple):
    """The tuples of a stream are processed up to a number."""

    stream: str
    number: int


class Station:
    """Carries out the commands of a policy, and reports events to it."""

    def __init__(
        self, overlay: Overlay, name: str, make: Callable[[int], Peer], capacity: float = 1.0
    ) -> None:
        self.name = name
        self.host = MachineHost(
            overlay.clock,
            make,
            self._carry,
            journal=overlay.journal,
            keeps=overlay.keeps,
            restores=overlay.restores,
        )
        if not overlay.keeps and overlay.journal is None:
            self.policy.stay_plain()
        self.node = VirtualNode(overlay.clock, self.name, capacity)
        self.inlets: dict[str, ReadEnd] = {}
        self.outlets: dict[str, WriteEnd] = {}
        self.counts: dict[str, int] = {}
        """The state of each task: how many tuples it has processed."""
        self.loads = Loads(0.0, 0.0, 0.0)
        self.background = 0.0
        """The load of other programs on this peer."""
        self._overlay = overlay
        self._readers: dict[str, tuple[str, m.Task]] = {}
        """The operator and the task that read a stream."""
        self._early: dict[str, list[tuple[int, Any]]] = {}
        """Tuples for tasks whose state has not arrived."""
        self._running: dict[str, int] = {}
        """The tuples that wait for each task."""
        self._answers: dict[str, str] = {}
        """The peers to be told how far a stream is processed."""
        self._unheard: dict[str, int] = {}
        self._spawned: tuple[m.Task, ...] = ()
        """Stateless tasks that process tuples before the rest of their component has arrived."""
        self._left: set[str] = set()
        """Streams whose reader has left: a writer that runs ahead of its own state may not know it yet."""
        self._draining: m.Drain | None = None
        self._carried: dict[type, Callable[[Any], None]] = {
            Send: lambda command: overlay.post(self.name, command),
            Fence: lambda _: None,
            m.Spawn: self._spawn,
            m.Drop: self._drop,
            m.Switch: self._switch,
            m.Drain: self._drain,
            m.Ship: self._ship,
            m.Install: self._install,
            m.Kill: self._kill,
        }

    # --- the policy

    @property
    def policy(self) -> Peer:
        """The present incarnation of its policy."""
        machine: Peer = self.host.machine
        return machine

    def tell(self, event: Any) -> None:
        """Report an event to the policy, and carry out its commands."""
        if self.node.up:
            self.host.tell(event)

    def _carry(self, command: Any) -> None:
        self._carried[type(command)](command)

    def held(self, holding: m.Holding) -> None:
        """Execute from the start."""
        self.tell(m.Assigned(holding))
        self._execute(holding, holding.tasks)

    def written(self, stream: str, home: str) -> None:
        """Write a source stream from the start."""
        self.tell(m.Writes(stream, home))
        self.outlets[stream] = WriteEnd(home)

    def _execute(self, holding: m.Holding, tasks: tuple[m.Task, ...]) -> None:
        """Create what tasks need, if it does not exist."""
        for task in tasks:
            self._running.setdefault(task.id, 0)
            self.counts.setdefault(task.id, 0)
            for stream in task.reads:
                self._readers[stream] = (holding.operator, task)
                self.inlets.setdefault(stream, ReadEnd(ordered=task.stateful))
            for stream in task.writes:
                self.outlets.setdefault(stream, WriteEnd(holding.routes[stream].home))

    def _forget(self, tasks: tuple[m.Task, ...]) -> None:
        for task in tasks:
            # What was begun before a crash may be ended twice.
            if self.counts.pop(task.id, None) is None:
                continue
            del self._running[task.id]
            for stream in task.reads:
                del self.inlets[stream], self._readers[stream]
                self._left.discard(stream)
                self._answers.pop(stream, None)
            for stream in task.writes:
                del self.outlets[stream]
                self._unheard.pop(stream, None)

    def _spawn(self, command: m.Spawn) -> None:
        self._overlay.accepted(command, self.policy)
        self._spawned = tuple(task for task in command.holding.tasks if not task.stateful)
        self._execute(command.holding, self._spawned)
        waiting = [task for task in command.holding.tasks if task.stateful]
        self._early.update({stream: [] for task in waiting for stream in task.reads})

    def _drop(self, _: m.Drop) -> None:
        self._forget(self._spawned)
        self._spawned = ()
        self._early.clear()

    def _switch(self, command: m.Switch) -> None:
        last = self.outlets[command.stream].switch(command.home)
        self.tell(m.Switched(command.migration, command.stream, command.version, last))

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
        self._left.update(holding.upstreams)
        payload = (
            {stream: self.inlets[stream].position for stream in holding.upstreams},
            {stream: self.outlets[stream].snapshot() for stream in holding.routes},
            {task.id: self.counts[task.id] for task in holding.tasks},
        )
        self.tell(m.Packed(command.migration, repr(payload).encode()))

    def _install(self, command: m.Install) -> None:
        positions, outlets, counts = literal_eval(command.payload.decode())
        before = {stream: outlet.home for stream, outlet in self.outlets.items()}
        self._execute(command.holding, command.holding.tasks)
        self.counts.update(counts)
        for stream, position in positions.items():
            self.inlets[stream].moved(position)
        for stream, snapshot in outlets.items():
            self.outlets[stream].restore(snapshot)
            if before.get(stream, self.outlets[stream].home) != self.outlets[stream].home:
                self._say_again(stream)
        self._overlay.migrated(command)
        moved = {task.id for task in command.holding.tasks}
        self._spawned = tuple(task for task in self._spawned if task.id not in moved)
        for stream in positions:
            for number, value in self._early.pop(stream, ()):
                self._take(stream, number, value)

    def _kill(self, command: m.Kill) -> None:
        self._forget(command.holding.tasks)

    # --- tuples

    def emit(self, stream: str, value: Any, number: int | None = None) -> None:
        """Write a tuple; what is written while the machine is down stays in its log and is sent later."""
        outlet = self.outlets[stream]
        number = outlet.add(value, number)
        if self.node.up:
            self._overlay.send(self.name, outlet.home, Data(stream, number, value))

    def arrived(self, sender: str, message: Any) -> None:
        """A message has arrived; it is lost if the machine is down."""
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
            self.host.heard(sender, message.letter)

    def _take(self, stream: str, number: int, value: Any) -> None:
        if stream in self._early:
            self._early[stream].append((number, value))
        if stream not in self.inlets or stream in self._left:
            return
        operator, task = self._readers[stream]
        cost = self._overlay.costs.get(operator, 0.0)
        inlet = self.inlets[stream]
        for taken, each in inlet.arrived(number, value):
            self._running[task.id] += 1
            self.node.work(cost, self._processed, task, stream, inlet, taken, each)

    def _processed(self, task: m.Task, stream: str, inlet: ReadEnd, number: int, value: Any) -> None:
        """A tuple is processed, unless the task has left or was dropped meanwhile."""
        if self.inlets.get(stream) is not inlet or stream in self._left:
            return
        self._running[task.id] -= 1
        inlet.processed(number)
        self.counts[task.id] += 1
        if not task.writes:
            self._overlay.delivered(stream, value)
        for write in task.writes:
            if task.stateful:
                self.emit(write, (value[0], self.counts[task.id]))
            else:
                self.emit(write, (value[0], number), number)
        if self._draining:
            self._look_drained()

    # --- time

    def measured(self, period_s: float, minute_s: float = 60.0) -> None:
        """Sample the load, as the load averages of Linux do."""
        running = self.background + sum(1 for waiting in self._running.values() if waiting)
        kept = [exp(-period_s / (minutes * minute_s)) for minutes in MINUTES]
        old_and_kept = zip(self.loads, kept, strict=True)
        self.loads = Loads(*(old * keep + running * (1 - keep) for old, keep in old_and_kept))

    def ticked(self, patience: int | None) -> None:
        """Repeat what was not answered, and report how far streams are processed."""
        if not self.node.up:
            return
        self.tell(m.Tick())
        # What a migration that may be undone has processed is not acknowledged: the source may need it.
        ahead = {stream for task in self._spawned for stream in task.reads}
        for stream, sender in self._answers.items():
            if stream in self.inlets and stream not in ahead:
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
                self._say_again(stream, WINDOW)

    def _say_again(self, stream: str, most: int | None = None) -> None:
        for home, number, value in islice(self.outlets[stream].unanswered(), most):
            self._overlay.send(self.name, home, Data(stream, number, value))

    def crash(self) -> None:
        """Lose what is in memory."""
        self.node.crash()
        self.host.crash()
        self._early = {stream: [] for stream in self._early}
        self._running = dict.fromkeys(self._running, 0)
        self._answers.clear()
        for inlet in self.inlets.values():
            inlet.crashed()

    def restart(self, *, back: int = 0) -> None:
        """Return, with what was committed; its policy may come back from an older snapshot."""
        self.node.restart()
        self.host.restart(back=back)
