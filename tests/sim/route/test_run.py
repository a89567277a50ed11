"""Runs of the virtual world: they can be repeated, lose nothing, and agree with queueing theory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.route.plans import plans

from australis.errors import SimulationError
from australis.policy.route.examples import S3
from australis.policy.route.plan import DistributedPlan, Operator, RoutedStream, any_order, in_order, plan_of
from australis.policy.route.policies import POLICIES, SC, WSCQ, Q, T
from australis.policy.route.queueing import average_response_time, compute_rate, shares
from australis.sim.route.run import simulate
from australis.sim.route.world import Exchange, Links, World, alone

CHAIN = plan_of(
    (Operator("a", 1.0, selectivity=0.5, resources=10), Operator("b", 1.0, resources=10)),
    (RoutedStream("x", in_order("a", "b")),),
)


def placed(plan: DistributedPlan, links: Links, **places: str) -> World:
    return World(plan, {"n": 10, "m": 10}, places, links)


def test_a_seed_plays_a_run_again() -> None:
    runs = [simulate(alone(S3), WSCQ, 220, until=50, seed=seed) for seed in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2]


@given(plans(), st.sampled_from(sorted(POLICIES)), st.booleans(), st.integers(0, 99))
@settings(max_examples=30)
def test_every_tuple_is_somewhere(plan: DistributedPlan, policy: str, steady: bool, seed: int) -> None:
    found = simulate(alone(plan, steady=steady), POLICIES[policy], 5, until=100, seed=seed)
    assert found.entered + found.made == found.eaten + found.left + found.inside
    assert found.inside >= 0
    assert not found.left or found.response_time > 0


def test_a_chain_of_exponential_servers_is_as_in_the_model() -> None:
    found = simulate(alone(CHAIN, steady=False), Q, 8, until=50_000)
    expected = average_response_time(CHAIN, compute_rate(CHAIN, {}, shares(CHAIN, 8)))
    assert found.response_time == pytest.approx(expected, rel=0.05)
    assert found.left / found.entered == pytest.approx(0.5, rel=0.02)


def test_steady_servers_keep_tuples_half_as_long_waiting() -> None:
    """M/D/1: the waiting time is half of that of M/M/1."""
    plan = plan_of((Operator("a", 1.0, resources=10),), (RoutedStream("x", any_order("a")),))
    found = simulate(alone(plan), Q, 8, until=20_000)
    assert found.response_time == pytest.approx(0.1 + 0.1 * 0.8 / (2 * (1 - 0.8)), rel=0.05)


def test_operators_on_one_node_have_an_equal_part_of_it() -> None:
    """The first one needs 6 of its 5; that both together need 9 of 10 does not help."""
    shared = simulate(placed(CHAIN, Links(), a="n", b="n"), Q, 6, until=2000)
    apart = simulate(placed(CHAIN, Links(), a="n", b="m"), Q, 6, until=2000)
    assert shared.inside == pytest.approx(2000, rel=0.2)
    assert apart.inside < 50


def test_a_page_waits_until_it_is_full_or_due() -> None:
    """At 1 tuple per unit of time, half of which continue, a page of 4 would wait for 8 units."""
    times = {
        wait: simulate(placed(CHAIN, Links(4, wait), a="n", b="m"), Q, 1, until=5000).response_time
        for wait in (0.0, 2.0, 1e6)
    }
    assert times[0.0] == pytest.approx(0.2, abs=0.05)
    assert 1.2 < times[2.0] < 2.2
    assert times[1e6] == pytest.approx(0.2 + 3, rel=0.2)


def test_a_page_that_has_left_takes_no_other_with_it_when_it_would_be_due() -> None:
    """At 20 tuples per unit of time a page of 4 is full before it is due; tuples wait for 1.5 others."""
    fast = World(CHAIN, {"n": 1e4, "m": 1e4}, {"a": "n", "b": "m"}, Links(4, wait=1.0))
    assert simulate(fast, Q, 40, until=1000).response_time == pytest.approx(1.5 / 20, rel=0.05)


def test_links_have_latency_and_bandwidth() -> None:
    slow = Links(latency=3.0, page_times={("n", "m"): 2.5})
    found = simulate(placed(CHAIN, slow, a="n", b="m"), Q, 0.1, until=20_000)
    assert found.response_time == pytest.approx(0.2 + 3.0 + 2.5, rel=0.1)
    crowded = simulate(placed(CHAIN, slow, a="n", b="m"), Q, 2, until=1000)
    assert crowded.inside > 400
    near = simulate(placed(CHAIN, slow, a="n", b="n"), Q, 0.1, until=2000)
    assert near.response_time == pytest.approx(0.4, abs=0.05)


def test_a_source_on_a_node_is_as_far_as_its_links() -> None:
    far = placed(CHAIN, Links(latency=3.0), a="n", b="n", x="m")
    assert simulate(far, Q, 0.1, until=5000).response_time == pytest.approx(3.4, abs=0.1)


def test_an_overload_is_reported_and_can_end_the_run() -> None:
    plan = plan_of((Operator("a", 1.0, resources=10),), (RoutedStream("x", any_order("a")),))
    whole = simulate(alone(plan), Q, 210, until=100)
    assert whole.overloaded == pytest.approx(50, rel=0.1)
    ended = simulate(alone(plan), Q, 210, until=100, stop_overloaded=True)
    assert ended.overloaded == whole.overloaded
    assert ended.entered < whole.entered
    assert simulate(alone(plan), Q, 5, until=100).overloaded is None


def test_tickets_are_void_where_a_queue_is_too_long() -> None:
    """With such a limit T sends tuples elsewhere when the operator with the most tickets is overloaded."""
    free, voided = alone(S3), replace(alone(S3), ticket_limit=200)
    assert simulate(voided, T, 240, until=300).inside < simulate(free, T, 240, until=300).inside


def test_operators_that_seldom_tell_are_chosen_blindly() -> None:
    seldom = replace(alone(S3), exchange=Exchange(10_000, 100.0))
    often = simulate(alone(S3), Q, 200, until=300).response_time
    assert simulate(seldom, Q, 200, until=300).response_time > 2 * often


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: World(S3, {"n": 1}, {"op1": "n"}), "op2: is on None; expected one of n"),
        (lambda: World(CHAIN, {"n": 0}, {"a": "n", "b": "n"}), "n: has the capacity 0"),
        (lambda: World(CHAIN, {"n": 1}, {"a": "n", "b": "n", "x": "m"}), "x: is on m; expected one of n"),
        (lambda: Links(page_tuples=0), "links.page_tuples: is 0; expected 1 or more"),
        (lambda: Links(wait=-1), "links: have the time -1; expected 0 or more"),
        (lambda: Exchange(tuples=0), "exchange: is "),
        (lambda: simulate(alone(CHAIN), Q, 0), "rate: is 0; expected above 0"),
        (lambda: simulate(alone(CHAIN), SC, 1e6), "rate: at 1e+06 there were too many tuples at 0."),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(SimulationError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value).startswith(message)
