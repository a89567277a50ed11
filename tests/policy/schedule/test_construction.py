"""The stages that a train passes at once: all while there is time, else the path to the best output."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from tests.policy.schedule.plain_schedules import ready
from tests.policy.shed.situations import MOST, NOW, situations

from australis.algebra.quality import Quality
from australis.policy.load import Goal, Situation, Stage
from australis.policy.schedule.construction import constructed
from australis.policy.schedule.schedule import Choice


def fan(waiting: int, *, tuple_us: float = 1.0, zone: float = 2.0) -> Situation:
    """One stage that feeds two, which lead to an important output and to another."""
    stages = {
        "first": Stage("first", {"a": 1.0, "b": 1.0}, frozenset("AB"), waiting, NOW, tuple_us=tuple_us),
        "a": Stage("a", {}, frozenset("A"), tuple_us=tuple_us, joins=True),
        "b": Stage("b", {}, frozenset("B"), tuple_us=tuple_us, joins=True),
    }
    light, heavy = (Quality(delay=((zone, 1), (9, 0)), weight=weight) for weight in (1, 5))
    goals = {"A": Goal("A", light, ("first", "a")), "B": Goal("B", heavy, ("first", "b"))}
    return Situation(NOW, stages, goals)


def built(situation: Situation, first: str = "first") -> tuple[str, ...]:
    return constructed(Choice(first, MOST), situation).stages


def changed(situation: Situation, name: str, **values: object) -> Situation:
    stages = {**situation.stages, name: replace(situation.stages[name], **values)}  # type: ignore[arg-type]
    return replace(situation, stages=stages)


def test_while_there_is_time_a_train_goes_through_everything() -> None:
    assert built(fan(1_000)) == ("first", "a", "b")


def test_when_there_is_not_it_goes_to_the_most_important_output() -> None:
    assert built(fan(1_000_000)) == ("first", "b")


def test_the_costs_of_joined_stages_add_up() -> None:
    now = fan(1_000_000)
    lengths = [
        constructed(Choice("first", MOST), changed(now, "b", tuple_us=cost)).most for cost in (1.0, 3.0)
    ]
    assert lengths == [500_000, 250_000]


def test_trains_stop_where_something_waits_or_stands() -> None:
    now = fan(1_000)
    assert built(changed(now, "b", waiting=3)) == ("first", "a")
    assert built(changed(now, "b", head=7)) == ("first", "a")
    assert built(changed(now, "b", joins=False)) == ("first", "a")
    assert built(replace(now, busy=frozenset("b"))) == ("first", "a")
    assert built(changed(now, "a", waiting=1), "a") == ("a",)


def test_a_stage_that_others_feed_too_waits_for_them() -> None:
    now = fan(1_000)
    other = Stage("other", {"b": 1.0}, frozenset("B"))
    joint = replace(now, stages={"first": now.stages["first"], "other": other, **now.stages})
    assert built(joint) == ("first", "a")


@given(situations())
def test_whatever_is_joined_is_free(now: Situation) -> None:
    for stage in ready(now):
        choice = constructed(Choice(stage.id, MOST), now)
        assert choice.stages[0] == stage.id
        assert len(set(choice.stages)) == len(choice.stages)
        assert not set(choice.downstream) & (now.busy | {each.id for each in ready(now)})


def test_time_is_left_by_what_an_output_counts_from() -> None:
    """A tuple that a window has held for long is not late for an output that counts from the trigger."""
    held = changed(fan(1_000), "first", oldest=NOW - 60_000_000, triggered=NOW)
    assert built(held) == ("first", "b"), "too late for both"
    goals = {
        name: replace(goal, quality=replace(goal.quality, since="trigger"))
        for name, goal in held.goals.items()
    }
    assert built(replace(held, goals=goals)) == ("first", "a", "b")
