"""Routing in an unreliable world: reports are lost, late and doubled, nodes crash and forget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from australis.errors import Problem, SimulationError
from australis.policy.machines import Journal, Started
from australis.policy.route import POLICIES, RoutedStream, Router, RouterSetup, divided
from australis.policy.route import messages as m
from australis.sim.kernel import Clock, Faults, Links, MachineHost, Net, VirtualNode

TICK_S = 0.5
STALE_S = 2.0
LATE_S = 1.5
BUSY_S, LIMIT_S = 12.0, 120.0
"""How long tuples enter, letters are lost and nodes crash; when all tuples must have left."""


@dataclass(frozen=True)
class Trial:
    """The result of a seed for which everything held."""

    seed: int
    tuples: int
    eaten: int
    choices: int
    """How often a tuple had more than one operator to go to."""
    crashes: int
    amnesias: int
    """Restarts from an old snapshot."""
    refused: int
    events: int


@dataclass
class _Traveller:
    """A tuple, and what it has visited."""

    stream: RoutedStream
    visited: list[str] = field(default_factory=list)


@dataclass
class _Served:
    """What happened at an operator since the last tick."""

    received: int = 0
    served: int = 0
    emitted: int = 0
    busy: float = 0.0
    queue: int = 0


class _Place:
    """A node with some operators; what waits there survives a crash, as what came over a link does."""

    def __init__(self, world: BadEddy, name: str, operators: tuple[str, ...], host: MachineHost) -> None:
        self.name, self.operators, self.host = name, operators, host
        self.node = VirtualNode(world.clock, name)
        self.route: m.Route | None = None
        self.up_since: float | None = 0.0
        self.down_since: float | None = None
        self.served = {op: _Served() for op in operators}
        self.waiting: dict[int, tuple[_Traveller, str]] = {}
        self._world, self._serial = world, 0

    def take(self, tup: _Traveller, op: str) -> None:
        """A tuple comes to an operator here."""
        self._serial += 1
        self.waiting[self._serial] = tup, op
        self.served[op].received += 1
        self.served[op].queue += 1
        self._work(self._serial)

    def _work(self, serial: int) -> None:
        self.node.work(self._world.costs[self.waiting[serial][1]], self._done, serial)

    def _done(self, serial: int) -> None:
        tup, op = self.waiting.pop(serial)
        found = self.served[op]
        found.queue -= 1
        found.served += 1
        found.busy += self._world.costs[op]
        found.emitted += self._world.visited(self, tup, op)

    def measured(self, neighbours: tuple[str, ...]) -> m.Measured:
        """What happened since the last tick."""
        told = {
            op: m.Counted(each.received, each.served, each.emitted, each.busy, float(each.queue))
            for op, each in self.served.items()
        }
        self.served = {op: _Served(queue=each.queue) for op, each in self.served.items()}
        return m.Measured(told, neighbours)

    def crash(self, now: float) -> None:
        """The node is down."""
        self.node.crash()
        self.host.crash()
        self.route, self.down_since, self.up_since = None, now, None

    def restart(self, back: int) -> None:
        """It is up again, with what waits."""
        self.node.restart()
        self.down_since, self.up_since = None, self._world.clock.now
        self.host.restart(back=back)
        for serial in list(self.waiting):
            self._work(serial)


class BadEddy:
    """A few nodes with operators, some of them at two, and streams that visit them in an open order."""

    def __init__(self, seed: int, *, journal: Journal | None = None, restores: bool = False) -> None:
        self.seed, self._chance = seed, Random(seed)
        draw = self._chance
        self.clock = Clock()
        loss = draw.choice((0.0, 0.1, 0.4))
        self.is_heard = not loss
        """Whether all letters arrive, sooner or later."""
        faults = Faults(loss, duplication=0.2, delay=draw.choice((0.01, LATE_S)))
        self.net = Net(self.clock, draw, Links(0.005, faults=faults), self._arrived)
        names = [f"op{number}" for number in range(draw.randrange(2, 6))]
        self.costs = {op: draw.choice((0.001, 0.005, 0.02)) for op in names}
        self._passes = {op: draw.choice((0.2, 0.6, 1.0)) for op in names}
        self.streams = [self._stream(f"s{number}", names) for number in range(draw.choice((1, 2)))]
        self.counts: Counter[str] = Counter()
        self._journal, self._restores = journal, restores
        self._setup = RouterSetup(draw.choice(list(POLICIES)), stale_us=round(STALE_S * 1e6))
        nodes = ("a", "b", "c", "d")[: draw.randrange(2, 5)]
        homes = {op: draw.sample(nodes, draw.choice((1, 1, 2))) for op in names}
        self.places = {
            node: _Place(self, node, tuple(op for op in names if node in homes[op]), self._host(node))
            for node in nodes
        }
        self._plan()

    def _stream(self, name: str, operators: list[str]) -> RoutedStream:
        draw = self._chance
        chosen = draw.sample(operators, draw.randrange(1, len(operators) + 1))
        visits = {
            op: frozenset(each for each in chosen[:place] if draw.random() < 0.3)
            for place, op in enumerate(chosen)
        }
        return RoutedStream(name, visits)

    def _host(self, name: str) -> MachineHost:
        def make(incarnation: int) -> Router:
            return Router(name, self._setup, incarnation)

        def carry(command: Any) -> None:
            self._carry(name, command)

        how: dict[str, Any] = {"journal": self._journal, "keeps": True, "restores": self._restores}
        return MachineHost(self.clock, make, carry, net=self.net, **how)

    def _plan(self) -> None:
        clock, draw = self.clock, self._chance
        for place in self.places.values():
            clock.at(0.0, place.host.tell, Started())
        clock.every(TICK_S, self._tick)
        for _ in range(draw.randrange(50, 200)):
            clock.at(draw.uniform(0, BUSY_S), self._enter)
        for _ in range(draw.randrange(4)):
            back = draw.choice((0, 0, draw.randrange(1, 20)))
            clock.at(draw.uniform(0, BUSY_S), self._crash, draw.choice(list(self.places)), back)
        clock.at(BUSY_S + 2.0, self._calm)

    # --- what happens

    def _arrived(self, source: str, target: str, letter: bytes) -> None:
        self.places[target].host.heard(source, letter)

    def _carry(self, name: str, command: Any) -> None:
        if isinstance(command, m.Route):
            self.places[name].route = command

    def _tick(self) -> None:
        for name, place in self.places.items():
            if place.down_since is None:
                place.host.tell(place.measured(tuple(each for each in self.places if each != name)))

    def _calm(self) -> None:
        """From now on all letters arrive."""
        self.net.links = Links(0.005)

    def _crash(self, name: str, back: int) -> None:
        place = self.places[name]
        if place.down_since is None:
            self.counts["crashes"] += 1
            self.counts["amnesias"] += back > 0
            place.crash(self.clock.now)
            self.clock.after(self._chance.choice((0.1, 1.0, 6.0)), place.restart, back)

    def _enter(self) -> None:
        self.counts["entered"] += 1
        self._onward(
            self._chance.choice(list(self.places.values())), _Traveller(self._chance.choice(self.streams))
        )

    def visited(self, place: _Place, tup: _Traveller, op: str) -> int:
        """A tuple was processed; whether it passed."""
        if op not in tup.stream.ready(frozenset(tup.visited)):
            raise self._wrong(
                f"a tuple visits {op} after {tup.visited}", "each operator once, in an order of its stream"
            )
        tup.visited.append(op)
        if self._chance.random() >= self._passes[op]:
            self.counts["eaten"] += 1
            return 0
        self._onward(place, tup)
        return 1

    def _onward(self, place: _Place, tup: _Traveller) -> None:
        """Send a tuple to one of the operators that it may visit, by the weights of the node where it is."""
        ready = tup.stream.ready(frozenset(tup.visited))
        if not ready:
            self.counts["left"] += 1
            return
        route = place.route
        known = [op for op in ready if route is not None and op in route.weights]
        if route is None or not known:
            # The node is down, or has heard of none of them yet.
            self.clock.after(TICK_S, self._onward, place, tup)
            return
        self.counts["choices"] += len(ready) > 1
        op = self._drawn(divided(ready, route))
        there = self.places[self._drawn(route.weights[op].nodes)]
        self._check_choice(place, there, known, route)
        self.clock.after(0.005, there.take, tup, op)

    def _drawn(self, parts: dict[str, float]) -> str:
        return self._chance.choices(list(parts), list(parts.values()))[0]

    # --- what must hold

    def _check_choice(self, here: _Place, there: _Place, known: list[str], route: m.Route) -> None:
        """Nobody goes to a node that has long been down, if this and another have long been up."""
        since = self.clock.now - STALE_S - 2 * TICK_S - LATE_S
        is_down = there.down_since is not None and there.down_since < since
        up = {
            name for name, each in self.places.items() if each.up_since is not None and each.up_since < since
        }
        live = [op for op in known if route.weights[op].nodes.keys() & up]
        if is_down and live and here.name in up and self.is_heard:
            raise self._wrong(f"a tuple goes to {there.name}, which is down", f"{live}, which are not")

    def run(self) -> Trial:
        """Run until all tuples have left, and compare what nodes know."""
        while self.clock.now < LIMIT_S:
            self.clock.run(until=self.clock.now + 5.0)
            if self.clock.now > BUSY_S + 10.0 and self._gone == self.counts["entered"]:
                break
        else:
            raise self._wrong(f"{self.counts['entered'] - self._gone} tuples are still here", "none")
        self.clock.run(until=self.clock.now + TICK_S / 2)
        routes = {name: place.route for name, place in self.places.items()}
        if len({str(route) for route in routes.values()}) > 1:
            raise self._wrong(
                f"nodes route differently: {routes}", "the same weights, since all letters arrive"
            )
        counts = self.counts
        refused = sum(place.host.refusals for place in self.places.values())
        return Trial(
            self.seed,
            counts["entered"],
            counts["eaten"],
            counts["choices"],
            counts["crashes"],
            counts["amnesias"],
            refused,
            self.clock.happened,
        )

    @property
    def _gone(self) -> int:
        return self.counts["eaten"] + self.counts["left"]

    def _wrong(self, what: str, expected: str) -> SimulationError:
        return SimulationError(Problem(f"seed {self.seed}, {self.clock.now:g} s", what, expected))


def tried(seed: int, *, write: Callable[[bytes], object] | None = None) -> Trial:
    """Run an unreliable world, and check that tuples go where they may, and nodes agree in the end."""
    return BadEddy(seed, journal=Journal(write) if write else None).run()
