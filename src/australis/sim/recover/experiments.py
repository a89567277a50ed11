"""The costs and benefits of checkpoints: queues and recovery time against their number; virtual machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import NamedTuple

from australis.sim.recover.network import straight
from australis.sim.recover.pipeline import BOXES
from australis.sim.recover.world import Setting, World

PERIODS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""How often flow messages are sent."""
SERVERS = 4
FAILED = "s2"
RATE = 50.0
COST_S = 0.01
UNTIL_S = 60.0
CRASH_S = 30.0


class Frequency(NamedTuple):
    """How many failures are survived, and how often safe positions are reported."""

    k: int
    flow_s: float
    arrays: bool = False


@dataclass(frozen=True)
class Volume:
    """The costs and benefits of a frequency of checkpoints."""

    k: int
    flow_s: float
    technique: str
    messages: float
    """Messages about checkpoints, per tuple sent from server to server."""
    queue: float
    """The tuples in an output queue, averaged over queues and time."""
    queue_max: int
    recovery_s: float
    """From the restart of the server until everything sent before the crash is delivered."""
    redone: float
    """Tuples that were processed again."""


def volume(frequency: Frequency, seeds: Sequence[int] = range(3)) -> Volume:
    """Crash one of four servers in a chain, and measure how long it takes to catch up."""
    found = [_crashed(frequency, seed) for seed in seeds]
    messages, queue, most, recovery, redone = (fmean(each) for each in zip(*found, strict=True))
    technique = "arrays" if frequency.arrays else "flow"
    return Volume(frequency.k, frequency.flow_s, technique, messages, queue, round(most), recovery, redone)


def _crashed(frequency: Frequency, seed: int) -> tuple[float, float, float, float, float]:
    chance = Random(seed)
    setting = Setting(*frequency, cost_s=COST_S, delay_s=0.01)
    world = World(straight(SERVERS), setting, chance, plain=True)
    times = [number / RATE for number in range(1, int(UNTIL_S * RATE) + 1)]
    for number, time in enumerate(times, 1):
        world.clock.at(time, world.emit, "source", number)
    crash = CRASH_S + chance.random() * frequency.flow_s
    kept = _queues(world, crash)
    world.crash(FAILED)
    world.clock.run(until=UNTIL_S + 30.0)
    [delivered] = world.deliveries.values()
    before = max(number for number, time in enumerate(times, 1) if time <= crash)
    caught_up = max(time for (_, number), (time, _) in delivered.items() if number <= before)
    redone = sum(world.processed.values()) - SERVERS * len(times)
    told = sum(world.sent[kind] for kind in ("flow", "Secured", "Query"))
    return (
        told / (len(times) * (SERVERS + 1)),
        fmean(kept),
        max(kept),
        caught_up - world.began[0][0],
        redone,
    )


def _queues(world: World, until: float) -> list[int]:
    """Run until a time; returns the lengths of queues at many times of the second half."""
    found: list[int] = []
    world.clock.run(until=until / 2)
    while world.clock.now < until:
        world.clock.run(until=min(world.clock.now + 0.1, until))
        found += world.kept().values()
    return found


def frequencies() -> list[Frequency]:
    """Frequent checkpoints, rare ones, and for more failures."""
    flows = [Frequency(k, flow_s) for k in (1, 2, 3) for flow_s in PERIODS_S]
    return [*flows, *(Frequency(1, flow_s, arrays=True) for flow_s in PERIODS_S)]


def machines() -> list[int]:
    """Numbers of virtual machines: from one for all boxes to one for each."""
    return list(range(1, BOXES + 1))
