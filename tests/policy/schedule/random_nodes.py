"""Random nodes to compare schedules on: branching plans, all kinds of graphs, queues and drop boxes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage

START = 1_000_000_000
SECOND = 1_000_000


def random_node(random: Random, stages_most: int = 12) -> Situation:
    """A node in any state. Costs and times are such that their sums are exact, in any order."""
    count = random.randint(1, stages_most)
    feeders = [sorted(random.sample(range(number), k=min(number, _few(random)))) for number in range(count)]
    ends = [number for number in range(count) if random.random() < 0.7]
    ways = {f"o{end}": tuple(f"s{each}" for each in _upstream(end, feeders)) for end in ends}
    stages = {}
    for number in range(count):
        name = f"s{number}"
        outputs = frozenset(output for output, way in ways.items() if name in way)
        fed = {f"s{reader}": 1.0 for reader in range(count) if number in feeders[reader]}
        stages[name] = _stage(random, name, fed, outputs)
    goals = {name: _goal(random, name, way) for name, way in ways.items()}
    busy = frozenset(name for name in stages if random.random() < 0.15)
    return Situation(START, stages, goals, random.choice([1, 2, 4]), busy=busy)


def later(random: Random, node: Situation) -> Situation:
    """The same node at a later moment: other queues, other measurements."""
    stages = {
        name: replace(_stage(random, name, stage.feeds, stage.outputs), view=stage.view)
        for name, stage in node.stages.items()
    }
    goals = {name: replace(goal, **_seen(random)) for name, goal in node.goals.items()}
    now = node.now + random.choice([1_000, 300_000, 2 * SECOND, 9 * SECOND])
    busy = frozenset(name for name in stages if random.random() < 0.15)
    return replace(node, now=now, stages=_until(now, stages), goals=goals, busy=busy)


def _until(now: int, stages: dict[str, Stage]) -> dict[str, Stage]:
    """The stages with what waits since before some moment."""
    moved = now - START
    return {
        name: replace(
            stage,
            oldest=None if stage.oldest is None else stage.oldest + moved,
            triggered=None if stage.triggered is None else stage.triggered + moved,
        )
        for name, stage in stages.items()
    }


def _few(random: Random) -> int:
    return random.choice([0, 0, 1, 1, 1, 2])


def _upstream(end: int, feeders: list[list[int]]) -> list[int]:
    found: dict[int, None] = {}
    for each in feeders[end]:
        found |= dict.fromkeys(_upstream(each, feeders))
    return [*found, end]


def _stage(random: Random, name: str, feeds: object, outputs: frozenset[str]) -> Stage:
    waiting = random.choice([0, 0, 1, 40, 1_000, 50_000, 3_000_000])
    oldest = START - random.choice([0, 1, 250_000, SECOND, 3 * SECOND, 30 * SECOND]) if waiting else None
    sheds = random.choice([0.0, 0.0, 0.5, 0.75])
    return Stage(
        name,
        feeds,  # type: ignore[arg-type]
        outputs,
        waiting,
        oldest,
        rate=random.choice([0.0, 64.0, 1024.0, 1e6]),
        tuple_us=random.choice([0.0, 0.25, 1.0, 8.0, 512.0]),
        train_us=random.choice([0.0, 1024.0, 30_000.0, 400_000.0]),
        sheds=sheds,
        shed_us=0.125,
        head=random.choice([5, 5, 7]),
        view=None if outputs else random.choice([None, 0.0, 1.0, 2.0]),
        joins=random.random() < 0.7,
        triggered=START - random.choice([0, 125_000, SECOND]) if waiting and random.random() < 0.5 else None,
    )


def _goal(random: Random, name: str, way: tuple[str, ...]) -> Goal:
    graph = random.choice(
        [
            (),
            ((0, 1), (2, 1), (10, 0)),
            ((0.5, 1), (1, 0)),
            ((0, 1), (1, 0.75), (4, 0.5), (8, 0.5), (64, 0)),
            ((1, 1),),
        ]
    )
    quality = Quality(delay=graph, weight=random.choice([1.0, 1.0, 2.0, 0.25]), since=random.choice(SINCE))
    return Goal(name, quality, way, **_seen(random))


SINCE = ("oldest", "oldest", "trigger")


def _seen(random: Random) -> dict[str, float]:
    return {"delay": random.choice([0.0, 0.5, 3.0, 20.0]), "lag": random.choice([0.0, 0.0, 0.25, 5.0])}
