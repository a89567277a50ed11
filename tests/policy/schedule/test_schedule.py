"""Schedules without graphs: no waiting stage is forgotten, and no busy one is chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.shed.situations import MOST, NAMES, WAYS, situation

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.schedule import (
    Choice,
    EarliestDeadline,
    Fifo,
    LongestQueue,
    RoundRobin,
    Schedule,
)

WITHOUT_GRAPHS = (Fifo, LongestQueue, EarliestDeadline)


@given(WAYS, st.dictionaries(NAMES, st.integers(1, 9)), st.sets(NAMES))
def test_round_robin_takes_what_waits_and_is_not_busy(
    ways: dict[str, list[str]], waiting: dict[str, int], busy: set[str]
) -> None:
    choice = RoundRobin(ways).choose(situation(ways, waiting, busy), MOST)
    ready = {each for way in ways.values() for each in way if each in waiting and each not in busy}
    assert choice in {Choice(each, MOST) for each in ready} if ready else choice is None


@given(WAYS, st.dictionaries(NAMES, st.integers(1, 9)))
def test_every_output_has_its_turn(ways: dict[str, list[str]], waiting: dict[str, int]) -> None:
    schedule = RoundRobin(ways)
    chosen = [schedule.choose(situation(ways, waiting), MOST) for _ in ways]
    nearest = [[each for each in way if each in waiting][-1:] for way in ways.values()]
    wanted = [each for found in nearest for each in found]
    assert [each.stage for each in chosen if each is not None][: len(wanted)] == wanted


def test_what_is_nearest_to_the_output_goes_first() -> None:
    ways = {"out": ["first", "second", "third"]}
    schedule, waiting = RoundRobin(ways), {"first": 9, "second": 1}
    assert schedule.choose(situation(ways, waiting), MOST) == Choice("second", MOST)
    assert schedule.choose(situation(ways, waiting, {"second"}), MOST) == Choice("first", MOST)


def test_the_turn_goes_to_the_output_after_the_last_one() -> None:
    ways = {"a": ["x"], "b": ["y"], "c": ["z"]}
    schedule, now = RoundRobin(ways), situation(ways, {"x": 1, "z": 1})
    turns = [schedule.choose(now, MOST) for _ in range(3)]
    assert turns == [Choice("x", MOST), Choice("z", MOST), Choice("x", MOST)]
    assert schedule.choose(situation(ways, {"y": 1}), MOST) == Choice("y", MOST)


@pytest.mark.parametrize("schedule", [RoundRobin({}), *(each() for each in WITHOUT_GRAPHS)])
def test_where_nothing_waits_there_is_nothing_to_choose(schedule: Schedule) -> None:
    assert schedule.choose(Situation(0, {"a": Stage("a")}, {}), MOST) is None
    busy = Situation(0, {"a": Stage("a", waiting=3)}, {}, busy=frozenset("a"))
    assert schedule.choose(busy, MOST) is None


def test_each_has_a_rule_of_its_own() -> None:
    stages = {
        "old": Stage("old", waiting=1, oldest=10, outputs=frozenset({"patient"})),
        "long": Stage("long", waiting=9, oldest=30, outputs=frozenset({"patient"})),
        "urgent": Stage("urgent", waiting=2, oldest=20, outputs=frozenset({"hasty"})),
    }
    goals = {
        "patient": Goal("patient", Quality(delay=((60, 1), (90, 0)))),
        "hasty": Goal("hasty", Quality(delay=((1, 1), (2, 0)))),
    }
    chosen = [each().choose(Situation(50, stages, goals), MOST) for each in WITHOUT_GRAPHS]
    assert [choice and choice.stage for choice in chosen] == ["old", "long", "urgent"]


@pytest.mark.parametrize(("since", "first"), [("oldest", "window"), ("trigger", "plain")])
def test_a_deadline_counts_from_what_its_output_counts_from(since: str, first: str) -> None:
    stages = {
        "window": Stage("window", waiting=1, oldest=0, triggered=40, outputs=frozenset({"a"})),
        "plain": Stage("plain", waiting=1, oldest=30, outputs=frozenset({"b"})),
    }
    graph = ((1, 1), (2, 0))
    goals = {"a": Goal("a", Quality(delay=graph, since=since)), "b": Goal("b", Quality(delay=graph))}
    choice = EarliestDeadline().choose(Situation(50, stages, goals), MOST)
    assert choice is not None
    assert choice.stage == first
