"""Superboxes built on demand: the stages that a train passes through at once (Aurora 4.3).

The paper takes the boxes that lead to the chosen output, as long as their queues are in memory. Here a queue
is a file, so a train continues to stages whose queues are empty: to everything downstream of the first stage
while there is time for all of it, otherwise only along the path to one output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.priorities import train_length
from australis.policy.schedule.schedule import Choice, work_us

IN_TIME = 0.5
"""The fraction of an output's good zone that waiting, and work through all stages at once, may use up."""


def constructed(choice: Choice, situation: Situation) -> Choice:
    """The choice with the stages to which its train can continue.

    >>> stages = {"parse": Stage("parse", {"count": 1.0, "log": 1.0}, waiting=9)}
    >>> stages |= {name: Stage(name, joins=True) for name in ("count", "log")}
    >>> constructed(Choice("parse", 100), Situation(0, stages, {})).stages
    ('parse', 'count', 'log')
    """
    everything = tuple(_reached(choice.stage, situation))
    if _is_in_time(choice, everything, situation):
        return replace(choice, downstream=everything)
    layout = situation.columns.layout
    goals = layout.through(layout.stage[choice.stage])
    if not len(goals):
        return choice
    # The first of the most important outputs; of these, the one whose good zone is shortest.
    best = goals[np.lexsort((layout.delta[goals], -layout.weight[goals]))[0]]
    downstream = tuple(_along(choice.stage, situation.goals[layout.goals[best]], everything))
    return replace(choice, downstream=downstream, most=_length(choice, downstream, situation))


def _length(choice: Choice, downstream: tuple[str, ...], situation: Situation) -> int:
    """The tuples of a train that passes several stages: their costs add up."""
    stages = [situation.stages[name] for name in (choice.stage, *downstream)]
    costs = {what: sum(getattr(each, what) for each in stages) for what in ("tuple_us", "train_us")}
    return train_length(replace(stages[0], **costs), situation, choice.most)


def _reached(first: str, situation: Situation) -> Iterator[str]:
    """The stages downstream to which a train can continue: everything that feeds them is on the train."""
    layout, stages = situation.columns.layout, situation.stages
    aboard = {layout.stage[first]}
    # Every stage comes after those that feed it: in the order of their numbers, each is seen once.
    fed = list(layout.fed[layout.stage[first]])
    heapify(fed)
    seen = -1
    while fed:
        number = heappop(fed)
        if number == seen:
            continue
        seen, stage = number, stages[layout.stages[number]]
        if layout.feeders[number] <= aboard and _is_free(stage, stages[first], situation):
            aboard.add(number)
            for each in layout.fed[number]:
                heappush(fed, each)
            yield stage.id


def _is_free(stage: Stage, first: Stage, situation: Situation) -> bool:
    abreast = not stage.waiting and stage.head == first.head
    return stage.joins and abreast and stage.id not in situation.busy


def _is_in_time(choice: Choice, downstream: tuple[str, ...], situation: Situation) -> bool:
    """Whether everything waiting at the first stage can pass all stages within the outputs' good zones."""
    stages = [situation.stages[name] for name in (choice.stage, *downstream)]
    first = stages[0]
    work_s = sum(work_us(stage, first.waiting) for stage in stages) / 1e6
    columns = situation.columns
    number = columns.layout.stage[first.id]
    goals = columns.layout.through(number)
    waited_s = columns.waited_s(np.full(len(goals), number), goals)
    in_time = waited_s + work_s <= IN_TIME * columns.allowed_s[goals]
    return first.waiting <= choice.most and bool(in_time.all())


def _along(first: str, goal: Goal, reached: tuple[str, ...]) -> Iterator[str]:
    """The stages from one to an output, as far as they are reached without a gap."""
    for name in goal.way[goal.way.index(first) + 1 :]:
        if name not in reached:
            return
        yield name
