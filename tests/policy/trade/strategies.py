"""Costs and tasks to try things with."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import strategies as st

from australis.policy.trade.contract import Task
from australis.policy.trade.cost import CostCurve

steps = st.integers(0, 40)
costs = st.builds(
    lambda first, rises, step: CostCurve(tuple(accumulate(rises, initial=first)), step),
    st.integers(0, 50),
    st.lists(steps, max_size=25),
    st.integers(1, 4),
)
"""Convex ones: slopes that rise by whole numbers, or stay."""


def tasks(loads: list[int]) -> list[Task]:
    """Tasks of these loads, with names."""
    return [Task(f"t{number}", load) for number, load in enumerate(loads)]


loads = st.lists(st.integers(1, 6), max_size=8)
