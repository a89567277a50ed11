"""Routing policies: which operator a tuple goes to, by what operators have reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.policy.route.policies import POLICIES, SC, SCQ, WSC, WSCQ, Policy, Q, T, chosen
from australis.policy.route.statistics import Monitor, OperatorStatistics

KNOWN = {
    "fast": OperatorStatistics(queue=3, ticket=1, selectivity=0.6, cost=1),
    "eater": OperatorStatistics(queue=7, ticket=9, selectivity=0.1, cost=4),
    "idle": OperatorStatistics(queue=0, ticket=0, selectivity=0.9, cost=1),
    "maker": OperatorStatistics(queue=0, ticket=0, selectivity=2.0, cost=1),
}
CHANCES = st.floats(0, 1, exclude_max=True)


@pytest.mark.parametrize(("policy", "expected"), [(Q, "idle"), (T, "eater"), (SC, "fast"), (SCQ, "fast")])
def test_the_greedy_policies_take_what_is_best(policy: Policy, expected: str) -> None:
    assert policy.choose(["fast", "eater", "idle"], KNOWN, 0.99) == expected


def test_a_queue_makes_what_is_good_worse() -> None:
    known = {**KNOWN, "fast": OperatorStatistics(queue=30, selectivity=0.6, cost=1)}
    assert SC.choose(["fast", "idle"], known, 0.5) == "fast"
    assert SCQ.choose(["fast", "idle"], known, 0.5) == "idle"


@pytest.mark.parametrize(
    ("policy", "border"),
    # 0.4 against 0.9/4, squared; with queues 0.4/4 against 0.9/32
    [(WSC, 0.4**2 / (0.4**2 + 0.225**2)), (WSCQ, 0.1**2 / (0.1**2 + (0.9 / 32) ** 2))],
)
def test_the_weighted_policies_choose_by_the_square_of_the_benefit(policy: Policy, border: float) -> None:
    assert policy.choose(["fast", "eater"], KNOWN, border - 1e-9) == "fast"
    assert policy.choose(["fast", "eater"], KNOWN, border + 1e-9) == "eater"


def test_without_tickets_the_shortest_queue_decides() -> None:
    known = {"a": OperatorStatistics(queue=2), "b": OperatorStatistics(queue=1)}
    assert T.choose(["a", "b"], known, 0.0) == "b"


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_an_operator_that_makes_more_is_chosen_where_there_is_no_other(policy: Policy) -> None:
    assert policy.choose(["maker"], KNOWN, 0.7) == "maker"


@given(st.sampled_from(sorted(POLICIES)), st.lists(st.sampled_from(sorted(KNOWN)), min_size=1), CHANCES)
def test_what_is_chosen_is_ready(name: str, ready: list[str], chance: float) -> None:
    assert POLICIES[name].choose(ready, KNOWN, chance) in ready


@given(st.lists(st.floats(0, 100), min_size=1).filter(any), st.booleans(), CHANCES)
def test_what_has_no_score_is_never_chosen(scores: list[float], weighted: bool, chance: float) -> None:
    place = chosen(scores, weighted, chance)
    assert scores[place] > 0
    assert weighted or scores[place] == max(scores)


def test_chance_decides_among_equals() -> None:
    assert [chosen([2, 5, 5], False, chance) for chance in (0.0, 0.49, 0.5, 0.99)] == [1, 1, 2, 2]


def test_a_ticket_is_never_negative_and_ends_with_an_overload() -> None:
    monitor = Monitor(overloaded=100)
    monitor.received()
    monitor.served(1.0, emitted=3)
    assert monitor.told(queue=0).ticket == 0
    for _ in range(5):
        monitor.received()
    assert monitor.told(queue=100).ticket == 5
    assert monitor.told(queue=101).ticket == 0


def test_selectivity_follows_slowly_and_waits_where_nothing_came() -> None:
    monitor = Monitor(selectivity=1.0, cost=9.0)
    assert (monitor.told(0).selectivity, monitor.told(0).cost) == (1.0, 9.0)
    for expected in (0.8, 0.64):
        monitor.served(2.0, emitted=0)
        found = monitor.told(0)
        assert (found.selectivity, found.cost) == (pytest.approx(expected), 2.0)
    assert monitor.told(0) == found


def test_a_clock_too_coarse_to_see_time_pass_leaves_the_cost_as_it_was() -> None:
    monitor = Monitor(cost=3.0)
    monitor.served(0.0, emitted=1)
    assert monitor.told(0).cost == 3.0
