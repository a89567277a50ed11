"""A node in which tuples are a fluid: stages with queues, workers that serve the most urgent, steps of 0.1 s.

All chance comes from one `random.Random`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from australis.algebra.quality import Points, Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed.shedder import Command, Shedder, Withdraw
from australis.qos.graphs import delta

STEP_US = 100_000
SEEN = 10
"""Over how many steps rates and delays are measured."""
SLOPES: tuple[Points, ...] = (
    ((0, 0), (1, 1)),
    ((0, 0), (0.5, 0.9), (1, 1)),
    ((0, 0.2), (0.7, 1), (1, 1)),
    ((0, 0), (0.9, 0.3), (1, 1)),
)


@dataclass
class Queue:
    """What stands at the gate of a stage: (arrival, tuples) in the order of arrival."""

    stage: Stage
    urgency: float
    """The end of the tightest good zone downstream of the stage, in seconds."""
    chunks: deque[tuple[int, float]] = field(default_factory=deque)
    arrived: deque[float] = field(default_factory=lambda: deque([0.0] * SEEN, SEEN))

    @property
    def waiting(self) -> float:
        return sum(tuples for _, tuples in self.chunks)


@dataclass
class Node:
    """A node under a load; `dearer` is how many times more tuples really cost than was measured."""

    stages: Mapping[str, Stage]
    goals: Mapping[str, Goal]
    shedder: Shedder
    dearer: float = 1.0
    workers: int = 1
    noise: float = 0.0
    """The standard deviation of what is measured of rates and costs, as a part of it."""
    random: Random = field(default_factory=lambda: Random(0))
    every: int = 5
    """In how many steps the shedder decides once."""

    def __post_init__(self) -> None:
        self.now = 0
        zones = {name: delta(goal.quality.delay) for name, goal in self.goals.items()}
        self.queues = {
            s.id: Queue(s, min((zones[o] for o in s.outputs), default=1e9)) for s in self.stages.values()
        }
        self.delays: dict[str, deque[tuple[int, float]]] = {name: deque() for name in self.goals}
        self.lost = dict.fromkeys(self.goals, 0.0)
        self.shed_at: set[str] = set()

    def step(self, rates: Mapping[str, float]) -> tuple[Command, ...]:
        """A tenth of a second: tuples arrive, the shedder decides at times, the workers work."""
        self.now += STEP_US
        for queue in self.queues.values():
            queue.arrived.append(0.0)
        for name, rate in rates.items():
            self._arrive(name, self.now, rate * STEP_US / 1e6)
        commands = self.shedder.decide(self.situation()) if self.now % (self.every * STEP_US) == 0 else ()
        self.shed_at |= {command.stage for command in commands if not isinstance(command, Withdraw)}
        self._work(self.workers * STEP_US / 1e6)
        return commands

    def _arrive(self, name: str, ts: int, tuples: float) -> None:
        if tuples > 0:
            self.queues[name].chunks.append((ts, tuples))
            self.queues[name].arrived[-1] += tuples

    def _work(self, seconds: float) -> None:
        """Serve the most urgent chunk until the time is used up."""
        while seconds > 1e-9:
            urgent = [q for q in self.queues.values() if q.chunks]
            if not urgent:
                return
            queue = min(urgent, key=lambda q: q.chunks[0][0] / 1e6 + q.urgency)
            seconds -= self._serve(queue, seconds)

    def _serve(self, queue: Queue, seconds: float) -> float:
        stage, (ts, tuples) = queue.stage, queue.chunks.popleft()
        box = self.shedder.boxes.get(stage.id)
        kept = 1.0 - box.rate if box else 1.0
        each = stage.tuple_us * self.dearer / 1e6
        taken = min(tuples, seconds / (each * kept)) if kept > 0 else tuples
        if taken < tuples:
            queue.chunks.appendleft((ts, tuples - taken))
        for fed, part in stage.feeds.items():
            self._arrive(fed, ts, taken * kept * part)
        for name in stage.outputs:
            self.lost[name] += taken * (1.0 - kept)
            if self.goals[name].way[-1] == stage.id and kept > 0:
                self.delays[name].append((self.now, (self.now - ts) / 1e6))
        return taken * kept * each

    def delay(self, name: str) -> float | None:
        """The greatest recent delay: above any percentile."""
        seen = self.delays[name]
        while seen and seen[0][0] <= self.now - SEEN * STEP_US:
            seen.popleft()
        return max((each for _, each in seen), default=None)

    def situation(self) -> Situation:
        stages = {name: self._seen(queue) for name, queue in self.queues.items()}
        goals = {
            name: Goal(goal.id, goal.quality, goal.way, self.delay(name)) for name, goal in self.goals.items()
        }
        return Situation(self.now, stages, goals, self.workers, headroom=0.95)

    def _seen(self, queue: Queue) -> Stage:
        stage = queue.stage
        return Stage(
            stage.id,
            stage.feeds,
            stage.outputs,
            waiting=round(queue.waiting),
            oldest=queue.chunks[0][0] if queue.chunks else None,
            rate=self._measured(sum(queue.arrived) / (len(queue.arrived) * STEP_US / 1e6)),
            tuple_us=self._measured(stage.tuple_us),
        )

    def _measured(self, value: float) -> float:
        return value * (1.0 + self.random.gauss(0.0, self.noise)) if self.noise else value


@dataclass(frozen=True)
class Overload:
    """A node, its usual load, and a burst: everything that defines a simulated overload."""

    stages: Mapping[str, Stage]
    goals: Mapping[str, Goal]
    rates: Mapping[str, float]
    """The usual tuples per second at the stages that inputs feed."""
    factor: float
    """The factor of the burst."""
    dearer: float

    def asked(self, factor: float, only: frozenset[str] | None = None) -> float:
        """The workers' time that stages need; only those that lead to any of some outputs."""
        arriving = dict.fromkeys(self.stages, 0.0) | {s: r * factor for s, r in self.rates.items()}
        total = 0.0
        for stage in self.stages.values():
            for fed, part in stage.feeds.items():
                arriving[fed] += arriving[stage.id] * part
            if only is None or stage.outputs & only:
                total += arriving[stage.id] * stage.tuple_us * self.dearer / 1e6
        return total

    @property
    def whole(self) -> frozenset[str]:
        """The outputs that never lose a tuple."""
        return frozenset(n for n, g in self.goals.items() if not g.quality.loss and not g.quality.value)


