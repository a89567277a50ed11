"""Servers in a virtual world: they run on machines that crash, and are restarted elsewhere.

A server's memory is lost with its machine: boxes, queues and policy state. Connections keep the order of
tuples; heartbeats and the back channel may lose, delay and duplicate messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from australis.policy.recover import Noted, OutputLog, Safe, at_output
from australis.policy.recover import server as m
from australis.sim.kernel import Clock, Faults, Journal, Links, Net, VirtualNode
from australis.sim.recover.boxes import PathTuple
from australis.sim.recover.network import APPLICATION, ServerNetwork, Work, shared


@dataclass(frozen=True)
class Setting:
    """How servers are made safe, and how long things take."""

    k: int = 1
    flow_s: float = 1.0
    """How often sources send flow messages, or servers query arrays."""
    arrays: bool = False
    """Whether servers query downstream servers for their arrays, rather than wait for flow messages."""
    beat_s: float = 0.5
    timeout_s: float = 2.0
    cost_s: float = 0.01
    """How long a server takes per tuple."""
    delay_s: float = 0.1
    """The greatest delay of connections and messages."""
    loss: float = 0.0
    """Of heartbeats, and of the back channel."""


class Data(NamedTuple):
    """What is sent along an arc to a life of its reader: a tuple, a flow message, or a replay's start."""

    arc: str
    life: int
    what: PathTuple | int | None


class ControlMessage(NamedTuple):
    """A control message from one server to another."""

    what: Any


class ServerLife:
    """One life of a server or source."""

    def __init__(self, world: World, name: str, node: VirtualNode, life: int) -> None:
        self.name, self.node, self.life = name, node, life
        network, setting = world.network, world.setting
        self.policy = world.policy(f"{name}#{life}", network.plan(name, setting.k, setting.timeout_s))
        self.work = Work(network, name) if name in network.servers else None
        self.logs = {arc.id: OutputLog() for arc in network.writes(name)}
        self.received: dict[str, dict[str, int]] = {arc.id: {} for arc in network.reads(name)}
        self.sent: dict[str, dict[str, int]] = {arc: {} for arc in self.logs}
        self.taking = dict.fromkeys(self.received, life == 0)
        """Whether tuples of an arc are taken: after a failure, only once their replay has begun."""
        self._world = world
        self._carried: dict[type, Callable[[Any], object]] = {
            m.Onward: self._onward,
            m.TellSafe: lambda command: world.tell_safe(name, command.arc, command.safe),
            m.Truncate: lambda command: self.logs[command.arc].truncate(command.safe),
            m.Heartbeat: lambda command: world.control(name, command.to, "beat"),
            m.TakeOver: lambda command: world.begin(command.server, self.node),
            m.AskReplay: lambda command: world.ask_replay(name, command),
            m.Replay: self._replay,
        }

    @property
    def alive(self) -> bool:
        """Whether this life continues."""
        return self.node.up and self._world.runners.get(self.name) is self

    def tell(self, event: Any) -> None:
        """Report an event to the policy, and carry out its commands."""
        if self.alive:
            commands = self.policy.handle(event)
            self._world.record(self, event, commands)
            for command in commands:
                self._carried[type(command)](command)

    # --- along arcs

    def arrived(self, data: Data) -> None:
        """Something arrived along an arc; duplicate tuples are dropped."""
        if data.what is None:
            self.taking[data.arc] = True
            self.tell(m.Replaying(data.arc))
        elif not self.taking[data.arc]:
            return
        elif isinstance(data.what, int):
            self.node.work(0.0, self._flowed, data.arc, data.what)
        elif data.what.number > self.received[data.arc].get(data.what.path, 0):
            self.received[data.arc][data.what.path] = data.what.number
            self.node.work(self._world.setting.cost_s, self._process, data.what)

    def _process(self, tup: PathTuple) -> None:
        if self.alive and self.work:
            self._world.processed[self.name] += 1
            for arc, made in self.work.take(tup):
                self.send(arc, made)

    def send(self, arc: str, tup: PathTuple) -> None:
        """Send a tuple along an arc, and keep it."""
        self.logs[arc].append(tup.path, tup.number, tup.value)
        self.sent[arc][tup.path] = tup.number
        self._world.data(self.name, arc, tup)

    def _flowed(self, arc: str, serial: int) -> None:
        if self.alive:
            received = {arc: dict(positions) for arc, positions in self.received.items()}
            self.tell(m.FlowMessage(arc, serial, received, self.noted()))

    def noted(self) -> Noted:
        """What the boxes depend on now."""
        sent = {arc: dict(positions) for arc, positions in self.sent.items()}
        return Noted(sent, self.work.done() if self.work else {})

    def _onward(self, command: m.Onward) -> None:
        for arc in self.logs:
            self._world.data(self.name, arc, command.serial)

    def _replay(self, command: m.Replay) -> None:
        self._world.data(self.name, command.arc, None)
        for kept in self.logs[command.arc]:
            self._world.data(self.name, command.arc, PathTuple(kept.path, kept.number, kept.value))


