"""Any order of tuples, pauses, crashes and suspicions: what is delivered is right, and in the end all."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from australis.policy.machines import Journal
from australis.policy.replay import replayed
from australis.sim.recover.network import computed, drawn
from australis.sim.recover.world import Setting, World

MOST = 80
"""The tuples of each source, those of the end included."""


class AnyOrder(RuleBasedStateMachine):
    """A network that is k-safe, of which up to k servers fail."""

    @initialize(seed=st.integers(0, 999), k=st.integers(1, 3), arrays=st.booleans(), flow_s=st.floats(0.2, 3))
    def begin(self, seed: int, k: int, arrays: bool, flow_s: float) -> None:
        chance = Random(seed)
        self.network = drawn(chance)
        setting = Setting(k, flow_s, arrays, timeout_s=6.0, delay_s=0.2, loss=0.1)
        self.lines: list[bytes] = []
        self.world = World(self.network, setting, chance, journal=Journal(self.lines.append))
        self.expected = computed(self.network, MOST)
        self.emitted, self.left = 0, k

    @rule(count=st.integers(1, 5))
    @precondition(lambda self: self.emitted < MOST - 10)
    def emit(self, count: int) -> None:
        for _ in range(count):
            self.emitted += 1
            for source in self.network.sources:
                self.world.emit(source, self.emitted)

    @rule(seconds=st.floats(0.01, 8))
    def wait(self, seconds: float) -> None:
        self.world.clock.run(until=self.world.clock.now + seconds)

    @rule(place=st.integers(0, 99))
    @precondition(lambda self: self.left > 0)
    def crash(self, place: int) -> None:
        there = sorted(name for name in self.network.servers if self._may_fail(name))
        if there:
            self.left -= 1
            self.world.crash(there[place % len(there)])

    @rule(place=st.integers(0, 99))
    def power_off(self, place: int) -> None:
        """A machine comes back with its disk, which is no failure."""
        there = sorted(name for name in self.network.servers if self._may_fail(name))
        if there:
            node = self.world.runners[there[place % len(there)]].node
            gone = self.world.crash(there[place % len(there)])
            self.world.restart({each: runner.saved() for each, runner in gone.items()}, node)

    @rule(place=st.integers(0, 99))
    @precondition(lambda self: self.left > 0)
    def suspect(self, place: int) -> None:
        name = sorted(self.network.servers)[place % len(self.network.servers)]
        guard = self.world.runners.get(self.network.reads(name)[0].source)
        if guard and name in self.world.runners:
            self.left -= 1
            self.world.begin(name, guard.node)

    def _may_fail(self, name: str) -> bool:
        runner = self.world.runners.get(name)
        return runner is not None and runner.node.name not in self.network.sources

    @invariant()
    def what_is_delivered_is_right(self) -> None:
        if hasattr(self, "world"):
            for arc, found in self.world.deliveries.items():
                assert all(self.expected[arc].get(tup) == value for tup, (_, value) in found.items())

    def teardown(self) -> None:
        """When nothing fails any more everything is delivered, and policies would decide the same again."""
        if not hasattr(self, "world"):
            return
        self.world.clock.run(until=self.world.clock.now + 50.0)
        for arc, expected in self.expected.items():
            wanted = {tup for tup in expected if tup[1] <= self.emitted}
            assert wanted <= set(self.world.deliveries.get(arc, {}))
        self.what_is_delivered_is_right()
        assert replayed(self.lines).differences == ()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=30, stateful_step_count=30)
