"""Graphs as curves: utilities along them, the good zone, slopes, and values that are missing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.qos.curves import curves

from australis.algebra.quality import Points, ValueGraph
from australis.qos.graphs import delta, positions, slope, utilities, utility, value_utilities

DELAY = ((1.0, 1.0), (3.0, 1.0), (5.0, 0.5), (6.0, 0.0))


def test_a_graph_is_flat_beyond_its_ends_and_without_points_one() -> None:
    assert [utility(DELAY, x) for x in (0, 1, 4, 5.5, 6, 1e9)] == [1, 1, 0.75, 0.25, 0, 0]
    assert utility((), 1e9) == 1


@pytest.mark.parametrize(
    ("points", "expected"), [(DELAY, 3), ((), math.inf), (((0, 1),), math.inf), (((0, 1), (2, 0)), 0)]
)
def test_the_good_zone_ends_where_utility_begins_to_fall(points: Points, expected: float) -> None:
    assert delta(points) == expected


def test_slopes_on_both_sides_of_a_corner_and_beyond_the_ends() -> None:
    assert [slope(DELAY, 3, toward) for toward in (-1, 1)] == [0, -0.25]
    assert [slope(DELAY, x, 1) for x in (0, 4, 5, 6, 7)] == [0, -0.25, -0.5, 0, 0]
    assert slope((), 1, 1) == 0


@given(curves(), st.lists(st.floats(-60, 60), max_size=10))
def test_utilities_follow_the_slopes(points: Points, xs: list[float]) -> None:
    found = utilities(points, np.array(xs))
    assert all(0 <= each <= 1 for each in found)
    stops = [x for x, _ in points]
    for x, here in zip(xs, found, strict=True):
        until = min([stop for stop in stops if stop > x], default=x + 1)
        assert utility(points, until) == pytest.approx(here + slope(points, x, 1) * (until - x))


@given(curves())
def test_the_last_highest_point_is_the_end_of_the_good_zone(points: Points) -> None:
    end = delta(points)
    if math.isinf(end):
        assert points[-1][1] == 1
    else:
        assert utility(points, end) == 1
        assert all(y1 < 1 for (x0, _), (_, y1) in pairwise(points) if x0 >= end)


def test_what_has_no_value_is_worth_nothing() -> None:
    numbers, kinds = (
        ValueGraph("v", ((0, 1), (1, 0.5))),
        ValueGraph("v", categories=(("None", 1), ("a", 0.5))),
    )
    assert list(value_utilities(numbers, np.array([-1, math.nan, 1]))) == [1, 0, 0.5]
    assert list(value_utilities(kinds, np.array(["a", None, "None", "b"], object))) == [0.5, 0, 1, 0]


def test_timestamps_are_positions_in_seconds() -> None:
    times = np.array(["2026-01-01T00:00:00.250", "NaT"], "datetime64[ms]")
    found = positions(times)
    assert found[0] == 1767225600.25
    assert math.isnan(found[1])
    graph = ValueGraph("t", ((1767225600, 0), (1767225601, 1)))
    assert list(value_utilities(graph, times)) == [0.25, 0]
