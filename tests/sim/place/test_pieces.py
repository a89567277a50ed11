"""What sites know of themselves: the pieces of a network, wherever its boxes are, are the network."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.policy.place.worlds import chain, world

from australis.algebra.form import loads
from australis.algebra.network import ConnectionPoint, Network, Ref
from australis.policy.place import Limits, Runs, Split, Survey
from australis.reference.network import ReferenceRun
from australis.sim.place.ground import Ground
from australis.sim.place.networks import random_survey
from australis.sim.place.pieces import measured_at, runs_at


def test_a_site_has_its_boxes_and_the_ends_of_its_streams() -> None:
    runs = runs_at(world(1000, sites={"count": "b"}), "b", {})
    network = loads(runs.network)
    assert set(network.boxes) == {"count"}
    assert {name: (end.stream, end.site) for name, end in runs.comes.items()} == {"thin": ("thin", "a")}
    assert {name: (end.stream, end.site) for name, end in runs.goes.items()} == {
        "to_desk__count": ("count", "desk")
    }
    assert runs_at(world(1000), "b", {}) == Runs("", {}, {})


def test_a_stream_goes_by_way_of_its_connection_point() -> None:
    seen = world(1000, sites={"count": "b", "pair": "b"})
    points = {"kept": ConnectionPoint(Ref("thin"), "1 h")}
    kept = replace(
        seen,
        network=replace(seen.network, connection_points=points),
        placement=replace(seen.placement, points={"kept": "desk"}),
    )
    assert {end.site for end in runs_at(kept, "a", {}).goes.values()} == {"desk"}
    desk = runs_at(kept, "desk", {})
    assert loads(desk.network).connection_points["kept"].at == Ref("thin")
    assert desk.comes["thin"].site == "a"
    assert {end.site for end in desk.goes.values()} == {"b", "desk"}
    assert runs_at(kept, "b", {}).comes["thin"].site == "desk"


def test_a_split_shows_at_both_sites() -> None:
    ground = Ground(world(1000), Limits().assumed)
    split = ground.move("a", Split((1, 1), "count", "b", "pmod(sid, 64) < 32", 0.5, "a", (), ()))
    assert split is not None
    ground.done(split)
    here, there = (runs_at(ground.survey, site, ground.splits) for site in ("a", "b"))
    assert (here.divided, here.fixed) == ({"count": ("count_copy",)}, ("count_merge", "count_route"))
    assert {copy: (home.box, home.site) for copy, home in there.copies.items()} == {
        "count_copy": ("count", "a")
    }
    assert measured_at(ground.survey, "b", there).rates == {"count_route__1": 50.0}
    assert [each.parting.undo(ground.survey.network) for each in ground.undone()] == [chain()]


@given(st.integers(0, 2**32))
def test_pieces_together_compute_what_the_network_computes(seed: int) -> None:
    """Tuples are carried by hand from site to site, over the ends that the pieces name."""
    draw = Random(seed)
    survey = random_survey(draw)
    rows = [{"k": draw.randrange(4), "at": at, "v": draw.randrange(6)} for at in range(12)]
    whole = ReferenceRun(survey.network)
    expected = [
        each for row in rows for name in survey.network.inputs for each in whole.push(name, row, ts=0, now=0)
    ]
    found = _carried(survey, rows)
    assert found == Counter((each.output, str(dict(each.values))) for each in expected)


def _carried(survey: Survey, rows: list[dict[str, int]]) -> Counter[tuple[str, str]]:
    pieces = {site: runs_at(survey, site, {}) for site in survey.sites}
    networks: dict[str, Network] = {
        site: loads(runs.network) for site, runs in pieces.items() if runs.network
    }
    running = {site: ReferenceRun(network) for site, network in networks.items()}
    found: Counter[tuple[str, str]] = Counter()
    doors = defaultdict(dict)
    for site, runs in pieces.items():
        for name, end in runs.comes.items():
            doors[site][end.stream] = name
    for row in rows:
        for name in survey.network.inputs:
            ways = [(survey.placement.inputs[name], name, row)]
            while ways:
                site, stream, values = ways.pop(0)
                for each in running[site].push(doors[site][stream], values, ts=0, now=0):
                    end = pieces[site].goes[each.output]
                    if end.site == site:
                        found[end.stream, str(dict(each.values))] += 1
                    else:
                        ways.append((end.site, end.stream, dict(each.values)))
    return found
