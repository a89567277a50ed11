"""Which kill comes next: drawn by a seed, so that a campaign can be planned again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tests.crash.child import READY, WORKING

from australis.engine.crash_points import COPY_POINTS, POINTS
from australis.engine.runner import SPARK

DRIVER, JVM, DAEMON, WORKER, START = "driver", "jvm", "daemon", "worker", "start"
MOMENTS = (DRIVER, JVM, DAEMON, WORKER, START)
"""Killed from outside, at random moments: `start` is the driver before it is ready, `daemon` what forks."""
FIRST, REWRITTEN = "deploy.recorded", ("deploy.rewriting", "deploy.rewritten")
"""The points that only the first child on a root passes, and those that have other settings than the last."""


CHANGED = ("change.held", "change.prepared", "change.switching", "change.switched")
"""The points that only nodes pass whose network changes."""


@dataclass(frozen=True)
class Kill:
    """What ends a process of a child: somebody from outside, or a crash point at its n-th time."""

    what: str
    times: int = 1
    seconds: float = 0.0
    since: str = READY
    """The word of the child from which the seconds count."""
    driver_after: float | None = None
    """Where the driver outlives the kill, the seconds after which it is killed, too; None lets it go on."""

    @property
    def is_point(self) -> bool:
        return self.what in (*POINTS, *COPY_POINTS)

    @property
    def environment(self) -> str:
        return f"{self.what}:{self.times}" if self.is_point else ""

    def __str__(self) -> str:
        return self.environment or f"{self.what} {self.times}x {self.seconds:.2f} s after {self.since}"


def kills(seed: int, runner: str = SPARK) -> Iterator[Kill]:
    """Crash points in turn, the first by the seed, and random moments between them, without end."""
    chance = random.Random(seed)
    weights = dict(zip(MOMENTS, (6, 3, 1, 2, 1), strict=True)) | (
        {} if runner == SPARK else {JVM: 0, DAEMON: 2}
    )
    points = [point for point in POINTS if point not in (FIRST, *REWRITTEN) and point not in CHANGED]
    for number in count():
        yield _at_point(points[(seed + number) % len(points)], chance)
        for what in chance.choices(MOMENTS, list(weights.values()), k=2):
            yield _at_moment(what, chance)


def driver_kills(seed: int) -> Iterator[Kill]:
    """Kills of the driver alone, where commits are copied to the root: at points, and at random moments."""
    chance = random.Random(seed)
    left_out = (FIRST, *REWRITTEN, *CHANGED)
    points = [each for each in POINTS if each not in left_out and not each.startswith("task.")]
    for number in count():
        yield Kill(COPY_POINTS[number % len(COPY_POINTS)], chance.randint(1, 3))
        yield _at_point(points[(seed + number) % len(points)], chance)
        yield _at_moment(chance.choices((DRIVER, START), (5, 1))[0], chance)


def first_kills(scenario: str, root: int) -> list[Kill]:
    """The kills of the first children on a root, last first: when they deploy, or rewrite states."""
    first = [Kill(FIRST)] if root % 2 == 0 else []
    # There must be states to be rewritten.
    later = [*(Kill(point) for point in reversed(REWRITTEN)), Kill("train.committed", 8)]
    changed = [Kill(point, 2 + root % 3) for point in CHANGED]
    is_parted, is_changing = scenario.endswith("parted"), scenario.endswith("changing")
    return [*(later if is_parted else changed if is_changing else []), *first]


def _at_point(point: str, chance: random.Random) -> Kill:
    if point.startswith("task."):
        # Every worker ends at this time. Not too soon: a train must get through when it is tried again in
        # another worker, and most kills are to be those of drivers.
        return Kill(point, chance.randint(6, 20), driver_after=_later(chance))
    if point.startswith("root."):
        return Kill(point)
    return Kill(point, chance.randint(1, 2 if point.startswith(("compaction.", "history.")) else 6))


def _at_moment(what: str, chance: random.Random) -> Kill:
    times = chance.randint(2, 6) if what == WORKER else 1
    # A first train waits for Python to start, so most moments are counted from behind it.
    since = READY if chance.random() < 0.2 and what in (DRIVER, JVM) else WORKING
    later = _later(chance) if what in (DAEMON, WORKER) else None
    return Kill(what, times, chance.uniform(0, 3), since, later)


def _later(chance: random.Random) -> float | None:
    return chance.uniform(1, 6) if chance.random() < 0.8 else None