def overload(random: Random) -> Overload:
    """Inputs with a shared stage each, and after it one stage for each of its outputs; of random costs."""
    stages: dict[str, Stage] = {}
    goals: dict[str, Goal] = {}
    rates: dict[str, float] = {}
    for root in range(random.randint(1, 2)):
        names = [f"out{root}{index}" for index in range(random.randint(1, 3))]
        feeds = {f"own_{name}": random.choice((0.2, 0.5, 1.0, 2.0)) for name in names}
        shared = f"shared{root}"
        stages[shared] = Stage(shared, feeds, frozenset(names), tuple_us=random.uniform(5, 50))
        rates[shared] = 1000.0
        for name in names:
            own = f"own_{name}"
            stages[own] = Stage(own, {}, frozenset({name}), tuple_us=random.uniform(20, 400))
            goals[name] = Goal(name, _quality(random), (shared, own))
    draft = Overload(stages, goals, rates, 1.0, random.uniform(1.0, 1.15))
    usual = random.uniform(0.4, 0.8) / draft.asked(1.0)
    rates = {name: rate * usual for name, rate in rates.items()}
    return Overload(stages, goals, rates, random.uniform(1.2, 4.0), draft.dearer)


def _quality(random: Random) -> Quality:
    end = random.uniform(1.0, 4.0)
    loss = random.choice(SLOPES) if random.random() < 0.75 else ()
    delay = ((0.0, 1.0), (end, 1.0), (3 * end, 0.0)) if random.random() < 0.8 else ()
    return Quality(delay=delay, loss=loss, weight=random.choice((0.5, 1.0, 3.0)))
