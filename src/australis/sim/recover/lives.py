"""Lives of servers: one runs on a machine until that crashes, with or without its disk, or it is replaced."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from australis.policy.machines import Received, Send, Started
from australis.policy.recover import Noted, OutputLog, Server, farthest
from australis.policy.recover import messages as m
from australis.sim.kernel import VirtualNode, micros
from australis.sim.recover.boxes import PathTuple
from australis.sim.recover.network import Work

if TYPE_CHECKING:
    from australis.sim.recover.world import World


class Session(NamedTuple):
    """What a replay and the tuples after it belong to."""

    writer: int
    """The life of the writer."""
    reader: int
    request: int


class Data(NamedTuple):
    """What is sent along an arc: a tuple, a flow message, or the start of a replay."""

    arc: str
    session: Session
    what: PathTuple | int | m.Replay


@dataclass
class Disk:
    """What a server has on its disk: its boxes, its queues, and what it has received."""

    work: Work | None
    logs: dict[str, OutputLog]
    received: dict[str, dict[str, int]]
    sent: dict[str, dict[str, int]]
    pending: deque[tuple[str, PathTuple | int]] = field(default_factory=deque)
    """What was received, and has not been processed."""
    snapshot: bytes | None = None

    def copy(self) -> Disk:
        """As it is now."""
        return deepcopy(self)


class ServerLife:
    """One life of a server, source or application."""

    def __init__(self, world: World, name: str, node: VirtualNode, life: int, disk: Disk | None) -> None:
        self.name, self.node, self.life = name, node, life
        network, setting = world.network, world.setting
        plan = network.plan(name, setting.k, micros(setting.timeout_s))
        self.machine = Server(plan, life)
        if world.plain:
            self.machine.stay_plain()
        if disk is not None and disk.snapshot is not None:
            self.machine.restore(disk.snapshot)
        self.disk = disk or Disk(
            Work(network, name) if name in network.servers else None,
            {arc: OutputLog() for arc in plan.writes},
            {arc: {} for arc in plan.reads},
            {arc: {} for arc in plan.writes},
        )
        self.is_over = False
        """Whether it has heard that another life took its place."""
        self._world, self._node_life = world, node.life
        self._taking: dict[str, Session] = {}
        self._sessions: dict[str, Session] = {}
        self._answers: dict[type, Callable[[Any], object]] = {
            Send: lambda command: world.letter(self, command),
            m.Onward: self._onward,
            m.Truncate: lambda command: self.disk.logs[command.arc].truncate(command.safe),
            m.Note: self._note,
            m.Open: lambda command: self.tell(m.Opening(command.arc, dict(self.disk.received[command.arc]))),
            m.Replay: self._replay,
            m.Take: self._take,
            m.TakeOver: lambda command: world.take_over(self, command.server),
            m.Rebuild: lambda command: world.rebuild(self),
        }
        if world.journal is not None:
            world.journal.began(self.machine, disk.snapshot if disk is not None else None)

    @property
    def alive(self) -> bool:
        """Whether this life continues."""
        return self.node.up and self.node.life == self._node_life and not self.is_over

    def begin(self) -> None:
        """Continue with what is on the disk, and begin."""
        for _, what in self.disk.pending:
            self._plan(what)
        self.tell(Started())

    def tell(self, event: Any) -> None:
        """Report an event to the machine, and carry out its commands."""
        if not self.alive:
            return
        world, now = self._world, micros(self._world.clock.now)
        if world.restores:
            snapshot, refused = self.machine.snapshot(), self.machine.refused
            self.machine = Server(self.machine.plan, self.life)
            self.machine.restore(snapshot)
            self.machine.refused = refused
        commands = self.machine.handle(event, now)
        if world.journal is not None and world.runners.get(self.name) is self:
            # A life that was replaced runs on another node, which has a journal of its own.
            world.journal.decided(now, self.name, event, commands)
        for command in commands:
            self._answers[type(command)](command)

    def heard(self, sender: str, letter: bytes) -> None:
        """A letter has come from a sender that has proved who it is."""
        self.tell(Received(sender, letter))

    def saved(self) -> Disk:
        """The disk, with what the machine must not forget."""
        self.disk.snapshot = self.machine.snapshot()
        return self.disk

    # --- along arcs

    def arrived(self, data: Data) -> None:
        """Something arrived along an arc; what belongs to no session, and duplicate tuples, are dropped."""
        if isinstance(data.what, m.Replay):
            received = self.disk.received[data.arc]
            before = data.arc in self._taking and self._taking[data.arc] == data.session
            if not before:
                self.tell(m.Replaying(data.arc, data.session.writer, data.session.request))
            if self._taking.get(data.arc) == data.session:
                # What nobody will ever need counts as received.
                self.disk.received[data.arc] = farthest(received, data.what.base)
        elif self._taking.get(data.arc) != data.session:
            return
        elif isinstance(data.what, int):
            self._queue(data.arc, data.what)
        elif data.what.number > self.disk.received[data.arc].get(data.what.path, 0):
            self.disk.received[data.arc][data.what.path] = data.what.number
            self._queue(data.arc, data.what)

    def _queue(self, arc: str, what: PathTuple | int) -> None:
        self.disk.pending.append((arc, what))
        self._plan(what)

    def _plan(self, what: PathTuple | int) -> None:
        is_free = isinstance(what, int) or self.disk.work is None
        self.node.work(0.0 if is_free else self._world.setting.cost_s, self._next)

    def _next(self) -> None:
        if not self.alive:
            return
        arc, what = self.disk.pending.popleft()
        if isinstance(what, int):
            received = {each: dict(positions) for each, positions in self.disk.received.items()}
            self.tell(m.Flowed(arc, what, received, self.noted()))
        elif self.disk.work is not None:
            self._world.processed[self.name] += 1
            for to, made in self.disk.work.take(what):
                self.send(to, made)
        else:
            self._world.deliver(arc, what)

    def send(self, arc: str, tup: PathTuple) -> None:
        """Keep a tuple, and send it along an arc."""
        self.disk.logs[arc].append(tup.path, tup.number, tup.value)
        self.disk.sent[arc][tup.path] = tup.number
        self._along(arc, tup)

    def _along(self, arc: str, what: PathTuple | int | m.Replay) -> None:
        session = self._sessions.get(arc)
        if session is not None:
            self._world.data(self, Data(arc, session, what))

    def noted(self) -> Noted:
        """What the boxes depend on now; an application needs nothing again."""
        sent = {arc: dict(positions) for arc, positions in self.disk.sent.items()}
        received = {arc: dict(positions) for arc, positions in self.disk.received.items()}
        return Noted(sent, self.disk.work.done() if self.disk.work else received)

    def _note(self, command: m.Note) -> None:
        self.tell(m.Noting(command.arc, dict(self.disk.received[command.arc]), self.noted()))

    def _onward(self, command: m.Onward) -> None:
        for arc in self.disk.logs:
            self._along(arc, command.serial)

    def _replay(self, command: m.Replay) -> None:
        self._sessions[command.arc] = Session(self.life, command.life, command.request)
        self._along(command.arc, command)
        for kept in self.disk.logs[command.arc]:
            self._along(command.arc, PathTuple(kept.path, kept.number, kept.value))

    def _take(self, command: m.Take) -> None:
        self._taking[command.arc] = Session(command.life, self.life, command.request)
