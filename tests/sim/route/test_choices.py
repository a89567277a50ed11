"""Compiled and plain code decide alike: operators report the same, and tuples take the same path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from australis.policy.route.plan import Operator, RoutedStream, any_order, plan_of
from australis.policy.route.policies import POLICIES, Policy, Q
from australis.policy.route.statistics import Monitor, OperatorStatistics
from australis.sim.route.compiled.choices import SCORES, choose_visit, tell
from australis.sim.route.compiled.layout import NONE, Arrays, laid_out
from australis.sim.route.run import how_of
from australis.sim.route.world import Sharing, World, alone

NAMES = ("a", "b", "c")
PLAN = plan_of(tuple(Operator(n, 1.0, resources=1.0) for n in NAMES), (RoutedStream("x", any_order(*NAMES)),))
WORLD = alone(PLAN)
TOLD = st.builds(
    OperatorStatistics, st.integers(0, 50), st.integers(0, 9), st.floats(0.1, 1.5), st.floats(0.1, 5.0)
)


@pytest.fixture(scope="module")
def compiled() -> tuple[Callable[..., None], Callable[..., bool]]:
    return njit(tell.py_func), njit(choose_visit.py_func)


def _arrays(now: float) -> Arrays:
    arrays = laid_out(WORLD, 1.0, 10)
    arrays.counts["now"] = now
    return arrays


@given(
    st.lists(st.tuples(st.floats(0.1, 5), st.integers(0, 3)), max_size=20),
    st.integers(0, 30),
    st.sampled_from(sorted(POLICIES)),
)
@settings(max_examples=40)
def test_operators_tell_what_their_monitor_would(
    compiled: tuple[Callable[..., None], Callable[..., bool]],
    served: list[tuple[float, int]],
    waiting: int,
    policy: str,
) -> None:
    monitor, arrays = Monitor(selectivity=0.5, cost=1.0), _arrays(now=100.0)
    operator = arrays.operators[0]
    for _ in range(waiting + len(served)):
        monitor.received()
    for time, emitted in served:
        monitor.served(time, emitted)
    operator["ticket"] = max(0, waiting + len(served) - sum(emitted for _, emitted in served))
    operator["served"], operator["emitted"] = len(served), sum(emitted for _, emitted in served)
    operator["worked"], operator["queued"] = sum(time for time, _ in served), waiting
    compiled[0](arrays, 0, how_of(WORLD, POLICIES[policy]))
    told = monitor.told(queue=waiting)
    assert operator["score"] == pytest.approx(_score(POLICIES[policy], told))
    assert operator["otherwise"] == pytest.approx(_score(Q, told))


def _score(policy: Policy, told: OperatorStatistics) -> float:
    return policy.score(told.queue, told.ticket, told.selectivity, told.cost)


@given(st.lists(TOLD, min_size=3, max_size=3), st.sampled_from(sorted(POLICIES)), st.integers(0, 9))
@settings(max_examples=40)
def test_tuples_go_where_the_policy_would_send_them(
    compiled: tuple[Callable[..., None], Callable[..., bool]],
    told: list[OperatorStatistics],
    name: str,
    seed: int,
) -> None:
    policy, arrays = POLICIES[name], _arrays(now=0.0)
    arrays.operators["score"] = [_score(policy, each) for each in told]
    arrays.operators["otherwise"] = [_score(Q, each) for each in told]
    assert compiled[1](arrays, 0, policy.weighted, np.random.default_rng(seed))
    found = arrays.tuples[0]["visit"]
    chance = np.random.default_rng(seed).random()
    assert NAMES[found] == policy.choose(NAMES, dict(zip(NAMES, told, strict=True)), chance)


@pytest.mark.parametrize(
    ("scores", "otherwise", "expected"),
    [([0, 0, 5], [9, 9, 9], 2), ([0, 0, 0], [0.9, 0.1, 0.2], 0), ([3, 2, 1], [0, 0, 9], 0)],
)
def test_what_has_no_score_is_chosen_by_its_queue(
    compiled: tuple[Callable[..., None], Callable[..., bool]],
    scores: list[float],
    otherwise: list[float],
    expected: int,
) -> None:
    arrays = _arrays(now=0.0)
    arrays.operators["score"], arrays.operators["otherwise"] = scores, otherwise
    compiled[1](arrays, 0, False, np.random.default_rng(0))
    assert arrays.tuples[0]["to"] == expected


def _with_copies(*services: float) -> Arrays:
    """The arrays of one operator that has copies, which need such times for a tuple."""
    nodes = {f"n{place}": 1.0 for place in range(len(services))}
    plan = plan_of((Operator("a", 1.0),), (RoutedStream("x", any_order("a")),))
    arrays = laid_out(World(plan, nodes, {"a": "n0"}, sharing=Sharing()), 1.0, 10)
    arrays.operators["copies"] = len(services)
    for number, service in enumerate(services):
        sibling = number + 1 if number + 1 < len(services) else NONE
        arrays.copies[number]["service"], arrays.copies[number]["sibling"] = service, sibling
    return arrays


def test_copies_get_tuples_in_proportion_to_their_resources(
    compiled: tuple[Callable[..., None], Callable[..., bool]],
) -> None:
    arrays, rng, found = _with_copies(1.0, 2.0, 4.0), np.random.default_rng(0), [0, 0, 0]
    for _ in range(7000):
        assert compiled[1](arrays, 0, False, rng)
        found[arrays.tuples[0]["to"]] += 1
    assert found == pytest.approx([4000, 2000, 1000], rel=0.1)


def test_an_operator_with_copies_costs_the_less_the_more_there_are(
    compiled: tuple[Callable[..., None], Callable[..., bool]],
) -> None:
    """Of seven tuples, copies that need 1, 2 and 4 units process four, two and one: all in 4 units."""
    arrays = _with_copies(1.0, 2.0, 4.0)
    operator = arrays.operators[0]
    operator["served"], operator["worked"] = 7, 4 * 1.0 + 2 * 2.0 + 1 * 4.0
    compiled[0](arrays, 0, how_of(WORLD, Q))
    assert operator["cost"] == pytest.approx(4 / 7)


def test_every_policy_can_be_simulated() -> None:
    assert {policy.score for policy in POLICIES.values()} == set(SCORES)
