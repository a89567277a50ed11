"""The paper's experiment, smaller: what migrations do for delays and loads."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from australis.policy.hotspot.levels import Criteria, Levels
from australis.policy.hotspot.messages import Measured
from australis.policy.hotspot.peer import Manners
from australis.sim.hotspot.applications import chain, diamond
from australis.sim.hotspot.overlay import Overlay, PlacedTask
from australis.sim.hotspot.run import Messages, simulated
from australis.sim.hotspot.workload import Setting, workload
from australis.sim.kernel.links import Links

SMALL = Setting(minutes=10)


def test_a_seed_plays_a_run_again() -> None:
    short = replace(SMALL, minutes=2)
    runs = [simulated(short, seed) for seed in (7, 7, 8)]
    assert runs[0] == runs[1] != runs[2]


def test_migrations_make_delays_short_and_loads_even() -> None:
    without, balanced = (simulated(SMALL, 3, balanced=each) for each in (False, True))
    assert without.entered == balanced.entered, "the same tuples come"
    assert without.migrations == 0 < balanced.migrations
    assert balanced.delay_s < without.delay_s
    assert balanced.delivered > without.delivered
    assert balanced.spread < without.spread


def test_nothing_migrates_below_the_threshold() -> None:
    calm = replace(SMALL, minutes=3, utilisation=0.1)
    found = simulated(calm, 1)
    assert found.migrations == found.whole.migration == 0
    assert found.delivered == pytest.approx(found.entered, rel=0.05)
    assert found.delay_s < 1.5


def test_a_longer_check_migrates_later() -> None:
    late = replace(SMALL, minutes=5, manners=Manners(criteria=Criteria(minutes=15)))
    assert simulated(late, 3).migrations < simulated(replace(SMALL, minutes=5), 3).migrations


def test_more_levels_need_more_updates() -> None:
    few, many = (
        simulated(replace(SMALL, minutes=5, manners=Manners(levels=Levels(count))), 3).whole.load_updates
        for count in (2, 30)
    )
    assert many > 1.2 * few


def test_overhead_is_counted_for_each_message_with_a_tuple() -> None:
    assert Messages(2000, data=8000, load_updates=259, migration=249).overhead == 0.0635


# --- what is drawn


@pytest.mark.parametrize("seed", range(5))
def test_a_workload_is_as_the_paper_says(seed: int) -> None:
    drawn = workload(Setting(), Random(seed))
    assert len(drawn.offers) == len(drawn.requests) == 30
    assert len(drawn.costs) == 10
    assert all(len(set(offered)) == 5 for offered in drawn.offers.values())
    for request in drawn.requests:
        *tasks, receive = request.placed
        assert [each.operator in drawn.offers[each.peer] for each in tasks] == [True] * 5
        assert receive.peer == request.peer
        assert 0 <= request.rate <= 1


def test_applications_lead_from_their_sources_to_their_receiver() -> None:
    for application, paths in ((chain("a", 3, 2), 1), (diamond("a", 2, 2), 2)):
        counts = dict.fromkeys(application.sources, 1)
        for task in application.tasks:
            counts |= dict.fromkeys(task.writes, sum(counts[stream] for stream in task.reads))
        assert counts[application.out] == paths * 2
        assert application.paths == paths


def test_load_averages_are_those_of_what_runs() -> None:
    overlay = Overlay({"a": ("op",)}, {"op": 100.0}, manners=Manners(), links=Links(), chance=Random(0))
    application = chain("app", 1)
    placed = [PlacedTask("op", "a", application.tasks[0]), PlacedTask("receive", "a", application.receive)]
    overlay.place(placed, {"app.in0": "a"})
    station = overlay.stations["a"]
    for _ in range(3):
        station.emit("app.in0", (0, 0))
    overlay.clock.run(until=50.0)
    station.background = 2.0
    for _ in range(120):
        station.measured(5.0)
    one, five, fifteen = station.loads
    assert one == pytest.approx(3.0, abs=0.01), "one task and the background, however many tuples wait"
    assert one > five > fifteen > 1
    station.tell(Measured(station.loads))
    assert station.policy.reporter.loads == station.loads
