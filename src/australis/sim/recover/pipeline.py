"""A server whose boxes are on virtual machines, and another that goes on from their queues (section 6.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from random import Random
from statistics import fmean

from australis.errors import Problem, SimulationError
from australis.policy.recover import Granularity
from australis.sim.kernel import Clock, VirtualNode

BOXES = 8
COST_S = 0.002
RATE = 40.0
"""Tuples in a second: the server works two thirds of its time."""
FLOW_S = 1.0
BACK_S = 0.05
"""From a flow message at the server's end until word from the next server is back."""
UNTIL_S = 120.0
SAMPLE_S = 0.37
FAIL_S = 7.3
"""How often the server fails, where it does."""


@dataclass(frozen=True)
class Traded:
    """What a number of virtual machines costs and saves."""

    machines: int
    messages: float
    """To the backup machine, for each tuple."""
    redone_s: float
    """What has to be done again after a failure, as a mean over moments."""
    foreseen_s: float
    """The same as the policy foresees it."""
    recovery_s: float
    """From a failure until all that was in queues is through, as a mean over failures."""


class ServerPipeline:
    """A server with tuples in the queues of its virtual machines, which outlive it."""

    def __init__(self, granularity: Granularity, seed: int = 0, *, fails: bool = False) -> None:
        self._granularity, self._chance = granularity, Random(seed)
        self._costs_s = [sum(part) for part in granularity.parts]
        self._clock = Clock()
        self._node = VirtualNode(self._clock, "server")
        self.queues: list[deque[int]] = [deque() for _ in granularity.parts]
        self.tuples = self.messages = self.sent = 0
        self.samples: list[float] = []
        self.recoveries: list[float] = []
        self._failures: deque[tuple[int, float]] = deque()
        """The last tuple before each failure that is not made up for, and when that was."""
        self._clock.after(0.0, self._arrive)
        self._clock.every(FLOW_S, self._flow)
        self._clock.every(SAMPLE_S, self._sample, first=5.0)
        if fails:
            self._clock.every(FAIL_S, self._fail)

    def _arrive(self) -> None:
        self._clock.after(self._chance.expovariate(RATE), self._arrive)
        self.tuples += 1
        self._enter(0, self.tuples)

    def _enter(self, machine: int, number: int) -> None:
        """A tuple is in the queue of a virtual machine; but for the first, the backup machine is told."""
        self.queues[machine].append(number)
        self.messages += machine > 0
        self._work(machine, number)

    def _work(self, machine: int, number: int) -> None:
        self._node.work(self._costs_s[machine], self._process, machine, number)

    def _process(self, machine: int, number: int) -> None:
        if machine + 1 < len(self.queues):
            self.queues[machine].popleft()
            self._enter(machine + 1, number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        """A tuple is at the next server, which drops those that it has."""
        if number > self.sent + 1:
            raise SimulationError(Problem("pipeline", f"sent {number} behind {self.sent}", "every tuple"))
        self.sent = max(number, self.sent)
        while self._failures and self._failures[0][0] <= number:
            self.recoveries.append(self._clock.now - self._failures.popleft()[1])

    def _flow(self) -> None:
        self._clock.after(BACK_S, self._truncate, self.sent)

    def _truncate(self, sent: int) -> None:
        while self.queues[-1] and self.queues[-1][0] <= sent:
            self.queues[-1].popleft()

    def _fail(self) -> None:
        """The server is gone with all that it was doing, and another machine goes on from the queues."""
        self._node.crash()
        self._node.restart()
        for machine in reversed(range(len(self.queues))):
            for number in self.queues[machine]:
                self._work(machine, number)
        if any(self.queues):
            self._failures.append((self.tuples, self._clock.now))

    def _sample(self) -> None:
        self.samples.append(self._granularity.redone_s([len(queue) for queue in self.queues]))

    def run(self) -> None:
        """Live for a while."""
        self._clock.run(until=UNTIL_S)


def traded(machines: int, seed: int = 0) -> Traded:
    """Measure what a number of virtual machines costs and saves."""
    granularity = Granularity((COST_S,) * BOXES, machines)
    pipeline, failing = ServerPipeline(granularity, seed), ServerPipeline(granularity, seed, fails=True)
    pipeline.run()
    failing.run()
    return Traded(
        machines,
        pipeline.messages / pipeline.tuples,
        fmean(pipeline.samples),
        granularity.foreseen_s(RATE, FLOW_S / 2 + BACK_S),
        fmean(failing.recoveries),
    )
