"""Random plans: as the paper says, and how much of them a policy can take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from australis.policy.route.plan import Operator, RoutedStream, any_order, plan_of
from australis.policy.route.policies import POLICIES, SCQ, Q
from australis.sim.route import queries
from australis.sim.route.probes import Search, lasts
from australis.sim.route.queries import Job, Measured, jobs, measured, world_of
from australis.sim.route.run import simulate
from australis.sim.route.tables import data_rates, mean, response_times
from australis.sim.route.workload import drawn, drawn_together
from australis.sim.route.world import alone


@pytest.mark.parametrize("seed", range(5))
def test_plans_are_drawn_as_the_paper_says(seed: int) -> None:
    world = drawn(seed)
    assert 20 <= len(world.plan.operators) <= 30
    assert {op for stream in world.plan.streams for op in stream.visits} == set(world.plan.operators)
    assert all(1 <= op.work <= 20 for op in world.plan.operators.values())
    assert all(500 <= capacity <= 1000 for capacity in world.capacities.values())
    assert world == drawn(seed) != drawn(seed + 1)


@pytest.mark.parametrize("seed", range(3))
def test_plans_together_are_drawn_as_the_paper_says(seed: int) -> None:
    world = drawn_together(seed)
    plans = [id_.partition(".")[0] for id_ in world.plan.operators]
    assert len(world.capacities) == 40
    assert len(set(plans)) == 20
    assert all(10 <= plans.count(plan) <= 40 for plan in plans)
    shares = {plan: sum(s.share for s in world.plan.streams if s.id.startswith(f"{plan}.")) for plan in plans}
    assert list(shares.values()) == pytest.approx([1 / 20] * 20)


def test_the_maximum_data_rate_is_where_a_queue_would_get_too_long() -> None:
    """10,000 tuples more than the 1,000 per unit of time that can be served, in 1,000 units of time."""
    plan = plan_of((Operator("a", 1.0, resources=1000),), (RoutedStream("x", any_order("a")),))
    for start in (100, 1010, 9000):
        assert Search(alone(plan), Q, until=100).maximum(start) == pytest.approx(1010, rel=0.05)


def test_a_short_run_predicts_a_long_one() -> None:
    world = drawn(seed=3)
    found = Search(world, SCQ, until=300).maximum(300)
    for rate, fine in ((found / 1.2, True), (found * 1.2, False)):
        long = simulate(world, SCQ, rate, until=1000, stop_overloaded=True)
        assert (long.overloaded is None) is fine


def test_a_search_starts_from_what_is_known() -> None:
    plan = plan_of((Operator("a", 1.0, resources=1000),), (RoutedStream("x", any_order("a")),))
    search = Search(alone(plan), Q, until=50)
    for rate in (990, 1030):
        search.run(rate)
    search.maximum(100)
    assert set(search.known) == {990, 1030}


def test_a_world_that_is_full_does_not_last() -> None:
    found = simulate(
        alone(plan_of((Operator("a", 1.0, resources=1.0),), (RoutedStream("x", any_order("a")),))), Q, 1
    )
    assert lasts(found, 500)
    assert not lasts(replace(found, full=True), 500)


def test_data_rates_are_in_the_order_of_the_paper() -> None:
    """T < SC < WSC < SCQ, WSCQ, and Q before them: of eight plans, as of a hundred."""
    rates = {
        name: mean(Search(drawn(seed), policy, until=100).maximum(300) for seed in range(8))
        for name, policy in POLICIES.items()
    }
    assert rates["T"] < rates["SC"] < rates["WSC"] < min(rates["SCQ"], rates["WSCQ"])
    assert rates["T"] < rates["Q"] < min(rates["SCQ"], rates["WSCQ"])


def test_tuples_stay_in_the_order_of_the_paper() -> None:
    """WSCQ < SCQ < WSC < SC < Q, T, at rates that SC can no longer take."""
    stays = {
        name: mean(simulate(drawn(seed), policy, 170, until=200).late.stay for seed in range(8))
        for name, policy in POLICIES.items()
    }
    assert stays["WSCQ"] < stays["SCQ"] < stays["WSC"] < stays["SC"] < min(stays["Q"], stays["T"])


@pytest.fixture(scope="module")
def found() -> dict[bool, Measured]:
    """A plan, its operators fixed and not, at two rates."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PARTS", "PARTS_SHARED"):
            patch.setattr(queries, name, (0.6, 0.9))
        return {shared: measured(Job(seed=1, shared=shared)) for shared in (False, True)}


def test_policies_that_know_queues_take_most(found: dict[bool, Measured]) -> None:
    rates = found[False].data_rates
    assert min(rates["SCQ"], rates["WSCQ"]) > 1.1 * max(rates["T"], rates["Q"])


def test_with_shared_load_they_take_far_more(found: dict[bool, Measured]) -> None:
    """One plan; the mean over many is about twice as much."""
    for policy in ("SCQ", "WSCQ"):
        assert found[True].data_rates[policy] > 1.5 * found[False].data_rates[policy]


def test_rates_are_parts_of_the_highest(found: dict[bool, Measured]) -> None:
    for each in found.values():
        best = max(each.data_rates["SCQ"], each.data_rates["WSCQ"])
        assert each.rates == pytest.approx((0.6 * best, 0.9 * best), rel=0.05)
        assert set(each.response_times) == set(each.data_rates) == set(POLICIES)


def test_the_worlds_of_jobs_differ_only_in_what_is_shared() -> None:
    fixed, shared = (world_of(Job(4, shared=shared)) for shared in (False, True))
    assert shared.sharing is not None
    assert replace(shared, sharing=None) == fixed
    assert len(jobs(0, 45, together=True, shared=False)) == 2
    assert jobs(7, 2, together=False, shared=True) == [Job(7, shared=True), Job(8, shared=True)]


def test_means_are_geometric() -> None:
    def made(seed: int, number: float) -> Measured:
        by_policy = dict.fromkeys(POLICIES, number)
        times = dict.fromkeys(POLICIES, (number, 4 * number))
        return Measured(Job(seed), (0.5, 1.0), (1.0, 2.0), times, times, by_policy, 0)

    both = [made(7, 100.0), made(8, 400.0)]
    assert data_rates("4.12", both).ours == pytest.approx(dict.fromkeys(POLICIES, 200.0))
    assert data_rates("5.3", both, both[:1]).fixed == pytest.approx(dict.fromkeys(POLICIES, 100.0))
    times = response_times("4.11", both)
    assert times.ours == pytest.approx(dict.fromkeys(POLICIES, 400.0))
    assert (times.seed, times.plans, times.queries) == (7, 2, 4)
