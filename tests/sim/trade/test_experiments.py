"""The experiments of the paper on contracts: the shapes of its figures."""

from __future__ import annotations

import pytest

from australis.sim.trade.experiments import Job, Outcome, Result, jobs, measured, summed_up

# Some seconds of work, which take minutes where many share the processors.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def ten() -> dict[str, Result]:
    """Prices of three kinds, with at least 10 contracts: runs of the paper's size."""
    some = jobs(["fixed", "bounded", "random"], [10], runs=1, seed=3)
    return {each.variant: each for each in summed_up(map(measured, some))}


def test_one_price_moves_nearly_all_and_uses_nearly_all(ten: dict[str, Result]) -> None:
    assert ten["fixed"].excess_moved > 0.985
    assert ten["fixed"].capacity_used > 0.95


def test_a_small_range_is_acceptable(ten: dict[str, Result]) -> None:
    assert ten["bounded"].excess_left == 0
    assert ten["bounded"].capacity_used > 0.98
    assert ten["bounded"].capacity_most == 1


def test_prices_by_chance_are_less_good_but_near(ten: dict[str, Result]) -> None:
    assert 0.92 < ten["random"].excess_moved < 0.96


def test_most_of_the_cost_is_gone_soon(ten: dict[str, Result]) -> None:
    assert min(each.soon for each in ten.values()) > 0.85


def test_one_price_moves_more_at_once_and_stops_earlier(ten: dict[str, Result]) -> None:
    fixed, bounded = ten["fixed"], ten["bounded"]
    assert fixed.operators_moved / fixed.movements > bounded.operators_moved / bounded.movements
    assert fixed.settled_s < bounded.settled_s
    assert fixed.messages < bounded.messages


def test_ranges_by_chance_are_better_than_prices_by_chance_and_nearly_as_soon_done() -> None:
    ranges, prices = (
        measured(Job(name, "underload", 10, nodes=300)) for name in ("random-bounded", "random")
    )
    assert ranges.excess_moved > 0.98 > prices.excess_moved
    assert ranges.after.excess_most <= 3
    assert 0.8 < ranges.soon < prices.soon


def test_more_contracts_are_better() -> None:
    found = summed_up(map(measured, jobs(["fixed", "bounded"], [1, 5], nodes=200, runs=1)))
    for one, five in (found[:2], found[2:]):
        assert one.excess_moved < five.excess_moved
        assert one.capacity_used < five.capacity_used


def test_seven_contracts_are_enough_for_a_range() -> None:
    outcome = measured(Job("bounded", "underload", 7))
    assert outcome.after.excess == 0
    assert outcome.settled


def _small(seed: int = 3, *, notify: bool = False) -> Outcome:
    return measured(Job("bounded", "overload", 3, seed=seed, nodes=80, notify=notify, traced=True))


def test_a_seed_plays_a_run_again() -> None:
    assert _small() == _small()
    assert _small(4).moments != _small().moments


def test_notifications_save_messages() -> None:
    periodic, notified = _small(), _small(notify=True)
    assert notified.settled
    assert sum(notified.messages.values()) < sum(periodic.messages.values())
    assert notified.messages["Relieved"] > 0


def test_variants_share_graphs_and_loads() -> None:
    fixed, bounded = (measured(Job(name, "underload", 3, nodes=60)) for name in ("fixed", "bounded"))
    assert (fixed.before, fixed.cost_before) == (bounded.before, bounded.cost_before)
