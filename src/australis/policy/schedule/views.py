"""Views: streams that nothing reads yet are computed when the node is otherwise idle (Aurora 2.1).

So they are materialised fully while the load is low, partly while it is high, and not at all if their
importance is 0. A query that attaches to a view makes it an ordinary stage.
"""

from __future__ import annotations

from dataclasses import replace

from australis.policy.load import Situation
from australis.policy.schedule.schedule import Choice, ready

TRAIN_MOST = 100_000
"""The longest train for a view: other work may arrive at any time."""


def without_views(situation: Situation) -> Situation:
    """The situation without the stages that lead only to views."""
    stages = {
        name: stage if stage.view is None else replace(stage, waiting=0)
        for name, stage in situation.stages.items()
    }
    return replace(situation, stages=stages)


def next_view(situation: Situation, most: int) -> Choice | None:
    """The most important view that could run; of several, the one with the smallest head.

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