class World:
    """A network, with each server on its own machine at first."""

    def __init__(
        self, network: ServerNetwork, setting: Setting, chance: Random, *, record: bool = False
    ) -> None:
        self.network, self.setting = network, setting
        self.clock = Clock()
        self.journal = Journal() if record else None
        faults = Faults(delay=setting.delay_s)
        self._connections = Net(self.clock, chance, Links(0.01, faults=faults, ordered=True), self._arrived)
        lossy = Faults(setting.loss, duplication=setting.loss, delay=setting.delay_s)
        self._messages = Net(self.clock, chance, Links(0.01, faults=lossy), self._heard)
        self._readers = {arc.id: arc.target for arc in network.arcs}
        self._writers = {arc.id: arc.source for arc in network.arcs}
        self.sent: Counter[str] = Counter()
        """Messages that carry no tuples, by kind."""
        self.processed: Counter[str] = Counter()
        """How many tuples each server processed."""
        self.deliveries: dict[str, dict[tuple[str, int], tuple[float, int]]] = {}
        """What the applications have received, by arc, path and number: when, and which value."""
        self._delivered: dict[str, dict[str, int]] = {}
        self.lives: Counter[str] = Counter()
        self.runners: dict[str, ServerLife] = {}
        self.began: list[tuple[float, str]] = []
        """Which server was restarted when."""
        self._begun: dict[str, tuple[m.ServerArcs, float]] = {}
        """How each life began."""
        for name in (*network.sources, *network.servers):
            self.runners[name] = ServerLife(self, name, VirtualNode(self.clock, name), 0)
            self.clock.every(setting.beat_s, self._beat, name, first=chance.random() * setting.beat_s)
            if setting.arrays:
                self.clock.every(setting.flow_s, self._query, name, first=chance.random() * setting.flow_s)
        if not setting.arrays:
            self.clock.every(setting.flow_s, self._flow)

    # --- time

    def _beat(self, name: str) -> None:
        runner = self.runners.get(name)
        if runner:
            runner.tell(m.Beat(self.clock.now))

    def _flow(self) -> None:
        serial = int(self.clock.now / self.setting.flow_s)
        for source in self.network.sources:
            runner = self.runners[source]
            runner.tell(m.FlowMessage("", serial, {}, runner.noted()))

    def _query(self, name: str) -> None:
        """The upstream server queries the array of each downstream one."""
        for arc in self.network.writes(name):
            self.control(name, arc.target, ("query", arc.id))

    # --- messages

    def data(self, source: str, arc: str, what: PathTuple | int | None) -> None:
        """Send something along an arc, to the current life of its reader."""
        reader = self._readers[arc]
        if isinstance(what, int):
            self.sent["flow"] += 1
        self._connections.send(source, reader, Data(arc, self.lives[reader], what))

    def _arrived(self, _: str, target: str, data: Data) -> None:
        runner = self.runners.get(target)
        if target.startswith(APPLICATION):
            self._deliver(data)
        elif runner and runner.life == data.life and runner.alive:
            runner.arrived(data)

    def _deliver(self, data: Data) -> None:
        received = self._delivered.setdefault(data.arc, {})
        if isinstance(data.what, int):
            self.tell_safe(self._readers[data.arc], data.arc, at_output(self.setting.k, received))
        elif data.what is not None and data.what.number > received.get(data.what.path, 0):
            path, number, value, _ = data.what
            received[path] = number
            self.deliveries.setdefault(data.arc, {})[path, number] = (self.clock.now, value)

    def tell_safe(self, name: str, arc: str, safe: Safe) -> None:
        """The back channel."""
        self.control(name, self._writers[arc], ("safe", arc, safe))

    def ask_replay(self, name: str, command: m.AskReplay) -> None:
        """A restarted server asks for what is kept for it."""
        self.control(name, self._writers[command.arc], ("replay", command.arc, command.life))

    def control(self, source: str, target: str, what: Any) -> None:
        """Send a message that may be lost, delayed or duplicated."""
        self.sent[what if isinstance(what, str) else what[0]] += 1
        self._messages.send(source, target, ControlMessage((source, what)))

    def _heard(self, _: str, target: str, control: ControlMessage) -> None:
        source, what = control.what
        runner = self.runners.get(target)
        if what[0] == "query" and target.startswith(APPLICATION):
            received = self._delivered.setdefault(what[1], {})
            self.tell_safe(target, what[1], at_output(self.setting.k, received))
        elif runner is not None:
            runner.tell(self._event(runner, source, what))

    def _event(self, runner: ServerLife, source: str, what: Any) -> Any:
        if what == "beat":
            return m.Heard(source, self.clock.now)
        if what[0] == "safe":
            return m.Told(what[1], what[2])
        if what[0] == "query":
            return m.Queried(what[1], dict(runner.received[what[1]]), runner.noted())
        return m.ReplayWanted(what[1], what[2])

    # --- failures

    def crash(self, name: str) -> list[str]:
        """The machine of a server fails, with all servers on it; returns their names."""
        node = self.runners[name].node
        node.crash()
        gone = [each for each, runner in self.runners.items() if runner.node is node]
        for each in gone:
            del self.runners[each]
        return gone

    def begin(self, name: str, node: VirtualNode) -> None:
        """Start a server on a machine; if it had not failed, its old life is over."""
        self.lives[name] += 1
        self.began.append((self.clock.now, name))
        runner = self.runners[name] = ServerLife(self, name, node, self.lives[name])
        runner.tell(m.Started(self.clock.now, runner.life))

    def emit(self, source: str, number: int) -> None:
        """A source sends a tuple."""
        runner = self.runners[source]
        for arc, tup in shared(PathTuple(source, number, number), list(runner.logs), routes=False):
            runner.send(arc, tup)

    def policy(self, life: str, plan: m.ServerArcs) -> m.Server:
        """The policy of a new life."""
        self._begun[life] = (plan, self.clock.now)
        return m.Server(plan, self.clock.now)

    def record(self, runner: ServerLife, event: Any, commands: list[m.Command]) -> None:
        """Record a decision."""
        if self.journal is not None:
            self.journal.write(self.clock.now, f"{runner.name}#{runner.life}", event, commands)

    def replay(self) -> int:
        """Replay the recorded events to new policies; returns how many, if they decide the same."""
        assert self.journal is not None
        return self.journal.replay({life: m.Server(*begun) for life, begun in self._begun.items()})

    def kept(self) -> dict[str, int]:
        """The length of each arc's queue."""
        return {arc: len(log) for runner in self.runners.values() for arc, log in runner.logs.items()}
