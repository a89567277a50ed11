"""A virtual world of nodes with directories: letters are lost or late, nodes crash and are cut off."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

import pytest
from tests.cluster.identities import identity

from australis.cluster.directory import Core, Told
from australis.cluster.identity import Credentials
from australis.cluster.membership import Met, Pace, Seek
from australis.policy.machines import Send, Wake
from australis.sim.kernel import Clock, Faults, Links, Net

SEEDS = [pytest.param(each, marks=() if each < 40 else pytest.mark.long) for each in range(0, 400, 10)]
"""The first of ten seeds each."""
PACE = Pace(period_us=1_000_000, answer_us=300_000, suspect_us=3_000_000)


@cache
def folder() -> Path:
    return Path(mkdtemp(prefix="australis-identities-"))


@cache
def credentials(name: str) -> Credentials:
    """The real identity of a node; all trust both participants."""
    return Credentials.load(identity(folder(), name, ("lab", "shop")))


@cache
def begin_us() -> int:
    """When the world begins: certificates are valid then."""
    import time

    for number in range(40):
        credentials(name_of(number))
    return time.time_ns() // 1000


def name_of(number: int) -> str:
    """Two participants, in turn."""
    return f"{('lab', 'shop')[number % 2]}/n{number}"


@dataclass
class Virtual:
    """A node of the world, in its present life."""

    core: Core
    life: int
    is_up: bool = True
    told: list[Told] = field(default_factory=list)
    """What the machines commanded that is for neither net nor clock."""


class World:
    """Nodes that begin with the address of the first one."""

    def __init__(self, nodes: int, seed: int, faults: Faults | None = None, **options: Any) -> None:
        self.chance = Random(seed)
        self.clock = Clock()
        links = Links(latency=0.005, faults=faults or Faults(), ordered=True)
        self.net = Net(self.clock, self.chance, links, self._deliver)
        self.groups: dict[str, int] = {}
        """The side of a partition that a node is on."""
        self.options = options
        self.nodes: dict[str, Virtual] = {}
        self.letters = 0
        begin_us()
        for number in range(nodes):
            self.start(name_of(number))

    @property
    def now(self) -> int:
        return begin_us() + round(self.clock.now * 1e6)

    def run(self, seconds: float) -> None:
        self.clock.run(self.clock.now + seconds)

    def start(self, name: str) -> None:
        """Begin a life of a node, with nothing in its memory."""
        found = credentials(name)
        life = self.now + len(self.nodes)
        place = ("127.0.0.1", 1 + int(name.partition("/n")[2]))
        core = Core(name, place, life, found.seal, found.authorities, PACE, **self.options)
        self.nodes[name] = Virtual(core, life)
        self._carry(name, core.start(self.now))

    def crash(self, name: str) -> None:
        self.nodes[name].is_up = False

    def up(self) -> list[str]:
        return sorted(name for name, each in self.nodes.items() if each.is_up)

    def split(self, groups: dict[str, int]) -> None:
        self.groups = groups

    def core(self, name: str) -> Core:
        return self.nodes[name].core

    def tell(self, name: str, topic: str, event: Any) -> list[Told]:
        """Tell a machine of a node something; returns what it commanded that is for the caller."""
        return self._carry(name, self.core(name).tell(topic, event, self.now))

    def _carry(self, name: str, told: list[Told]) -> list[Told]:
        rest: list[Told] = []
        for topic, command in told:
            match command:
                case Send(to, _, letter):
                    self.letters += 1
                    self.net.send(name, to, (topic, self.nodes[name].life, letter))
                case Wake(at, event):
                    seconds = max(self.clock.now, (at - begin_us()) / 1e6)
                    self.clock.at(seconds, self._wake, name, self.nodes[name].life, topic, event)
                case Seek() if name != (first := name_of(0)):
                    # The seed is dialled: both sides hear of the connection.
                    self.clock.after(0.01, self._meet, name, first)
                case _:
                    rest.append(Told(topic, command))
        self.nodes[name].told += rest
        return rest

    def _meet(self, one: str, other: str) -> None:
        if self._can_pass(one, other):
            for near, far in ((one, other), (other, one)):
                self.tell(near, "members", Met(far))

    def _can_pass(self, one: str, other: str) -> bool:
        is_up = other in self.nodes and self.nodes[one].is_up and self.nodes[other].is_up
        return is_up and self.groups.get(one, 0) == self.groups.get(other, 0)

    def _wake(self, name: str, life: int, topic: str, event: Any) -> None:
        node = self.nodes[name]
        if node.is_up and node.life == life:
            self._carry(name, node.core.tell(topic, event, self.now))

    def _deliver(self, source: str, target: str, message: Any) -> None:
        topic, life, letter = message
        if self._can_pass(source, target) and self.nodes[source].life == life:
            self._carry(target, self.core(target).hear(topic, source, letter, self.now))
