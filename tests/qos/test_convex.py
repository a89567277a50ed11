"""Why graphs should be convex: then walking along the smallest slopes finds the best, else it may not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.algebra.quality import Quality
from australis.qos.graphs import slope, utility

STEPS = 4
"""Fractions are shed in steps of a quarter."""


def greedy(outputs: list[Quality], steps: int) -> float:
    """Shed always where the next step costs least (Aurora 4.5); the utility that is left."""
    left = [STEPS] * len(outputs)
    for _ in range(steps):
        able = [i for i, found in enumerate(left) if found]
        least = min(able, key=lambda i: outputs[i].weight * slope(outputs[i].loss, left[i] / STEPS, -1))
        left[least] -= 1
    return _total(outputs, left)


def best(outputs: list[Quality], steps: int) -> float:
    """The highest utility of all ways to shed as many steps."""
    ways = itertools.product(range(STEPS + 1), repeat=len(outputs))
    return max(_total(outputs, left) for left in ways if sum(left) == STEPS * len(outputs) - steps)


def _total(outputs: list[Quality], left: list[int] | tuple[int, ...]) -> float:
    pairs = zip(outputs, left, strict=True)
    return sum(found.weight * utility(found.loss, rest / STEPS) for found, rest in pairs)


@st.composite
def convex(draw: st.DrawFn) -> Quality:
    rises = sorted(draw(st.lists(st.integers(0, 9), min_size=STEPS, max_size=STEPS)), reverse=True)
    heights = list(itertools.accumulate(rises, initial=draw(st.integers(1, 9))))
    points = ((step / STEPS, height / heights[-1]) for step, height in enumerate(heights))
    return Quality(loss=tuple(points), weight=draw(st.integers(1, 5)))


@settings(deadline=None)
@given(st.lists(convex(), min_size=1, max_size=3), st.integers(0, STEPS))
def test_along_convex_graphs_the_smallest_slopes_lead_to_the_best(outputs: list[Quality], steps: int) -> None:
    assert not [warning for output in outputs for warning in output.warnings()]
    assert greedy(outputs, steps) == pytest.approx(best(outputs, steps))


def test_along_other_graphs_they_need_not() -> None:
    cliff, slow = Quality(loss=((0.5, 0), (1, 1))), Quality(loss=((0, 0), (1, 1)))
    assert [warning.path for warning in cliff.warnings()] == ["loss"]
    assert (greedy([cliff, slow], 5), best([cliff, slow], 5)) == (0.5, 0.75)
