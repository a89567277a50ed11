"""A thousand simulated overloads, each from its seed: outputs recover, and no drop box is left."""

from __future__ import annotations

from random import Random

import pytest
from tests.policy.shed.fluid import Node, Overload, overload

from australis.policy.shed.shedder import Shedder
from australis.qos.graphs import delta

BURST = range(20, 100)
"""In steps of 0.1 s."""
RECOVERED = BURST.start + 50
MOST = 3000


@pytest.mark.parametrize("block", range(10))
def test_outputs_recover_and_no_drop_box_is_left(block: int) -> None:
    shed = [_run(seed) for seed in range(100 * block, 100 * block + 100)]
    assert sum(shed) >= 20, "the overloads of a block are to be overloads"


def test_without_shedding_they_do_not() -> None:
    late = [seed for seed in range(20) if _is_late_without(overload(Random(seed)))]
    assert len(late) >= 5


def _run(seed: int) -> bool:
    """One overload; whether anything was shed."""
    story = overload(Random(seed))
    node = Node(story.stages, story.goals, Shedder(), story.dearer)
    possible = story.asked(story.factor, story.whole) <= 0.9
    for step in range(MOST):
        _step(node, story, step)
        if possible and step >= RECOVERED:
            assert not _late(node), (seed, step, _late(node), node.shedder.boxes)
        if step > BURST.stop + 30 and not node.shedder.boxes and not _late(node):
            break
    assert not node.shedder.boxes, (seed, node.shedder.boxes)
    assert not any(story.stages[stage].outputs & story.whole for stage in node.shed_at), seed
    assert not any(node.lost[name] for name in story.whole), seed
    assert not possible or step <= BURST.stop + 150, (seed, step)
    return bool(node.shed_at)


def _is_late_without(story: Overload) -> bool:
    node = Node(story.stages, story.goals, Shedder(), story.dearer)
    node.shedder.decide = lambda *_, **__: ()  # type: ignore[method-assign]
    for step in range(BURST.stop):
        _step(node, story, step)
    return bool(_late(node))


def _step(node: Node, story: Overload, step: int) -> None:
    factor = story.factor if step in BURST else 1.0
    node.step({name: rate * factor for name, rate in story.rates.items()})


def _late(node: Node) -> list[str]:
    delays = {name: node.delay(name) for name in node.goals}
    zones = {name: delta(goal.quality.delay) for name, goal in node.goals.items()}
    return [name for name, delay in delays.items() if delay is not None and delay > zones[name] + 1e-6]
