"""A server whose boxes are on virtual machines: what it would have to redo if it failed (section 6.4)."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from statistics import fmean

from australis.policy.recover.granularity import Granularity
from australis.sim.kernel.clock import Clock
from australis.sim.kernel.nodes import Node

BOXES = 8
COST_S = 0.002
RATE = 40.0
"""Tuples in a second: the server works two thirds of its time."""
FLOW_S = 1.0
BACK_S = 0.05
"""From a flow message at the server's end until word from the next server is back."""
UNTIL_S = 120.0
SAMPLE_S = 0.37


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


class Pipeline:
    """A server with tuples in the queues of its virtual machines."""

    def __init__(self, granularity: Granularity, seed: int) -> None:
        self._granularity, self._chance = granularity, Random(seed)
        self._costs_s = [sum(part) for part in granularity.parts]
        self._clock = Clock()
        self._node = Node(self._clock, "server")
        self.queues = [0] * granularity.machines
        self.tuples = self.messages = 0
        self._sent = self._safe = 0
        self.samples: list[float] = []
        self._clock.after(0.0, self._arrive)
        self._clock.every(FLOW_S, self._flow)
        self._clock.every(SAMPLE_S, self._sample, first=5.0)

    def _arrive(self) -> None:
        self._clock.after(self._chance.expovariate(RATE), self._arrive)
        self.tuples += 1
        self._enter(0)

    def _enter(self, machine: int) -> None:
        """A tuple is in the queue of a virtual machine; but for the first, the backup machine is told."""
        self.queues[machine] += 1
        self.messages += machine > 0
        self._node.work(self._costs_s[machine], self._process, machine)

    def _process(self, machine: int) -> None:
        if machine + 1 < len(self.queues):
            self.queues[machine] -= 1
            self._enter(machine + 1)
        else:
            self._sent += 1

    def _flow(self) -> None:
        self._clock.after(BACK_S, self._truncate, self._sent)

    def _truncate(self, sent: int) -> None:
        self.queues[-1] -= sent - self._safe
        self._safe = sent

    def _sample(self) -> None:
        self.samples.append(self._granularity.redone_s(self.queues))

    def run(self) -> None:
        """Live for a while."""
        self._clock.run(until=UNTIL_S)


def traded(machines: int, seed: int = 0) -> Traded:
    """Measure what a number of virtual machines costs and saves."""
    granularity = Granularity((COST_S,) * BOXES, machines)
    pipeline = Pipeline(granularity, seed)
    pipeline.run()
    foreseen = granularity.foreseen_s(RATE, FLOW_S / 2 + BACK_S)
    return Traded(machines, pipeline.messages / pipeline.tuples, fmean(pipeline.samples), foreseen)
