"""Routers, event by event: what they report, by which weights they route, and what attacks do not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.machines.attacks import ATTACKS, Scene, attacked, handed_over, said_again
from tests.policy.machines.hosting import Hosted

from australis.errors import PolicyError
from australis.policy.machines import Say, Started
from australis.policy.route import POLICIES, Router, RouterSetup, divided
from australis.policy.route import messages as m
from australis.policy.route.policies import chosen, shares
from australis.policy.route.statistics import Monitor

S = 1_000_000
"""A second."""
HALF = m.Counted(received=10, served=10, emitted=5, busy=0.1, queue=2.0)
TELLS = m.Reported(queue=0.4, ticket=5, selectivity=0.9, cost=0.01)


def router(policy: str = "SCQ", name: str = "a") -> Hosted:
    return Hosted(Router(name, RouterSetup(policy)))


def measuring(policy: str = "SCQ", **operators: m.Counted) -> Hosted:
    """A router that has measured its operators, and has the neighbours b and c."""
    here = router(policy)
    here.handle(m.Measured(operators, ("b", "c")))
    return here


def heard(here: Hosted, sender: str, number: int, now: int = 0, **operators: m.Reported) -> m.Route:
    (route,) = here.hear(sender, m.Report((1, number), operators), now)
    assert isinstance(route, m.Route)
    return route


# --- what is reported


def test_what_was_measured_is_reported_to_all_neighbours() -> None:
    here = router()
    route, *said = here.handle(m.Measured({"f": HALF}, ("b", "c")))
    report = said[0].message
    assert said == [Say("b", report), Say("c", report)]
    assert (report.at, msgspec.structs.astuple(report.operators["f"])) == (
        (1, 1),
        pytest.approx((0.4, 5, 0.9, 0.01)),
    )
    assert route.weights["f"].nodes == {"a": 1.0}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.floats(0.01, 5)), max_size=8))
def test_statistics_are_those_of_the_paper(intervals: list[tuple[int, int, float]]) -> None:
    """But for tickets, which are counted for an interval and not for each tuple."""
    monitor, here = Monitor(), router()
    for served, emitted, queue in intervals:
        busy = 0.02 * served
        for place in range(served):
            monitor.served(0.02, emitted if place == 0 else 0)
        told = monitor.told(queue)
        count = m.Counted(served, served, emitted if served else 0, busy, queue)
        here.handle(m.Measured({"f": count}, ()))
        found = here.machine.state().own["f"]
        assert (found.queue, found.selectivity) == pytest.approx((told.queue, told.selectivity))
        assert found.cost is None or found.cost == pytest.approx(told.cost)


def test_tickets_are_what_came_and_did_not_leave_and_end_with_an_overload() -> None:
    here = router("T")
    for received, emitted, queue, expected in ((9, 4, 1, 5), (0, 9, 1, 0), (7, 0, 1, 7), (7, 0, 10_001, 0)):
        here.handle(m.Measured({"f": m.Counted(received, 0, emitted, 0.0, queue)}, ()))
        assert here.machine.state().own["f"].ticket == expected


# --- weights


@pytest.mark.parametrize("policy", POLICIES)
def test_weights_are_the_scores_of_the_policy(policy: str) -> None:
    here = measuring(policy, f=HALF)
    route = heard(here, "b", 1, g=m.Reported(3, 7, 0.2, 0.05))
    for op, numbers in (("f", (0.4, 5, 0.9, 0.01)), ("g", (3, 7, 0.2, 0.05))):
        assert route.weights[op].score == pytest.approx(POLICIES[policy].score(*numbers))
    assert route.weighted == POLICIES[policy].weighted


def test_copies_are_one_operator_and_share_by_speed() -> None:
    here = measuring("SC", f=HALF)
    route = heard(here, "b", 1, f=m.Reported(0, 0, 0.9, 0.03))
    assert route.weights["f"].nodes == pytest.approx({"a": 0.75, "b": 0.25})
    assert route.weights["f"].score == pytest.approx(0.1 / 0.0075)


def test_a_copy_that_has_processed_nothing_is_taken_to_be_like_the_others() -> None:
    here = measuring("SC", f=HALF)
    route = heard(here, "b", 1, f=m.Reported(0, 0, 1, None))
    assert route.weights["f"].nodes == pytest.approx({"a": 0.5, "b": 0.5})


def test_all_nodes_have_the_same_weights() -> None:
    one, other = router(name="a"), router(name="b")
    for here, there in ((one, other), (other, one)):
        said = here.handle(m.Measured({"f": HALF, here.name: HALF}, (there.name,)))
        there.handle(m.Measured({"f": HALF, there.name: HALF}, (here.name,)))
        there.hear(here.name, said[-1].message)
    for here, there in ((one, other), (other, one)):
        report = m.Report((1, 9), here.machine.state().own)
        there.hear(here.name, report)
    assert one.machine.state().last == other.machine.state().last


def test_what_was_not_heard_of_lately_is_visited_last() -> None:
    here = measuring("SC", f=HALF)
    route = heard(here, "b", 1, g=m.Reported(0, 0, 0.1, 0.001))
    assert divided(["f", "g"], route) == {"g": 1.0}
    (route, *_) = here.handle(m.Measured({"f": HALF}, ("b", "c")), 15 * S)
    assert divided(["f", "g"], route) == {"g": 1.0}
    (route, *_) = here.handle(m.Measured({"f": HALF}, ("b", "c")), 15 * S + 1)
    assert divided(["f", "g"], route) == {"f": 1.0}
    assert divided(["g"], route) == {"g": 1.0}, "there is nothing else"
    assert route.weights["g"].nodes == {"b": 1.0}


def test_a_copy_that_was_not_heard_of_lately_gets_nothing() -> None:
    here = measuring("SC", f=HALF)
    heard(here, "b", 1, f=TELLS)
    (route, *_) = here.handle(m.Measured({"f": HALF}, ("b", "c")), 16 * S)
    assert route.weights["f"].nodes == {"a": 1.0}


def test_weights_are_commanded_when_they_change_and_again_after_a_restart() -> None:
    here = measuring("SC", f=HALF)
    route = heard(here, "b", 1, g=TELLS)
    assert here.hear("b", m.Report((1, 2), {"g": TELLS})) == []
    again = Hosted(Router("a", RouterSetup("SC"), 2))
    again.machine.restore(here.snapshot())
    assert again.handle(Started()) == [route]


def test_who_is_gone_has_no_operators() -> None:
    here = measuring("SC", f=HALF)
    heard(here, "b", 1, g=TELLS)
    (route,) = here.handle(m.Gone("b"))
    assert set(route.weights) == {"f"}
    heard(here, "c", 1, h=TELLS)
    (route, *_) = here.handle(m.Measured({"f": HALF}, ("b",)))
    assert set(route.weights) == {"f"}


# --- trains


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=4), st.booleans(), st.integers(0, 99))
def test_trains_are_divided_as_tuples_are_chosen(scores: list[float], weighted: bool, seed: int) -> None:
    draw, count = Random(seed), 4000
    found = Counter(chosen(scores, weighted, draw.random()) for _ in range(count))
    for place, share in enumerate(shares(scores, weighted)):
        assert found[place] / count == pytest.approx(share, abs=0.05)


def test_only_known_operators_get_anything() -> None:
    route = m.Route({"f": m.Weight(0.0, 0.2, {"a": 1.0}), "g": m.Weight(0.0, 0.7, {"a": 1.0})}, True)
    assert divided(["f", "g", "h"], route) == {"g": 1.0}
    assert divided(["h"], route) == {}


# --- what makes no sense


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RouterSetup("best"), "policy: is best; expected one of T, Q, SC, WSC, SCQ, WSCQ"),
        (lambda: RouterSetup(stale_us=0), "overloaded, stale_us: are 10000 and 0; expected numbers above 0"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        make()
    assert str(refused.value) == message


def scene() -> Scene:
    return Scene(measuring(f=HALF).machine, "b", m.Report((1, 5), {"g": TELLS}), S)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_nothing(attack: str) -> None:
    attacked(scene(), attack)


def test_the_true_message_is_understood_and_has_no_second_effect() -> None:
    one = scene()
    handed_over(one)
    assert not one.machine.refused
    said_again(scene())


def test_a_report_that_was_overtaken_is_refused() -> None:
    here = measuring(f=HALF)
    heard(here, "b", 5, g=TELLS)
    assert here.hear("b", m.Report((1, 4), {})) == []
    assert here.refused == {"overtaken": 1}
    assert here.handle(m.Measured({}, ("a",))) == []
    assert here.refused == {"overtaken": 1, "neighbour": 1}


AMOUNTS = st.floats(0, 1e18)
REPORTED = st.builds(m.Reported, AMOUNTS, AMOUNTS, AMOUNTS, st.none() | st.floats(1e-9, 1e9))
OPERATORS = st.sampled_from(["f", "g", "h"])
COUNTED = st.builds(
    m.Counted, st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.floats(0, 99), st.floats(0, 1e6)
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from("bc"),
        st.builds(
            m.Report,
            st.tuples(st.integers(1, 2), st.integers(0, 9)),
            st.dictionaries(OPERATORS, REPORTED, max_size=3),
        ),
    )
    | st.builds(m.Measured, st.dictionaries(OPERATORS, COUNTED, max_size=3), st.just(("b", "c"))),
    max_size=12,
)


@settings(max_examples=80)
@given(STEPS, st.sampled_from(sorted(POLICIES)))
def test_whatever_is_said_a_router_divides_trains_and_goes_on_from_its_snapshot(
    steps: list[object], policy: str
) -> None:
    one, other = router(policy), router(policy)
    for now, step in enumerate(steps):
        copy = Router("a", RouterSetup(policy))
        copy.restore(other.snapshot())
        other.machine = copy
        found = [
            each.hear(*step, now * 4 * S) if isinstance(step, tuple) else each.handle(step, now * 4 * S)
            for each in (one, other)
        ]
        assert found[0] == found[1]
        assert msgspec.json.decode(one.snapshot()) == msgspec.json.decode(other.snapshot())
        for command in found[0]:
            if isinstance(command, m.Route):
                whole = divided(sorted(command.weights), command)
                assert sum(whole.values()) == pytest.approx(1)
                assert all(sum(each.nodes.values()) == pytest.approx(1) for each in command.weights.values())
