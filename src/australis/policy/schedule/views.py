"""Views: streams that nothing reads yet are computed when the node is otherwise idle (Aurora 2.1).

So they are materialised fully while the load is low, partly while it is high, and not at all if their
importance is 0. A query that attaches to a view makes it an ordinary stage.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from australis.policy.load import OnDemand, Situation, Stage
from australis.policy.schedule.schedule import Choice

TRAIN_MOST = 100_000
"""The longest train for a view: other work may arrive at any time."""


def without_views(situation: Situation) -> Situation:
    """The situation without the stages that lead only to views."""
    columns = situation.columns
    is_view = ~np.isnan(columns.view)
    if not is_view.any():
        return situation
    return replace(
        situation,
        stages=OnDemand(situation.stages, lambda name: _unless_view(situation.stages[name])),
        known=replace(columns, waiting=np.where(is_view, 0, columns.waiting)),
    )


def _unless_view(stage: Stage) -> Stage:
    return stage if stage.view is None else replace(stage, waiting=0)


def next_view(situation: Situation, most: int) -> Choice | None:
    """The most important view that could run; of several, the one with the smallest head.

    >>> from australis.policy.load import Stage
    >>> stages = {name: Stage(name, waiting=9, view=worth) for name, worth in (("a", 1.0), ("b", 2.0))}
    >>> next_view(Situation(0, stages, {}), 500).stage
    'b'
    >>> next_view(Situation(0, stages, {}, busy=frozenset("b")), 500).stage
    'a'
    """
    columns = situation.columns
    views = columns.ready[columns.view[columns.ready] > 0]
    if not len(views):
        return None
    best = views[np.lexsort((columns.head[views], -columns.view[views]))[0]]
    return Choice(columns.layout.stages[best], min(most, TRAIN_MOST))
