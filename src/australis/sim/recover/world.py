"""Servers in a virtual world: they run on machines that crash, and are restarted there or elsewhere.

A server's memory is lost with its machine: boxes, queues and the state of the policy; with a disk, it comes
back. Connections keep the order of tuples; letters may be lost, late and doubled.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from australis.policy.machines import Journal, Send
from australis.policy.recover import messages as m
from australis.sim.kernel import Clock, Faults, Links, Net, VirtualNode
from australis.sim.recover.boxes import PathTuple
from australis.sim.recover.lives import Data, Disk, ServerLife
from australis.sim.recover.network import ServerNetwork, shared


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
    """The greatest delay of connections and letters."""
    loss: float = 0.0
    """Of letters, and how many are doubled."""


class World:
    """A network, with each server on its own machine at first."""

    def __init__(
        self,
        network: ServerNetwork,
        setting: Setting,
        chance: Random,
        *,
        journal: Journal | None = None,
        restores: bool = False,
        plain: bool = False,
    ) -> None:
        self.network, self.setting = network, setting
        self.clock = Clock()
        self.journal, self.restores, self.plain = journal, restores, plain
        """`restores`: every machine is made again from its snapshot before each event; `plain`: letters
        stay values."""
        faults = Faults(delay=setting.delay_s)
        self._connections = Net(self.clock, chance, Links(0.01, faults=faults, ordered=True), self._arrived)
        lossy = Faults(setting.loss, duplication=setting.loss, delay=setting.delay_s)
        self._letters = Net(self.clock, chance, Links(0.01, faults=lossy), self._heard)
        self._readers = {arc.id: arc.target for arc in network.arcs}
        self.sent: Counter[str] = Counter()
        """Messages that carry no tuples, by kind."""
        self.processed: Counter[str] = Counter()
        """How many tuples each server processed."""
        self.deliveries: dict[str, dict[tuple[str, int], tuple[float, int]]] = {}
        """What the applications have received, by arc, path and number: when, and which value."""
        self.lives: Counter[str] = Counter()
        """What a catalogue says: how many lives of each server there were, of which the last one counts."""
        self.runners: dict[str, ServerLife] = {}
        self.replaced: list[ServerLife] = []
        """Lives that go on though another one took their place, since they were only suspected."""
        self.began: list[tuple[float, str]] = []
        """Which server was begun again with nothing, and when."""
        self.refused: Counter[str] = Counter()
        """What lives that are over refused."""
        applications = dict.fromkeys(arc.target for arc in network.arcs if arc.target not in network.servers)
        for name in (*network.sources, *network.servers, *applications):
            self._live(name, VirtualNode(self.clock, name), None)
            self.clock.every(
                setting.beat_s, self._tell, name, m.Ticked(), first=chance.random() * setting.beat_s
            )
            if setting.arrays:
                first = chance.random() * setting.flow_s
                self.clock.every(setting.flow_s, self._tell, name, m.Asking(), first=first)
        if not setting.arrays:
            self.clock.every(setting.flow_s, self._flow)

    def _live(self, name: str, node: VirtualNode, disk: Disk | None) -> ServerLife:
        self.lives[name] += 1
        runner = self.runners[name] = ServerLife(self, name, node, self.lives[name], disk)
        self.clock.after(0.0, runner.begin)
        return runner

    # --- time

    def _tell(self, name: str, event: m.Event) -> None:
        for runner in self._all(name):
            runner.tell(event)

    def _all(self, name: str) -> list[ServerLife]:
        """The life of a server that counts, and those that do not know that they do not."""
        current = self.runners.get(name)
        others = [each for each in self.replaced if each.name == name and each.alive]
        return [*([current] if current is not None else []), *others]

    def _flow(self) -> None:
        serial = int(self.clock.now / self.setting.flow_s)
        for source in self.network.sources:
            runner = self.runners[source]
            runner.tell(m.Flowed("", serial, {}, runner.noted()))

    # --- messages

    def data(self, source: ServerLife, data: Data) -> None:
        """Send something along an arc, to a life of its reader."""
        if isinstance(data.what, int):
            self.sent["flow"] += 1
        self._connections.send(source.name, self._readers[data.arc], data)

    def _arrived(self, _: str, target: str, data: Data) -> None:
        for runner in self._all(target):
            if runner.alive and runner.life == data.session.reader:
                runner.arrived(data)

    def letter(self, source: ServerLife, send: Send) -> None:
        """Send a letter, which may be lost, delayed or duplicated."""
        self.sent[send.kind] += 1
        self._letters.send(source.name, send.to, send.letter)

    def _heard(self, source: str, target: str, letter: bytes) -> None:
        for runner in self._all(target):
            runner.heard(source, letter)

    def deliver(self, arc: str, tup: PathTuple) -> None:
        """An application has received a tuple."""
        self.deliveries.setdefault(arc, {})[tup.path, tup.number] = (self.clock.now, tup.value)

    # --- failures

    def crash(self, name: str) -> dict[str, ServerLife]:
        """The machine of a server fails, with all servers on it, which are returned."""
        node = self.runners[name].node
        node.crash()
        gone = {each: runner for each, runner in self.runners.items() if runner.node is node}
        for each, runner in gone.items():
            self.refused += runner.machine.refused
            del self.runners[each]
        return gone

    def restart(self, gone: dict[str, Disk], node: VirtualNode) -> None:
        """A machine is up again, with its disk; servers that were taken over meanwhile stay away."""
        node.restart()
        for name, disk in gone.items():
            if name not in self.runners:
                self._live(name, node, disk)

    def take_over(self, guard: ServerLife, name: str) -> None:
        """Start a server in place of a silent one; a guard that was replaced learns of it then."""
        if self.runners.get(guard.name) is guard:
            self.begin(name, guard.node)
        else:
            guard.is_over = True

    def begin(self, name: str, node: VirtualNode) -> None:
        """Start a server on a machine with nothing; if it had not failed, it goes on for a while."""
        before = self.runners.get(name)
        if before is not None:
            self.refused += before.machine.refused
            self.replaced.append(before)
            self.clock.after(self.setting.timeout_s, self._end, before)
        self.began.append((self.clock.now, name))
        self._live(name, node, None)

    def _end(self, runner: ServerLife) -> None:
        """A life hears from the catalogue that it is over."""
        runner.is_over = True

    def rebuild(self, runner: ServerLife) -> None:
        """A server that remembers too little begins with nothing, if it still counts."""
        if self.runners.get(runner.name) is runner:
            runner.is_over = True
            self.refused += runner.machine.refused
            self.began.append((self.clock.now, runner.name))
            self._live(runner.name, runner.node, None)

    def emit(self, source: str, number: int) -> None:
        """A source sends a tuple."""
        runner = self.runners[source]
        for arc, tup in shared(PathTuple(source, number, number), list(runner.disk.logs), routes=False):
            runner.send(arc, tup)

    def kept(self) -> dict[str, int]:
        """The length of each arc's queue."""
        return {arc: len(log) for runner in self.runners.values() for arc, log in runner.disk.logs.items()}
