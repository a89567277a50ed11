"""Schedules that follow the graphs: which stage goes first, with how long a train, and that none starves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.schedule.plain_schedules import patience_us, ready, short_train
from tests.policy.shed.situations import MOST, NOW, situations

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.priorities import (
    CEILING,
    FLOOR,
    FeedbackBased,
    StateBased,
    ranks,
    train_length,
)
from australis.policy.schedule.schedule import Schedule

BOTH = (StateBased, FeedbackBased)
SECOND = 1_000_000


def stage(name: str, waiting: int, seconds: float, *, rate: float = 1000.0, tuple_us: float = 10.0) -> Stage:
    """A stage of one output of the same name, whose oldest tuple has waited for some seconds."""
    oldest = NOW - round(seconds * SECOND)
    outputs = frozenset({name})
    return Stage(
        name, outputs=outputs, waiting=waiting, oldest=oldest, rate=rate, tuple_us=tuple_us, train_us=30_000.0
    )


def node(stages: list[Stage], qualities: Mapping[str, Quality], workers: int = 1) -> Situation:
    goals = {name: Goal(name, quality, (name,)) for name, quality in qualities.items()}
    return Situation(NOW, {each.id: each for each in stages}, goals, workers)


def chosen(schedule: Schedule, now: Situation) -> str:
    choice = schedule.choose(now, MOST)
    assert choice is not None
    return choice.stage


def test_where_all_can_be_in_time_the_first_to_be_late_goes_first() -> None:
    qualities = {"slow": Quality(delay=((60, 1), (90, 0))), "fast": Quality(delay=((2, 1), (4, 0)))}
    now = node([stage("slow", 100, 5), stage("fast", 100, 1)], qualities)
    assert chosen(StateBased(), now) == "fast"


def test_under_overload_what_gains_most_for_its_cost_goes_first() -> None:
    graph = ((2.0, 1.0), (4.0, 0.0))
    stages = [stage("dear", 100_000, 2, tuple_us=100), stage("cheap", 100_000, 2, tuple_us=10)]
    alike = node(stages, {name: Quality(delay=graph) for name in ("dear", "cheap")})
    assert chosen(StateBased(), alike) == "cheap"
    heavy = node(stages, {"dear": Quality(delay=graph, weight=50), "cheap": Quality(delay=graph)})
    assert chosen(StateBased(), heavy) == "dear"


def test_what_is_too_late_to_gain_anything_comes_last() -> None:
    graph = ((2.0, 1.0), (4.0, 0.0))
    stages = [stage("hopeless", 100_000, 1000), stage("fresh", 1_000, 0.1)]
    now = node(stages, {name: Quality(delay=graph) for name in ("hopeless", "fresh")})
    assert chosen(StateBased(), now) == "fresh"
    assert chosen(StateBased(), replace(now, busy=frozenset({"fresh"}))) == "hopeless"


def test_a_shared_stage_counts_for_all_its_outputs() -> None:
    graph = Quality(delay=((1, 1), (3, 0)))
    shared = replace(stage("shared", 10_000, 0.9), outputs=frozenset({"a", "b", "c"}))
    goals = {name: Goal(name, graph, ("shared", name)) for name in ("a", "b", "c")}
    goals["own"] = Goal("own", graph, ("own",))
    stages = {"shared": shared, "own": stage("own", 10_000, 0.9)} | {n: Stage(n) for n in ("a", "b", "c")}
    assert chosen(StateBased(), Situation(NOW, stages, goals)) == "shared"


def test_feedback_raises_outputs_that_do_badly_and_lowers_those_that_do_well() -> None:
    schedule = FeedbackBased()
    graph = Quality(delay=((1, 1), (100, 0)))
    now = node([stage("late", 10, 0), stage("fine", 10, 0)], {"late": graph, "fine": graph})
    goals = {"late": replace(now.goals["late"], delay=9.0), "fine": replace(now.goals["fine"], delay=0.5)}
    for tick in range(10):
        schedule.choose(replace(now, now=NOW + tick * SECOND, goals=goals), MOST)
    raised = schedule.priorities["late"]
    assert raised > 2 * schedule.priorities["fine"]
    well = {name: replace(goal, delay=0.5) for name, goal in goals.items()}
    stages = {name: replace(each, oldest=None) for name, each in now.stages.items()}
    for tick in range(10, 40):
        schedule.choose(replace(now, now=NOW + tick * SECOND, goals=well, stages=stages), MOST)
    assert schedule.priorities["late"] == pytest.approx(schedule.priorities["fine"])


def test_by_feedback_outputs_share_time_by_their_priorities() -> None:
    schedule = FeedbackBased(every_us=10**15)
    qualities = {"much": Quality(weight=3), "little": Quality(weight=1)}
    now = node([stage("much", 10**6, 0), stage("little", 10**6, 0)], qualities)
    turns = [chosen(schedule, now) for _ in range(400)]
    assert turns.count("much") == pytest.approx(300, abs=3)


def test_trains_are_as_long_as_the_others_can_wait_and_worth_their_fixed_cost() -> None:
    qualities = {"one": Quality(delay=((2, 1), (4, 0))), "other": Quality(delay=((2, 1), (4, 0)))}
    one = stage("one", 10**6, 0, tuple_us=10)
    lengths = [
        train_length(one, node([one, stage("other", 10, age)], qualities), MOST) for age in (0, 1, 1.9, 1000)
    ]
    assert lengths == [97_000, 47_000, short_train(one), 197_000]
    assert train_length(one, node([one], qualities), 5) == 5


def test_what_has_just_come_waits_for_more_while_others_are_ripe() -> None:
    qualities = {"tape": Quality(delay=((2, 1), (30, 0))), "alarm": Quality(delay=((2, 1), (4, 0)), weight=9)}
    tape = stage("tape", 900_000, 5)
    assert chosen(StateBased(), node([tape, stage("alarm", 100, 0.1)], qualities)) == "tape"
    assert chosen(StateBased(), node([tape, stage("alarm", 100, 0.9)], qualities)) == "alarm"
    assert chosen(StateBased(), node([tape, stage("alarm", 90_000, 0.1)], qualities)) == "alarm"
    fresh = stage("tape", 900_000, 1)
    assert chosen(StateBased(), node([fresh, stage("alarm", 100, 0.1)], qualities)) == "alarm"


def test_late_tuples_after_a_drop_box_go_first_though_they_are_worth_nothing() -> None:
    """It is quick to read, and delays what could be in time."""
    qualities = {name: Quality(delay=((2, 1), (4, 0))) for name in ("late", "fresh")}
    late, fresh = stage("late", 900_000, 60), stage("fresh", 100_000, 1)
    assert chosen(StateBased(), node([late, fresh], qualities)) == "fresh"
    assert chosen(StateBased(), node([replace(late, sheds=0.99), fresh], qualities)) == "late"


def test_a_train_is_short_for_those_too_that_have_nothing_ready() -> None:
    """What is busy or empty now gets tuples while the train runs, and these cannot wait for its end."""
    long = stage("one", 10**9, 1)
    qualities = {"one": Quality(), "other": Quality(delay=((0.5, 1), (1, 0)))}
    empty = node([long, stage("other", 0, 0)], qualities)
    busy = replace(node([long, stage("other", 10, 0)], qualities), busy=frozenset({"other"}))
    fresh = node([long, stage("other", 10, 0)], qualities)
    lengths = {train_length(long, now, 10**9) for now in (empty, busy, fresh)}
    assert lengths == {(250_000 - 30_000) // 10}
    assert train_length(long, node([long], qualities), 10**9) > max(lengths)


@pytest.mark.parametrize("kind", BOTH)
@given(now=situations())
def test_the_choice_can_run(kind: type[Schedule], now: Situation) -> None:
    choice = kind().choose(now, MOST)
    names = {each.id for each in ready(now)}
    assert (choice is None) == (not names)
    if choice is not None:
        assert choice.stage in names
        assert 1 <= choice.most <= MOST


@given(situations(), st.lists(st.none() | st.floats(0, 1e4), min_size=1, max_size=5))
def test_priorities_stay_finite(now: Situation, delays: list[float | None]) -> None:
    schedule = FeedbackBased(every_us=0)
    for tick, delay in enumerate(delays * 10):
        goals = {name: replace(goal, delay=delay) for name, goal in now.goals.items()}
        schedule.choose(replace(now, now=now.now + tick, goals=goals), MOST)
    assert all(FLOOR <= each <= CEILING and math.isfinite(each) for each in schedule.priorities.values())


@pytest.mark.parametrize("kind", BOTH)
@given(now=situations())
def test_no_stage_starves(kind: type[Schedule], now: Situation) -> None:
    """Every waiting stage runs within its patience and that of those before it."""
    schedule, waiting = kind(), [each.id for each in ready(now)]
    patience = max((patience_us(now.stages[name]) for name in waiting), default=0.0)
    ran: set[str] = set()
    for step in range(4 * len(waiting) + 2):
        choice = schedule.choose(replace(now, now=now.now + round(step * (patience + 1))), MOST)
        ran |= {choice.stage} if choice else set()
    assert ran == set(waiting)


def test_held_tuples_are_as_late_as_their_output_counts() -> None:
    """Tuples that a window has held for a minute are lost for one way to count, and in time for the other."""
    graph = ((2.0, 1.0), (4.0, 0.0))
    held, other = replace(stage("held", 1_000, 60), triggered=NOW - 3 * SECOND), stage("other", 200_000, 0.1)
    priorities = {}
    for since in ("oldest", "trigger"):
        qualities = {"held": Quality(delay=graph, since=since), "other": Quality(delay=((90, 1), (99, 0)))}
        now, by_feedback = node([held, other], qualities), FeedbackBased()
        by_feedback.choose(now, MOST)
        by_state = ranks(now.columns, now.workers, MOST)[0][now.columns.layout.stage["held"]]
        priorities[since] = (by_state, by_feedback.priorities["held"])
    assert priorities["trigger"][0] > 5 * priorities["oldest"][0] > 0
    assert priorities["trigger"][1] > 1 > priorities["oldest"][1], "there is something to save only for one"
