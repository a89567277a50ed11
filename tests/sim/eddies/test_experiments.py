"""The experiments of the paper on distributed eddies: the shapes of its tables."""

from __future__ import annotations

import pytest

from australis.policy.route.plan import Operator, Stream, any_order, plan_of
from australis.policy.route.policies import POLICIES, Q
from australis.sim.eddies.experiments import (
    S3_PAPER,
    S3_RATES,
    data_rates,
    data_rates_of,
    maximum_data_rate,
    response_times_of_s3,
)
from australis.sim.eddies.workload import drawn
from australis.sim.eddies.world import alone


@pytest.fixture(scope="module")
def times() -> dict[str, tuple[float, ...]]:
    return dict(response_times_of_s3(seed=1).ours)


@pytest.mark.parametrize("policy", ["Q", "SCQ", "WSCQ"])
def test_policies_that_know_queues_stay_usable(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert max(times[policy]) < 6


@pytest.mark.parametrize("policy", ["T", "SC", "WSC"])
def test_the_others_break_down(policy: str, times: dict[str, tuple[float, ...]]) -> None:
    assert times[policy][-1] > 20


def test_weights_are_better_than_greed(times: dict[str, tuple[float, ...]]) -> None:
    for greedy, weighted in (("SC", "WSC"), ("SCQ", "WSCQ")):
        assert all(w < g for g, w in zip(times[greedy], times[weighted], strict=True))


LOWER = {("T", 200), ("SC", 200), ("SC", 210), ("SCQ", 200)}
"""Where the paper's are less than half of ours; docs/simulation.md has the reasons."""


@pytest.mark.parametrize(
    ("policy", "place"),
    [
        pytest.param(
            policy,
            place,
            marks=[pytest.mark.xfail(reason="the paper's is lower")] if (policy, rate) in LOWER else [],
            id=f"{policy}-{rate}",
        )
        for policy in S3_PAPER
        for place, rate in enumerate(S3_RATES)
    ],
)
def test_numbers_are_within_twice_those_of_the_paper(
    policy: str, place: int, times: dict[str, tuple[float, ...]]
) -> None:
    assert 0.5 < times[policy][place] / S3_PAPER[policy][place] < 2


def test_the_maximum_data_rate_is_where_the_queue_gets_too_long_in_time() -> None:
    """10,000 tuples more than the 1,000 in a unit of time that can be served, in 40 units of time."""
    plan = plan_of((Operator("a", 1.0, resources=1000),), (Stream("x", any_order("a")),))
    assert maximum_data_rate(alone(plan), Q, until=40) == pytest.approx(1250, rel=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_plans_are_drawn_as_the_paper_says(seed: int) -> None:
    world = drawn(seed)
    assert 20 <= len(world.plan.operators) <= 30
    assert {op for stream in world.plan.streams for op in stream.visits} == set(world.plan.operators)
    assert all(1 <= op.work <= 20 for op in world.plan.operators.values())
    assert all(500 <= capacity <= 1000 for capacity in world.capacities.values())
    assert world == drawn(seed) != drawn(seed + 1)


def test_policies_that_know_queues_take_most() -> None:
    """One plan and a short time, for which only the clearest differences show."""
    found = data_rates(1, [data_rates_of(1, until=400)])
    assert found.plans == 1
    assert set(found.ours) == set(POLICIES)
    assert min(found.ours["SCQ"], found.ours["WSCQ"]) > 1.2 * max(found.ours["T"], found.ours["SC"])


def test_means_over_plans_are_geometric() -> None:
    each = [dict.fromkeys(POLICIES, 100.0), dict.fromkeys(POLICIES, 400.0)]
    assert data_rates(0, each).ours == pytest.approx(dict.fromkeys(POLICIES, 200.0))
