"""Views: what nobody reads so far is computed when there is nothing better to do (Aurora 2.1).

So they are materialised wholly while the load is low, in part while it is high, and not at all as long as
they are of no importance. A query that attaches to one makes it a stage as any other.
"""

from __future__ import annotations

from dataclasses import replace

from australis.policy.load import Situation
from australis.policy.schedule.schedule import Choice, ready

TRAIN_MOST = 100_000
"""The most tuples of a train for a view: what others wait for may come at any time."""


def without_views(situation: Situation) -> Situation:
    """The situation of the stages that somebody waits for."""
    stages = {
        name: stage if stage.view is None else replace(stage, waiting=0)
        for name, stage in situation.stages.items()
    }
    return replace(situation, stages=stages)


def next_view(situation: Situation, most: int) -> Choice | None:
    """The most important view that could run; of several the one that is furthest behind.

    >>> from australis.policy.load import Stage
    >>> stages = {name: Stage(name, waiting=9, view=worth) for name, worth in (("a", 1.0), ("b", 2.0))}
    >>> next_view(Situation(0, stages, {}), 500).stage
    'b'
    >>> next_view(Situation(0, stages, {}, busy=frozenset("b")), 500).stage
    'a'
    """
    views = [stage for stage in ready(situation) if stage.view]
    best = max(views, key=lambda stage: (stage.view or 0.0, -stage.head), default=None)
    return None if best is None else Choice(best.id, min(most, TRAIN_MOST))
