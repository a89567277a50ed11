"""What the benchmark makes of its points: medians of runs, against rivals and against the bound."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from benchmarks.qos import loads
from benchmarks.qos.loads import CONTENDERS, MINE, Against, Contender, Point
from benchmarks.qos.pictures import COLOURS
from benchmarks.qos.scene import QUALITIES

from australis.policy.limit import Losses


def point(contender: Contender, number: int, part: float, load: float = 2.0) -> Point:
    """A run in which each output had a part of its utility."""
    utilities = {name: part * quality.weight for name, quality in QUALITIES.items()}
    against = Against(Losses(5.0, 0.1, 0.2, 0.3, 0.4), 4.0) if contender.in_branches else None
    return Point(
        contender,
        load,
        number,
        utilities,
        dict.fromkeys(utilities, 1.0),
        dict.fromkeys(utilities, part),
        1.5,
        against,
    )


RIVALS = [each for each in CONTENDERS if each.rival]
POINTS = [
    *(point(MINE, number, part) for number, part in enumerate((0.5, 0.1, 0.6))),
    *(point(rival, number, part) for rival in RIVALS for number, part in enumerate((0.2, 0.1, 0.3))),
    *(point(RIVALS[-1], number, 0.25) for number in range(3, 6)),
]


def test_figures_are_medians_of_runs() -> None:
    assert loads.ratio(POINTS, 2.0) == pytest.approx(0.5 / 0.25)
    assert loads.of_bound(POINTS, 2.0) == pytest.approx(0.5 * 8.5 / 5)
    assert loads.of_given(POINTS, 2.0) == pytest.approx(0.5 * 8.5 / 4)
    assert loads.fairness(POINTS, 2.0) == pytest.approx(1.0)
    assert loads.ratio(POINTS, 3.0) is None
    assert loads.of_bound(POINTS, 3.0) is None


def test_one_output_that_has_all_is_not_fair() -> None:
    run = point(MINE, 0, 0.5)
    utilities = dict.fromkeys(run.utilities, 0.0) | {"alarms": 4.0}
    only = Point(**{**vars(run), "utilities": utilities})
    assert only.fairness == 0.25


def test_the_work_of_the_scene_is_divided_as_a_backlog_was() -> None:
    parts = {"shop": 0.1, "parse+1": 0.2, "visit": 0.2, "size+1": 0.2, "format": 0.3}
    work = loads._work(parts, 2.0)
    assert sum(work.stages.values()) == pytest.approx(2.0)
    assert {name: way[0] for name, way in work.ways.items()} == dict.fromkeys(QUALITIES, "shop")
    assert {way[1] for way in work.ways.values()} == parts.keys() - {"shop"}


def test_lines_can_be_told_apart() -> None:
    """By colour, mark and dashes; and each has its name in each panel."""
    picture = ET.fromstring(loads.picture(POINTS))
    svg = "{http://www.w3.org/2000/svg}"
    kinds = {(each.get("stroke"), each.get("stroke-dasharray")) for each in picture.iter(f"{svg}polyline")}
    assert len(kinds) >= len(COLOURS)
    assert len(set(COLOURS)) == len(COLOURS)
    names = [each.text for each in picture.iter(f"{svg}text")]
    assert all(names.count(contender.name) == 2 for contender in CONTENDERS if contender.rival), (
        "in each panel"
    )
