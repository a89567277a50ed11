"""A server whose boxes are on virtual machines, and another that continues from their queues (6.4)."""

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
"""Tuples per second: the server is busy two thirds of its time."""
FLOW_S = 1.0
BACK_S = 0.05
"""From a flow message at the server's end until the report from the next server."""
UNTIL_S = 120.0
SAMPLE_S = 0.37
FAIL_S = 7.3
"""How often the server fails, if it does."""


@dataclass(frozen=True)
class Traded:
    """The costs and benefits of a number of virtual machines."""

    machines: int
    messages: float
    """Messages to the backup machine, per tuple."""
    redone_s: float
    """The work to redo after a failure, averaged over time."""
    foreseen_s: float
    """The same as the policy predicts it."""
    recovery_s: float
    """From a failure until everything in the queues is processed, averaged over failures."""


class ServerPipeline:
    """A server with tuples in the queues of its virtual machines, which survive it."""

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
        """The last tuple before each failure that is not caught up yet, and the time of the failure."""
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
        """Put a tuple into the queue of a virtual machine; except for the first, tell the backup machine."""
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
        """A tuple has reached the next server, which drops duplicates."""
        if number > self.sent + 1:
            raise SimulationError(Problem("pipeline", f"sent {number} after {self.sent}", "every tuple"))
        self.sent = max(number, self.sent)
        while self._failures and self._failures[0][0] <= number:
            self.recoveries.append(self._clock.now - self._failures.popleft()[1])

    def _flow(self) -> None:
        self._clock.after(BACK_S, self._truncate, self.sent)

    def _truncate(self, sent: int) -> None:
        while self.queues[-1] and self.queues[-1][0] <= sent:
            self.queues[-1].popleft()

    def _fail(self) -> None:
        """The server fails with all its work in progress, and another machine continues from the queues."""
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
        """Run for a while."""
        self._clock.run(until=UNTIL_S)


def traded(machines: int, seed: int = 0) -> Traded:
    """Measure the costs and benefits of a number of virtual machines."""
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
