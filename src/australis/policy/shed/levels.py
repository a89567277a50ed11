"""Levels of loss: how what has to be shed is divided between outputs that would lose about the same.

The level of a step is the weighted utility that it loses per second of workers' time recovered, times
1 + evenness x what its output has lost already. So the levels of an output rise along its curve, and of
several that lose about the same each sheds a part: equal ones the same fraction, one that would lose a little
more a little less. Without evenness a step is taken as a whole before the next one: the paper's order, in
which the least difference of two measured costs decides which output loses all. What costs nothing is below
all of that, by the fraction that is left: it goes first, in equal fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from australis.policy.shed.walk import NEAR, Step, Walk

EVENNESS = 1.0
"""An output's last tuple counts twice its first, beside what its curve says."""


@dataclass
class _Rise:
    """The level as it rises, with the steps that it has reached of each group."""

    level: float = float("-inf")
    recovered: float = 0.0
    """The time per second that steps save, as far as the level has taken them."""
    speed: float = 0.0
    """How fast that grows with the level."""
    open: dict[str, Step] = field(default_factory=dict)
    """The steps that are taken in part, by group."""

    def part(self, step: Step) -> float:
        """How much of a step the level has taken."""
        width = step.ends - step.begins
        return min(max((self.level - step.begins) / width, 0.0), 1.0) if width > 0 else 1.0


def rise(walk: Walk, need: float) -> None:
    """Let the level rise over the steps of all groups until a given time is recovered.

    The steps of one group follow each other in the walk's order; a step that begins below the level, because
    a curve becomes flatter there, is taken at once up to the level.
    """
    now = _Rise()
    ahead = [(step.begins, group) for group in walk.groups if (step := walk.best(group)) is not None]
    heapify(ahead)
    """The groups by the next level at which something happens: a step begins, or an open one ends."""
    while ahead and need - now.recovered > NEAR:
        begins, group = heappop(ahead)
        level = max(begins, now.level)
        if now.speed * (level - now.level) >= need - now.recovered:
            now.level += (need - now.recovered) / now.speed
            break
        if now.speed > 0:
            now.recovered += now.speed * (level - now.level)
        now.level = level
        if not _pass(walk, now, group, need):
            break
        step = now.open.get(group) or walk.best(group)
        if step is not None:
            heappush(ahead, (step.ends if group in now.open else step.begins, group))
    for step in now.open.values():
        walk.take(step, now.part(step))


def _pass(walk: Walk, now: _Rise, group: str, need: float) -> bool:
    """End the open step of a group, or begin its next one; False if no step can be taken any more."""
    step = now.open.pop(group, None)
    if step is not None:
        now.speed -= _speed(step)
        now.speed = now.speed if now.open else 0.0
        return walk.take(step)
    step = walk.best(group)
    assert step is not None
    part = now.part(step)
    rest = need - now.recovered
    if part * step.relief >= rest:
        now.recovered = need
        return walk.take(step, rest / step.relief)
    now.recovered += part * step.relief
    if part >= 1.0:
        return walk.take(step)
    now.open[group] = step
    now.speed += _speed(step)
    return True


def _speed(step: Step) -> float:
    return step.relief / (step.ends - step.begins)
