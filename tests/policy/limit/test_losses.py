"""What was lost is told apart: the parts add up, each has its cause, and none is negative without one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.limit.networks import STAGES, TENTHS, works

from australis.policy.limit import Work, bound, losses

CURVES = {"a": ((0.0, 0.0), (1.0, 4.0)), "b": ((0.0, 0.0), (1.0, 1.0))}
WORK = Work({"shared": 0.5, "a": 0.5, "b": 0.5}, {"a": ("shared", "a"), "b": ("shared", "b")}, CURVES)
DONE = st.fixed_dictionaries(dict.fromkeys(STAGES, TENTHS))


@settings(max_examples=300, deadline=None)
@given(works(), DONE, st.floats(0, 4), st.floats(0, 10))
def test_they_add_up_and_causes_lose(
    work: Work, done: dict[str, float], capacity: float, utility: float
) -> None:
    found = losses(work, capacity, done, utility)
    assert found.bound == pytest.approx(bound(work, capacity).utility)
    parts = found.scheduling + found.shed_late + found.shares + found.lateness
    assert parts == pytest.approx(found.bound - utility, abs=1e-6)
    assert min(found.scheduling, found.shed_late, found.shares) >= -1e-6


def test_a_node_that_does_what_is_best_has_lost_nothing() -> None:
    best = bound(WORK, 1.2)
    done = {"shared": max(best.fractions.values()), **best.fractions}
    found = losses(WORK, 1.2, done, best.utility)
    assert (found.scheduling, found.shed_late, found.shares, found.lateness) == pytest.approx((0, 0, 0, 0))


def test_idle_time_is_lost_to_scheduling() -> None:
    found = losses(WORK, 1.0, {"shared": 0.8, "a": 0.8, "b": 0.0}, 3.2)
    assert (found.scheduling, found.shed_late, found.shares, found.lateness) == pytest.approx((0.8, 0, 0, 0))


def test_what_a_shared_stage_did_in_vain_was_shed_late() -> None:
    found = losses(WORK, 1.0, {"shared": 1.0, "a": 0.5, "b": 0.5}, 2.5)
    assert found.shed_late == pytest.approx(1.0)
    assert found.scheduling == pytest.approx(0)


def test_time_for_the_wrong_output_is_lost_to_shares() -> None:
    found = losses(WORK, 1.0, {"shared": 1.0, "a": 0.0, "b": 1.0}, 1.0)
    assert (found.scheduling, found.shed_late, found.shares, found.lateness) == pytest.approx((0, 0, 3, 0))


def test_what_came_late_is_lost_to_lateness() -> None:
    found = losses(WORK, 1.0, {"shared": 1.0, "a": 1.0, "b": 0.0}, 1.0)
    assert (found.scheduling, found.shed_late, found.shares, found.lateness) == pytest.approx((0, 0, 0, 3))


def test_what_is_not_delivered_yet_is_not_lost_to_shares() -> None:
    """Half of b waits, within its good zone: nothing is missing so far."""
    found = losses(WORK, 1.5, {"shared": 1.0, "a": 1.0, "b": 0.5}, 5.0)
    assert found.bound == pytest.approx(5.0)
    assert (found.shares, found.lateness) == pytest.approx((0.0, -0.5))
    # With as much as was done, 4.5 is the most that could last.
    assert found.scheduling == pytest.approx(0.5)


def test_a_backlog_that_is_worked_off_counts_as_all() -> None:
    found = losses(WORK, 2.0, {"shared": 1.6, "a": 1.5, "b": 1.0}, 5.0)
    assert (found.bound, found.lateness) == pytest.approx((5.0, 0.0))
