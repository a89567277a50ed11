"""The load shedder: situations in, commands out."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.shed.fluid import Node

from australis.algebra.quality import Points, Quality, ValueGraph
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed.drop_boxes import DropBox
from australis.policy.shed.shedder import Command, Insert, Manners, Replace, Shedder, Withdraw

SECOND = 1_000_000
DELAY: Points = ((0, 1), (2, 1), (6, 0))
LOSS: Points = ((0, 0), (1, 1))
STEADY = 1200
"""Two minutes, in steps of 0.1 s."""


def seen(
    at_s: float,
    rate: float,
    *,
    waiting: int = 0,
    oldest_s: float | None = None,
    delay: float | None = 0.5,
    quality: Quality = Quality(delay=DELAY, loss=LOSS),  # noqa: B008
    kept: float = 1.0,
) -> Situation:
    """A node with one output, whose stage can admit 1,000 tuples per second."""
    now = int(at_s * SECOND)
    oldest = None if oldest_s is None else now - int(oldest_s * SECOND)
    stage = Stage("s", {}, frozenset({"a"}), waiting, oldest, rate, tuple_us=1000, kept=kept)
    return Situation(now, {"s": stage}, {"a": Goal("a", quality, ("s",), delay)})


def rounded(commands: tuple[Command, ...]) -> list[tuple[str, str, float]]:
    return [
        (type(c).__name__, c.stage, 0.0 if isinstance(c, Withdraw) else round(c.box.rate, 3))
        for c in commands
    ]


def test_nothing_is_shed_in_the_good_zone_whatever_the_rate() -> None:
    assert Shedder().decide(seen(0, rate=3000)) == ()


def test_a_late_output_is_helped_by_as_much_as_is_needed() -> None:
    assert rounded(Shedder().decide(seen(0, rate=2000, delay=2.5))) == [("Insert", "s", 0.5)]


def test_what_waits_foretells_that_an_output_will_be_late() -> None:
    assert Shedder().decide(seen(0, rate=2000, waiting=1000, oldest_s=1.4)) == ()
    assert rounded(Shedder().decide(seen(0, rate=2000, waiting=1000, oldest_s=1.6))) == [("Insert", "s", 0.5)]
    assert rounded(Shedder().decide(seen(0, rate=2000, waiting=1600, oldest_s=0.9))) == [("Insert", "s", 0.5)]


def test_a_backlog_is_part_of_the_need() -> None:
    # 4,000 tuples wait, of which 1,000 may: 3,000 in 2 s beside 1,000 a second.
    late = seen(0, rate=1000, waiting=4000, oldest_s=4, delay=3)
    assert rounded(Shedder().decide(late)) == [("Insert", "s", 0.6)]


def test_lateness_that_is_not_for_load_sheds_nothing() -> None:
    assert Shedder().decide(seen(0, rate=500, delay=5)) == ()


@pytest.mark.parametrize("quality", [Quality(delay=DELAY), Quality(loss=LOSS), Quality()])
def test_without_a_graph_for_loss_or_for_delay_nothing_is_shed(quality: Quality) -> None:
    late = seen(0, rate=3000, waiting=9000, oldest_s=5, delay=5, quality=quality)
    assert Shedder().decide(late) == ()


def test_windows_that_are_too_long_for_the_good_zone_shed_nothing() -> None:
    late = seen(0, rate=2000, waiting=1000, oldest_s=0.5, delay=2.5)
    slow = replace(late.goals["a"], lag=2.2)
    assert Shedder().decide(replace(late, goals={"a": slow})) == ()


def test_an_output_that_is_not_served_is_not_helped() -> None:
    assert Shedder().decide(seen(0, rate=2000, waiting=9000, oldest_s=5, delay=5), inactive=("a",)) == ()


def test_rates_rise_at_once_only_if_they_are_much_too_low() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    assert rounded(shedder.decide(seen(1, rate=2200, delay=2.5, waiting=1000))) != [("Replace", "s", 0.545)]
    ((kind, _, rate),) = rounded(shedder.decide(seen(2, rate=4000, delay=2.5, waiting=1000)))
    assert (kind, rate) == ("Replace", pytest.approx(0.75, abs=0.03))


def test_only_a_difference_is_worth_a_command() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    told = [shedder.decide(seen(at / 5, rate=2000, waiting=1000, oldest_s=0.5)) for at in range(1, 500)]
    assert not any(told[300:])
    assert shedder.boxes["s"].rate == pytest.approx(0.5, abs=0.02)


def test_rates_come_down_in_a_calm_and_the_drop_box_goes() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=4000, waiting=3000, oldest_s=0, delay=2.5))
    told = [rounded(shedder.decide(seen(at, rate=500))) for at in (0.5, 1.0, 1.5, 2.0, 2.5)]
    *changed, withdrawn, nothing = told
    rates = [rate for commands in changed for kind, _, rate in commands if kind == "Replace"]
    assert len(rates) >= 2
    assert rates == sorted(rates, reverse=True)
    assert rates[0] < 0.4
    assert (withdrawn, nothing) == ([("Withdraw", "s", 0.0)], [])
    assert shedder.boxes == {}


def test_without_a_margin_a_drop_box_stays_longer() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    told = []
    for at in range(1, 8):
        kept = 1.0 - (shedder.boxes["s"].rate if shedder.boxes else 0.0)
        told.append(rounded(shedder.decide(seen(at, rate=950, waiting=round(500 / kept), oldest_s=0.5))))
    assert [at for at, commands in enumerate(told, 1) if ("Withdraw", "s", 0.0) in commands] == [6]
    assert shedder.boxes == {}


def test_a_drop_box_that_does_not_help_is_withdrawn_though_its_output_is_late() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    told = [rounded(shedder.decide(seen(at, rate=500, delay=5))) for at in range(1, 8)]
    assert told[5] == [("Withdraw", "s", 0.0)]
    assert shedder.boxes == {}


def test_a_burst_that_comes_back_finds_the_drop_box_again() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    for at in (1.0, 2.0, 3.0):
        shedder.decide(seen(at, rate=500))
    assert shedder.boxes == {}
    assert rounded(shedder.decide(seen(4, rate=2000, delay=2.5))) == [("Insert", "s", 0.5)]


def test_a_stage_that_is_gone_has_no_drop_box_any_more() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, delay=2.5))
    gone = replace(seen(1, rate=2000, delay=2.5), stages={}, goals={})
    assert shedder.decide(gone) == (Withdraw("s"),)


def test_costs_that_were_measured_too_low_are_made_up_for() -> None:
    shedder = Shedder()
    late = [seen(at / 2, rate=2000, waiting=3000, oldest_s=3, delay=3) for at in range(40)]
    rates = [box.rate for each in late if shedder.decide(each) is not None for box in shedder.boxes.values()]
    assert rates[-1] > rates[0] + 0.05
    assert rates[10:] == sorted(rates[10:])


def test_a_stage_cannot_use_more_than_one_worker() -> None:
    late = replace(seen(0, rate=2000, delay=2.5), workers=4)
    assert rounded(Shedder().decide(late)) == [("Insert", "s", 0.5)]
    assert Shedder().decide(replace(seen(0, rate=900, delay=2.5), workers=4)) == ()


def test_but_trains_of_several_tasks_use_several_workers() -> None:
    late = replace(seen(0, rate=3000, delay=2.5), workers=4)
    wide = {name: replace(stage, abreast=2.0) for name, stage in late.stages.items()}
    ((_, _, rate),) = rounded(Shedder().decide(replace(late, stages=wide)))
    assert rate == pytest.approx(1 / 3, abs=0.001)
    less = replace(seen(0, rate=1900, delay=2.5), workers=4)
    assert (
        Shedder().decide(replace(less, stages={n: replace(s, abreast=2.0) for n, s in less.stages.items()}))
        == ()
    )


def test_many_workers_do_not_make_one_queue_shorter() -> None:
    waiting = replace(seen(0, rate=2000, waiting=1600, oldest_s=0.9), workers=4)
    assert rounded(Shedder().decide(waiting)) == [("Insert", "s", 0.5)]


def test_in_a_calm_another_place_is_shed_slowly() -> None:
    late = two(0, whole_rate=900)
    whole = replace(late.goals["b"], quality=Quality(delay=DELAY, loss=LOSS, weight=9.0))
    shedder = Shedder()
    assert rounded(shedder.decide(replace(late, goals={**late.goals, "b": whole}))) == [("Insert", "s", 0.8)]
    calm = {name: replace(goal, delay=0.5) for name, goal in {**late.goals, "b": whole}.items()}
    more = replace(two(0.2, whole_rate=1900), goals=calm)
    (inserted,) = [command for command in shedder.decide(more) if command.stage == "w"]
    assert isinstance(inserted, Insert)
    assert shedder.shedding is not None
    assert 0.0 < inserted.box.rate < 0.5 * shedder.shedding.boxes["w"].rate


def test_waiting_tuples_in_a_calm_are_not_a_backlog() -> None:
    shedder = Shedder()
    shedder.decide(seen(0, rate=2000, waiting=9000, oldest_s=3, delay=2.5))
    told = [rounded(shedder.decide(seen(at, rate=800, waiting=700, oldest_s=0.7))) for at in (1, 2)]
    assert told[-1] == [("Withdraw", "s", 0.0)]


# --- steady


@pytest.mark.parametrize(("dearer", "noise"), [(0.9, 0.05), (1.1, 0.0), (1.1, 0.05), (1.4, 0.05)])
def test_under_a_constant_load_the_fractions_delivered_are_steady(dearer: float, noise: float) -> None:
    """At 150 %, with costs that are measured wrong and with noise; the first 20 s do not count."""
    node, rate = overloaded(1.5, dearer, noise, Random(7))
    delivered: dict[str, list[float]] = {name: [] for name in node.goals}
    commands = 0
    for _ in range(STEADY):
        commands += len(node.step({"shop": rate}))
        for name, goal in node.goals.items():
            kept = (1.0 - node.shedder.boxes[s].rate for s in goal.way if s in node.shedder.boxes)
            delivered[name].append(prod(kept))
        assert not [name for name in node.goals if (node.delay(name) or 0.0) > 2.0]
    for name, each in delivered.items():
        steady = each[200:]
        tens = [fmean(steady[at : at + 100]) for at in range(0, len(steady), 100)]
        mean = fmean(steady)
        assert max(abs(ten - mean) for ten in tens) < 0.05 * mean, (name, tens)
    assert delivered["whole"] == [1.0] * STEADY
    assert commands < STEADY / 2


def test_what_is_shed_is_what_is_needed_however_wrong_costs_were_measured() -> None:
    shed = []
    for dearer in (0.9, 1.0, 1.3):
        node, rate = overloaded(1.5, dearer, 0.0, Random(1))
        for _ in range(1000):
            node.step({"shop": rate})
        shed.append({name: round(box.rate, 3) for name, box in node.shedder.boxes.items()})
    assert shed[0] == pytest.approx(shed[1], abs=0.02)
    assert shed[0] == pytest.approx(shed[2], abs=0.02)


def overloaded(load: float, dearer: float, noise: float, random: Random) -> tuple[Node, float]:
    """A node with a shared stage and four outputs, and the rate that is so much of what it can do."""
    costs = {"line": 60.0, "same": 50.0, "bent": 70.0, "whole": 30.0}
    losses: dict[str, Points] = {
        "line": LOSS,
        "same": LOSS,
        "bent": ((0, 0), (0.5, 0.8), (1, 1)),
        "whole": (),
    }
    weights = {"line": 1.0, "same": 1.0, "bent": 2.0, "whole": 4.0}
    stages = {"shop": Stage("shop", dict.fromkeys(costs, 1.0), frozenset(costs), tuple_us=20)}
    stages |= {name: Stage(name, {}, frozenset({name}), tuple_us=cost) for name, cost in costs.items()}
    goals = {
        name: Goal(name, Quality(delay=DELAY, loss=losses[name], weight=weights[name]), ("shop", name))
        for name in costs
    }
    node = Node(stages, goals, Shedder(), dearer, noise=noise, random=random, every=2)
    return node, load * 0.95 * 1e6 / dearer / (20 + sum(costs.values()))


# --- what cannot be shed


def two(at_s: float, whole_rate: float) -> Situation:
    """An output that may lose tuples, and one that may not; both are late."""
    stages = {
        "s": Stage("s", {}, frozenset({"a"}), rate=500, tuple_us=1000),
        "w": Stage("w", {}, frozenset({"b"}), rate=whole_rate, tuple_us=1000),
    }
    a = Goal("a", Quality(delay=DELAY, loss=LOSS), ("s",), delay=3.0)
    b = Goal("b", Quality(delay=DELAY), ("w",), delay=3.0)
    return Situation(int(at_s * SECOND), stages, {"a": a, "b": b})


def test_others_pay_for_an_output_that_may_lose_nothing() -> None:
    assert rounded(Shedder().decide(two(0, whole_rate=900))) == [("Insert", "s", 0.8)]


def test_but_not_when_it_does_not_help() -> None:
    shedder = Shedder()
    assert rounded(shedder.decide(two(0, whole_rate=3000))) == []
    assert shedder.shedding is not None
    assert shedder.shedding.missing == pytest.approx(2.5)


# --- by value


def test_a_drop_box_goes_by_value_where_it_can() -> None:
    semantic = DropBox(0.5, {"in": "(v <= 3)"})
    asked: list[tuple[str, float]] = []

    def by_value(stage: str, rate: float) -> DropBox:
        asked.append((stage, rate))
        return semantic

    shedder = Shedder(by_value=by_value)
    quality = Quality(delay=DELAY, value=ValueGraph("v", points=((0, 0), (9, 1))))
    assert shedder.decide(seen(0, rate=2000, delay=2.5, quality=quality)) == (Insert("s", semantic),)
    assert asked == [("s", 0.5)]


def test_a_box_that_sheds_much_less_than_it_should_is_replaced() -> None:
    shedder = Shedder(by_value=lambda stage, rate: DropBox(rate, {"in": "(v <= 3)"}))
    shedder.decide(seen(0, rate=2000, delay=2.5))
    assert shedder.decide(seen(2.5, rate=2000, delay=2.1, kept=0.55, waiting=1000)) == ()
    again = shedder.decide(seen(3, rate=2000, delay=2.1, kept=0.8, waiting=1000))
    assert [type(command) for command in again] == [Replace]


def test_without_one_it_goes_by_chance() -> None:
    shedder = Shedder(by_value=lambda stage, rate: None)
    assert shedder.decide(seen(0, rate=2000, delay=2.5)) == (Insert("s", DropBox(0.5, {}, 0.5)),)


# --- laws


@given(
    st.lists(
        st.tuples(st.floats(0, 9000), st.integers(0, 20_000), st.floats(0, 9), st.none() | st.floats(0, 9)),
        max_size=30,
    )
)
def test_commands_fit_the_drop_boxes_that_stand_and_none_is_left(
    story: list[tuple[float, int, float, float | None]],
) -> None:
    """Whatever happens, then fifteen quiet seconds."""
    shedder = Shedder()
    standing: dict[str, DropBox] = {}
    happened = [
        seen(i / 2, rate, waiting=waiting, oldest_s=oldest, delay=delay)
        for i, (rate, waiting, oldest, delay) in enumerate(story)
    ]
    quiet = [seen(len(story) / 2 + i / 2, rate=500) for i in range(30)]
    for situation in happened + quiet:
        for command in shedder.decide(situation):
            assert (command.stage in standing) != isinstance(command, Insert)
            if isinstance(command, Withdraw):
                del standing[command.stage]
            else:
                assert 0.0 < command.box.rate <= 1.0
                standing[command.stage] = command.box
        assert standing == shedder.boxes
    assert standing == {}


def test_manners_can_be_others() -> None:
    hasty = Shedder(Manners(calm_s=0.0))
    hasty.decide(seen(0, rate=2000, delay=2.5))
    assert rounded(hasty.decide(seen(0.1, rate=500))) == [("Withdraw", "s", 0.0)]


def test_what_waits_is_as_old_as_its_output_counts() -> None:
    held = seen(0, rate=2000, waiting=1000, oldest_s=1.6)
    goal = replace(held.goals["a"], quality=replace(held.goals["a"].quality, since="trigger"))
    caused = {name: replace(each, triggered=held.now) for name, each in held.stages.items()}
    assert rounded(Shedder().decide(held)) == [("Insert", "s", 0.5)]
    assert Shedder().decide(replace(held, goals={"a": goal}, stages=caused)) == ()
