"""Any order of messages, losses, crashes and suspicions: no tuple is lost or duplicated by a migration."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.policy.machines.hosting import letter

from australis.policy.hotspot import messages as m
from australis.policy.hotspot.levels import Loads
from australis.policy.hotspot.peer import Manners
from australis.policy.replay import replayed
from australis.sim.hotspot.applications import diamond
from australis.sim.hotspot.overlay import Overlay, PlacedTask
from australis.sim.hotspot.station import Posted, Station
from australis.sim.kernel.links import Links

PEERS = ("a", "b", "c", "d")
peers = st.sampled_from(PEERS)


class Bag:
    """Messages in transit, which arrive when the test says so."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, Any]] = []

    def send(self, source: str, target: str, message: Any) -> None:
        self.messages.append((source, target, message))


class AnyOrder(RuleBasedStateMachine):
    """Four peers and an application that branches and merges."""

    @initialize(homes=st.lists(peers, min_size=6, max_size=6))
    def begin(self, homes: list[str]) -> None:
        offers = dict.fromkeys(PEERS, ("op",))
        self.lines: list[bytes] = []
        self.decisions = 1000
        self.overlay = Overlay(
            offers,
            {"op": 0.0},
            manners=Manners(patience=2),
            links=Links(),
            chance=Random(0),
            write=self.lines.append,
            keeps=True,
        )
        self.bag = Bag()
        self.overlay.net = self.bag  # type: ignore[assignment]
        application = diamond("app", 1)
        placed = [PlacedTask("op", home, task) for home, task in zip(homes, application.tasks, strict=False)]
        self.overlay.place(
            [*placed, PlacedTask("receive", homes[4], application.receive)], {"app.in0": homes[5]}
        )
        self.source, self.out, self.emitted = homes[5], application.out, 0
        self.switched: list[tuple[Station, m.Switched]] = []
        for station in self.overlay.stations.values():
            station._carried[m.Switch] = partial(self._switch, station)

    def _switch(self, station: Station, switch: m.Switch) -> None:
        """A stream is redirected at once, but the policy hears of it later."""
        last = station.outlets[switch.stream].switch(switch.home)
        done = m.Switched(switch.migration, switch.stream, switch.version, last)
        self.switched.append((station, done))

    def _run(self, seconds: float = 0.0) -> None:
        """What happens at once; peers that have returned ask again after a while."""
        self.overlay.clock.run(until=self.overlay.clock.now + seconds)

    @rule()
    def emit(self) -> None:
        self.emitted += 1
        self.overlay.stations[self.source].emit("app.in0", (self.emitted, 0))
        self._run()

    @rule(place=st.integers(0, 10**6), lose=st.booleans(), twice=st.booleans())
    @precondition(lambda self: self.bag.messages)
    def deliver(self, place: int, lose: bool, twice: bool) -> None:
        place %= len(self.bag.messages)
        message = self.bag.messages[place] if twice else self.bag.messages.pop(place)
        if not lose or twice:
            self._deliver(message)

    @rule(count=st.integers(1, 20))
    def deliver_some(self, count: int) -> None:
        for _ in range(min(count, len(self.bag.messages))):
            self._deliver(self.bag.messages.pop(0))

    def _deliver(self, message: tuple[str, str, Any]) -> None:
        source, target, what = message
        self.overlay.stations[target].arrived(source, what)
        self._run()

    @rule()
    @precondition(lambda self: self.switched and self.switched[0][0].node.up)
    def say_switched(self) -> None:
        station, done = self.switched.pop(0)
        station.tell(done)
        self._run()

    @rule(peer=peers, load=st.sampled_from((0.0, 1.0, 3.0, 6.0)))
    def measure(self, peer: str, load: float) -> None:
        self.overlay.stations[peer].tell(m.Measured(Loads(load, load, load)))

    @rule(peer=peers)
    def look(self, peer: str) -> None:
        self.overlay.stations[peer].tell(m.Look())

    @rule(source=peers, to=peers, serial=st.integers(1, 50))
    def decide(self, source: str, to: str, serial: int) -> None:
        """Decisions may be anything: their effects are safe."""
        policy, self.decisions = self.overlay.stations[source].policy, self.decisions + 1
        boss = policy.ring.responsible("op")
        life = self.overlay.stations[boss].policy.incarnation
        data = letter(policy, boss, m.Decision(serial, "op", to), self.decisions, life)
        self.overlay.stations[source].arrived(boss, Posted(data))

    @rule(peer=peers)
    def tick(self, peer: str) -> None:
        self.overlay.stations[peer].ticked(0)
        self._run()

    @rule(peer=peers)
    def crash(self, peer: str) -> None:
        self.overlay.stations[peer].crash()

    @rule(peer=peers)
    def restart(self, peer: str) -> None:
        self._return(self.overlay.stations[peer])

    @rule(peer=peers)
    def suspect(self, peer: str) -> None:
        self.overlay.tell_all(m.Failed(peer))

    @invariant()
    def what_was_delivered_is_in_order(self) -> None:
        if hasattr(self, "overlay"):
            found = self.overlay.deliveries.get(self.out, [])
            assert [each.written for each in found] == list(range(1, len(found) + 1))
            origins = [each.origin for each in found]
            assert all(origins.count(origin) <= 2 for origin in origins)

    @invariant()
    def a_task_has_one_home(self) -> None:
        if hasattr(self, "overlay"):
            policies = [each.policy for each in self.overlay.stations.values()]
            tasks = [task for each in policies for of in each.holdings.tasks.values() for task in of]
            assert len(tasks) == len(set(tasks))

    def teardown(self) -> None:
        """When nothing fails any more everything settles, and everything was delivered."""
        if not hasattr(self, "overlay"):
            return
        for station in self.overlay.stations.values():
            self._return(station)
        for _ in range(200):
            while self.switched:
                self.say_switched()
            for station in self.overlay.stations.values():
                station.ticked(0)
            self._run(1.0)
            while self.bag.messages:
                self._deliver(self.bag.messages.pop(0))
            if self._rests():
                break
        assert self._rests()
        found = sorted(each.origin for each in self.overlay.deliveries.get(self.out, []))
        assert found == [number for number in range(1, self.emitted + 1) for _ in range(2)]
        assert not replayed(self.lines).differences

    def _return(self, station: Station) -> None:
        if not station.node.up:
            station.restart()

    def _rests(self) -> bool:
        stations = self.overlay.stations.values()
        kept = any(outlet.kept for each in stations for outlet in each.outlets.values())
        return not kept and not any(each.policy.busy for each in stations)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=40, stateful_step_count=50)
