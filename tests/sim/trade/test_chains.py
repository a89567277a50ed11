"""Lemma 1: the narrowest range of prices that lets load move along a chain; and its limits."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.trade.cost import CostCurve, narrowest
from australis.sim.trade.chains import chain

moves = st.integers(2, 5)
rises = st.lists(st.integers(2, 50), min_size=40, max_size=40)


@given(moves, st.integers(1, 3), st.integers(0, 3), rises)
def test_the_range_of_lemma_1_is_enough_and_a_narrower_one_is_not(
    moves: int, excess: int, slack: int, rises: list[int]
) -> None:
    cost = CostCurve(tuple(accumulate(rises)))
    # The j-th node ends up to j - 1 below capacity: the last one must have room for all of that.
    full = moves + excess + (moves - 1) * (moves - 2) // 2 + slack
    loads = [full + excess, *[full] * (moves - 1), 0]
    # Just above the marginal cost at capacity: a node that is full is paid for what filled it.
    high = cost.marginal(1, full - 1) + 1
    wide, narrow = (narrowest(cost, full, some) for some in (moves, moves - 1))
    assert max(chain(cost, loads, high - wide, high)) <= full
    assert chain(cost, loads, high - narrow, high)[0] == full + excess


@given(st.integers(1, 3), rises)
def test_one_price_moves_load_by_one_contract_only(excess: int, rises: list[int]) -> None:
    cost, full = CostCurve(tuple(accumulate(rises))), 10
    high = cost.marginal(1, full - 1) + 1
    assert chain(cost, [full + excess, 0], high, high)[0] == full
    assert chain(cost, [full + excess, full, 0], high, high) == [full + excess, full, 0]


@given(moves, rises)
def test_stairs_are_stuck_at_any_price_although_there_is_room(moves: int, rises: list[int]) -> None:
    """What Theorem 2 overlooks: no movement makes these cheaper, and the first is above its capacity."""
    cost, full = CostCurve(tuple(accumulate(rises))), 10
    stairs = [full + 1 - node for node in range(moves + 1)]
    assert sum(stairs) <= full * len(stairs)
    assert chain(cost, stairs, 0, cost.marginal(1, full - 1) + 1) == stairs
