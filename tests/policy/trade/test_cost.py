"""Costs are exact and convex, whatever they are made of."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.trade.strategies import costs

from australis.errors import PolicyError
from australis.policy.trade.cost import CostCurve, in_flight, narrowest

few = st.integers(1, 30)
some = st.integers(0, 120)


@given(costs, some, few, few)
def test_marginal_costs_add_up_exactly(cost: CostCurve, load: int, one: int, other: int) -> None:
    assert cost.marginal(one + other, load) == cost.marginal(one, load) + cost.marginal(other, load + one)
    assert cost.of(0) == 0


@given(costs, some, few, few)
def test_a_unit_costs_more_above_more_load_and_in_a_larger_task(
    cost: CostCurve, load: int, task: int, more: int
) -> None:
    assert cost.marginal(task, load) <= cost.marginal(task, load + more)
    assert cost.marginal(task, load) * (task + more) <= cost.marginal(task + more, load) * task


@given(costs, some, few)
def test_prices_are_the_first_that_pay(cost: CostCurve, load: int, task: int) -> None:
    ask = cost.least_price(task, load)
    assert (ask - 1) * task <= cost.marginal(task, load) < ask * task
    bid = cost.most_price(task, load + task)
    assert bid * task < cost.marginal(task, load) <= (bid + 1) * task


def test_tuples_in_flight_are_those_of_queues() -> None:
    cost = in_flight((Fraction(1, 40), Fraction(1, 25)), unit=10**6, beyond=500)
    assert cost.of(10) == pytest.approx(10**6 * (0.25 / 0.75 + 0.4 / 0.6), abs=10)
    assert len(cost.slopes) == 25
    assert cost.marginal(1, 24) == cost.marginal(1, 30) == 500 * 10**6
    assert all(low < high for low, high in pairwise(cost.slopes))


def test_a_range_is_as_wide_as_the_marginal_cost_changes() -> None:
    cost = CostCurve(slopes=(1, 2, 4, 7, 11), step=3)
    assert narrowest(cost, full=15, moves=2, task=3) == 11 - 7
    assert narrowest(cost, full=15, moves=1, task=3) == 0


@pytest.mark.parametrize(("slopes", "step"), [((), 1), ((3, 2), 1), ((-1, 2), 1), ((1, 2), 0)])
def test_a_cost_must_be_convex(slopes: tuple[int, ...], step: int) -> None:
    with pytest.raises(PolicyError, match="cost"):
        CostCurve(slopes, step)
