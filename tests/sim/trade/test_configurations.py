"""The configurations of Table 2."""

from __future__ import annotations

import numpy as np
import pytest

from australis.errors import SimulationError
from australis.sim.trade.configurations import (
    COST,
    FULL,
    SCENARIOS,
    VARIANTS,
    Scenario,
    capacities,
    contracts,
    named_variant,
)

PAIR = np.array([[0, 1]])


@pytest.mark.parametrize(("name", "mean", "others"), [("underload", 12, 7.7), ("overload", 15, 12.0)])
@pytest.mark.parametrize("even", [False, True])
def test_loads_are_those_of_the_paper(name: str, mean: int, others: float, even: bool) -> None:
    scenario = Scenario(name, SCENARIOS[name].mean, even=even)
    loads = scenario.drawn(995, np.random.default_rng(1))
    assert loads.sum() == mean * 995
    assert np.sort(loads)[:696].mean() == pytest.approx(others, abs=0.15)
    assert (loads == 22).sum() >= 299
    assert not even or len(set(loads.tolist())) <= 3


def test_one_price_just_pays_for_the_fourteenth() -> None:
    one, other = contracts(
        VARIANTS["fixed"], PAIR, capacities(VARIANTS["fixed"], 2, np.random.default_rng(1))
    )
    assert one.low == one.high == other.high == COST.of(FULL) - COST.of(FULL - 1) + 1
    assert {(one.giver, one.taker), (other.giver, other.taker)} == {("0", "1"), ("1", "0")}


def test_a_range_is_from_the_twelfth_to_the_fourteenth() -> None:
    one, _ = contracts(VARIANTS["bounded"], PAIR, np.array([14, 14]))
    assert (one.low, one.high) == (COST.marginal(1, 11) + 1, COST.marginal(1, 13) + 1)


def test_random_prices_are_those_of_the_node_that_is_full_first() -> None:
    for contract in contracts(VARIANTS["random"], PAIR, np.array([17, 13])):
        assert contract.low == contract.high == COST.marginal(1, 12) + 1
    drawn = capacities(VARIANTS["random"], 1000, np.random.default_rng(1))
    assert set(drawn.tolist()) == set(range(12, 19))


def test_random_ranges_are_as_wide_as_two_operators_of_the_node_that_is_full_first() -> None:
    for contract in contracts(VARIANTS["random-bounded"], PAIR, np.array([17, 13])):
        assert (contract.low, contract.high) == (COST.marginal(1, 10) + 1, COST.marginal(1, 12) + 1)


def test_unknown_prices_are_refused() -> None:
    with pytest.raises(SimulationError, match="one of fixed, bounded, random, random-bounded"):
        named_variant("cheap")
