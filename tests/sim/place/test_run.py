"""Placement end to end: what moves achieve, that they cease, and that a seed repeats a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from australis.policy.machines import Journal
from australis.policy.place import HASTY, Manners
from australis.policy.replay import replayed
from australis.sim.place.experiments import VARIANTS, placed
from australis.sim.place.run import Run
from australis.sim.place.tally import Outcome
from australis.sim.place.workload import REGIONS, Rates, Setting

SHORT = replace(Setting(), seconds=300.0, hot_s=75.0)
STEADY = replace(Setting(), seconds=400.0, calm=4500.0, hot=4500.0, noise=0.0)


def outcome(name: str, setting: Setting = SHORT, seed: int = 1) -> Outcome:
    return Run(setting, seed, VARIANTS[name]).outcome()


def test_boxes_that_move_deliver_more_in_time() -> None:
    still, moving = outcome("still"), outcome("slides and splits")
    assert still.slides == still.splits == 0
    assert moving.slides > 0
    assert moving.splits > 0
    assert moving.in_time > still.in_time + 0.1
    assert moving.delay_s < still.delay_s / 4
    assert moving.overloaded < still.overloaded


def test_hysteresis_saves_moves() -> None:
    slow, hasty = outcome("slides and splits"), outcome("hasty")
    assert hasty.slides + hasty.splits > slow.slides + slow.splits
    assert slow.returns == 0


@pytest.mark.parametrize("manners", [Manners(), HASTY])
def test_under_constant_load_moves_cease(manners: Manners) -> None:
    found = Run(STEADY, 0, manners).outcome()
    assert found.slides > 0, "the line of the pairs is too narrow from the beginning"
    assert found.last_move_s < 200
    assert found.returns == 0


def test_a_seed_plays_a_run_again() -> None:
    lines: list[list[bytes]] = [[], []]
    outcomes = [Run(SHORT, 3, Manners(), Journal(each.append)).outcome() for each in lines]
    assert outcomes[0] == outcomes[1]
    assert lines[0] == lines[1]
    found = replayed(lines[0])
    assert (found.differences, found.machines, found.refused) == ((), 8, {})
    assert found.events > 400
    assert outcome("slides and splits", seed=4) != outcomes[0]


def test_the_load_moves_from_region_to_region() -> None:
    rates = Rates(replace(Setting(), noise=0.0), chance=None)  # type: ignore[arg-type]
    for turn, region in enumerate(REGIONS):
        middle = 300.0 * turn + 150
        assert rates.meant(region, middle) == 9000
        assert all(rates.meant(other, middle) == 1500 for other in REGIONS if other != region)
    assert rates.meant("north", 310.0) == rates.meant("east", 310.0) == pytest.approx(5250)


def test_all_variants_are_compared() -> None:
    done: list[int] = []
    found = placed(5, 1, done.append, replace(SHORT, seconds=60.0))
    assert sum(done) == len(VARIANTS) == len(found.variants)
    assert found.variants["still"].slides == 0
    first = found.moves["slides and splits"][0]
    assert first == (pytest.approx(30.02), "zoned downstream from server_north to server_south")
