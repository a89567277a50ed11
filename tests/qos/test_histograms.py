"""Histograms of values: each value is in one bin, and the lowest values are the lowest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.qos.curves import curves

from australis.algebra.quality import Points, ValueGraph
from australis.qos.graphs import value_utilities
from australis.qos.histograms import Bins, Interval, Lowest, bins_of, count, lowest, mean_utility

KINDS = ValueGraph("kind", categories=(("alarm", 1.0), ("note", 0.1), ("hint", 0.4)))
VALLEY = ValueGraph("v", points=((0, 1), (10, 0), (20, 0), (40, 1)))


def graph(points: Points) -> ValueGraph:
    return ValueGraph("v", points)


def test_bins_of_numbers_lie_between_the_points_and_beyond_them() -> None:
    bins = bins_of(VALLEY, per_piece=2)
    assert [each.low for each in bins.intervals] == [-math.inf, 0, 5, 10, 15, 20, 30, 40]
    assert bins.utilities == (1, 0.75, 0.25, 0, 0, 0.25, 0.75, 1, 0)
    assert len(bins) == 9


def test_a_graph_of_one_point_has_two_open_bins() -> None:
    assert bins_of(graph(((3, 1),))).intervals == (Interval(-math.inf, 3), Interval(3, math.inf))


def test_borders_belong_to_the_bin_on_their_right_and_what_is_missing_to_the_last() -> None:
    values = np.array([-1, 0, 4.9, 5, 40, 1e9, math.inf, -math.inf, math.nan])
    assert list(count(bins_of(VALLEY, 2), values)) == [2, 2, 1, 0, 0, 0, 0, 3, 1]


def test_values_may_come_with_how_often_they_occur() -> None:
    values, often = np.array(["note", None, "x", "alarm"], object), np.array([5, 2, 1, 3])
    assert list(count(bins_of(KINDS), values, often)) == [3, 5, 0, 3]
    assert list(count(bins_of(VALLEY, 1), np.array([5, 15]), np.array([7, 8]))) == [0, 7, 8, 0, 0, 0]


def test_nothing_counted() -> None:
    bins = bins_of(KINDS)
    empty = count(bins, np.array([], str))
    assert list(empty) == [0, 0, 0, 0]
    assert mean_utility(bins, empty) == 1
    assert lowest(bins, empty, 0.5) == lowest(bins, np.array([1, 0, 0, 0]), 0) == Lowest()


def test_the_lowest_categories() -> None:
    bins, counts = bins_of(KINDS), np.array([10, 60, 20, 10])
    assert lowest(bins, counts, 0.1) == Lowest((), (), True, 0.1, 0)
    found = lowest(bins, counts, 0.11)
    assert (found.categories, found.others, found.fraction) == (("note",), True, 0.7)
    assert found.utility == pytest.approx(0.1 * 60 / 70)
    assert lowest(bins, np.array([10, 60, 30, 0]), 0.8).categories == ("note", "hint")
    assert lowest(bins, np.array([10, 60, 30, 0]), 2).fraction == 1


def test_the_lowest_intervals_grow_from_the_valley() -> None:
    bins = bins_of(VALLEY, per_piece=2)
    counts = np.array([0, 10, 10, 10, 10, 20, 20, 20, 0])
    assert lowest(bins, counts, 0.1).intervals == (Interval(10, 15),)
    assert lowest(bins, counts, 0.2).intervals == (Interval(10, 20),)
    # On the falling piece the values on the right are lower, on the rising piece those on the left.
    assert lowest(bins, counts, 0.25).intervals == (Interval(7.5, 20),)
    assert lowest(bins, counts, 0.4).intervals == (Interval(5, 25),)
    # An open interval cannot be cut.
    assert lowest(bins, counts, 0.9).fraction == pytest.approx(1.0)


def test_missing_values_go_first_where_there_are_any() -> None:
    bins = bins_of(graph(((0, 0.5), (10, 1))), per_piece=1)
    assert lowest(bins, np.array([1, 1, 1, 1]), 0.25) == Lowest((), (), True, 0.25, 0)
    assert lowest(bins, np.array([1, 1, 1, 0]), 0.5).others is False


finite = st.floats(-60, 60)
values_lists = st.lists(st.one_of(finite, st.just(math.nan)), min_size=1, max_size=40)


@given(curves(), values_lists)
def test_every_value_is_in_the_bin_that_holds_it(points: Points, values: list[float]) -> None:
    bins = bins_of(graph(points), 3)
    counts = count(bins, np.array(values))
    assert counts.sum() == len(values)
    for interval, number in zip(bins.intervals, counts, strict=False):
        assert number == sum(interval.low <= value < interval.high for value in values)


@given(curves(), values_lists)
def test_a_fine_histogram_is_worth_what_its_values_are(points: Points, values: list[float]) -> None:
    bins = bins_of(graph(points), 2000)
    exact = value_utilities(graph(points), np.array(values)).mean()
    assert mean_utility(bins, count(bins, np.array(values))) == pytest.approx(exact, abs=1 / 2000)


@given(curves(), values_lists, st.floats(0, 1))
def test_the_lowest_hold_as_much_as_is_wanted_and_nothing_left_is_lower(
    points: Points, values: list[float], fraction: float
) -> None:
    bins = bins_of(graph(points), 4)
    counts = count(bins, np.array(values))
    found = lowest(bins, counts, fraction)
    assert found.fraction >= fraction - 1e-9
    assert not (fraction == 0 and (found.intervals or found.others))
    taken, left = _worths(bins, found)
    assert max(taken, default=0) <= min(left, default=1) + 1e-9


def _worths(bins: Bins, found: Lowest) -> tuple[list[float], list[float]]:
    """The utilities of the bins that are taken whole, and of those that are left whole."""
    taken, left = ([bins.utilities[-1]], []) if found.others else ([], [])
    for each, worth in zip(bins.intervals, bins.utilities, strict=False):
        if any(part.low <= each.low and each.high <= part.high for part in found.intervals):
            taken.append(worth)
        elif not any(part.low < each.high and each.low < part.high for part in found.intervals):
            left.append(worth)
    return taken, left
