"""What placement sees, which boxes slide where, which predicate a split has, and what moves are worth."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.place.worlds import KNOWN, chain, random_world, without, world

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import ConnectionPoint, Ref
from australis.algebra.schema import parse_schema
from australis.errors import PolicyError
from australis.policy.place.moves import Limits, Splitting, judge, ranked, splits, troubles
from australis.policy.place.portions import by_remainder, by_values, portion
from australis.policy.place.slide import Direction, Sliding, slides, stop
from australis.policy.place.survey import Placement, Site, Survey, Values
from australis.reference.network import ReferenceRun
from australis.rewrite.statistics import Measure, Statistics

LIMITS = Limits()
SEED = st.integers(0, 2**32)


# --- what is seen


def test_flows_loads_and_traffic() -> None:
    seen = world(1000)
    assert seen.flows[Ref("thin")] == 100
    assert seen.flows[Ref("pair")] == 400
    assert seen.work == pytest.approx({"thin": 0.1, "count": 0.04, "pair": 0.01})
    assert seen.loads == pytest.approx({"sensor": 0, "a": 0.15, "b": 0, "desk": 0})
    # A reading has 12 bytes and its ts, a pair 20 more; the table's rows do not flow.
    assert seen.traffic["sensor", "a"] == 1000 * 20
    assert seen.traffic["a", "desk"] == 10 * 24 + 400 * 40
    assert seen.traffic["desk", "a"] == 0


def test_a_stream_goes_to_a_site_once_and_by_way_of_its_connection_point() -> None:
    seen = world(1000, sites={"count": "b", "pair": "b"})
    assert seen.traffic["a", "b"] == 100 * 20
    points = {"kept": ConnectionPoint(Ref("thin"), "1 h")}
    kept = replace(
        seen,
        network=replace(seen.network, connection_points=points),
        placement=replace(seen.placement, points={"kept": "desk"}),
    )
    assert kept.legs(Ref("thin")) == {("a", "desk"), ("desk", "b")}


def test_what_cannot_be_known_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"placement.boxes: has no pair"):
        Survey(chain(), Placement({"thin": "a", "count": "a"}, {}, {}), {"a": Site()}, {}, {})
    with pytest.raises(PolicyError, match="names nowhere"):
        world(1, sites={"pair": "nowhere"})
    with pytest.raises(PolicyError, match="capacity 0"):
        Site(0)


# --- slides


def test_a_box_slides_along_the_stream_and_aside() -> None:
    found = {(each.boxes, each.target): each.way for each in slides(world(1000), "a")}
    assert found[("thin",), "sensor"] is Direction.UP
    assert found[("pair",), "desk"] is Direction.DOWN
    assert found[("pair",), "b"] is Direction.ASIDE
    assert (("thin", "count", "pair"), "b") in found, "everything downstream of the first one"
    assert (("thin", "pair"), "b") in found, "all that is before the last one"


def test_a_weak_site_takes_only_what_it_can_run() -> None:
    assert {each.boxes for each in slides(world(1000), "a") if each.target == "sensor"} == {("thin",)}


def test_no_box_goes_where_there_is_no_line() -> None:
    cut = without(world(1000), ("b", "desk"))
    assert {each.boxes for each in slides(cut, "a") if each.target == "b"} == {("thin",)}


def test_boxes_that_are_fixed_stay() -> None:
    fixed = replace(world(1000), fixed=frozenset(["thin"]))
    assert {each.boxes for each in slides(fixed, "a")} == {("count",), ("pair",)}


def test_a_change_holds_streams_at_connection_points_or_inputs() -> None:
    network = chain()
    assert stop(network, ["count"]).held == (Ref("s"),)
    assert stop(network, ["pair"]).drained == ("thin", "pair")
    points = {"kept": ConnectionPoint(Ref("thin"))}
    still = stop(replace(network, connection_points=points), ["count", "pair"])
    assert (still.held, still.drained) == ((Ref("thin"),), ("count", "pair"))


# --- which move


def best(survey: Survey, site: str, place: object, limits: Limits = LIMITS) -> Sliding | Splitting | None:
    found = ranked(survey, site, place, limits)  # type: ignore[arg-type]
    return found[0].move if found else None


def test_low_selectivity_goes_upstream_when_the_line_is_narrow() -> None:
    seen = world(1000, bandwidth=21_000)
    assert [place for _, place in troubles(seen, "a", 0.9)] == [("sensor", "a")]
    assert best(seen, "a", ("sensor", "a")) == Sliding(("thin",), "a", "sensor", Direction.UP)


def test_high_selectivity_goes_downstream_when_the_line_is_narrow() -> None:
    narrow = {("a", "desk"): 16_500.0, ("b", "desk"): 16_500.0}
    seen = replace(world(1000), lines={**world(1000).lines, **narrow})
    assert [place for _, place in troubles(seen, "a", 0.9)] == [("a", "desk")]
    assert best(seen, "a", ("a", "desk")) == Sliding(("pair",), "a", "desk", Direction.DOWN)


def test_an_overloaded_site_gives_to_the_neighbour_with_the_most_room() -> None:
    seen = world(10_000)
    assert seen.loads["a"] == pytest.approx(1.5)
    busy = replace(seen, sites={**seen.sites, "c": Site(4.0)})
    lines = {**busy.lines, **{(x, y): 1e6 for x in busy.sites for y in busy.sites if x != y}}
    busy = replace(busy, lines=lines)
    found = best(busy, "a", "a")
    assert found is not None
    assert found.target == "c"


def test_a_box_that_is_too_much_for_anybody_is_split() -> None:
    """Only as much moves as has to, and groups stay whole."""
    known = Statistics({**KNOWN.boxes, "thin": Measure(10.0, (0.5, 0.5)), "count": Measure(400.0, (0.1,))})
    seen = replace(world(5000), statistics=known)
    assert seen.work["count"] == pytest.approx(1.0)
    found = best(seen, "a", "a")
    assert isinstance(found, Splitting)
    assert found.parting.box == "count"
    assert found.parting.divides
    after = found.apply(seen)
    assert 0.6 < after.loads["a"] <= 0.9
    assert after.loads[found.target] <= LIMITS.low
    assert after.placement.boxes["count_merge"] == "a", "a third site is not asked"
    assert not ranked(seen, "a", "a", replace(LIMITS, splits=False)) or not isinstance(
        best(seen, "a", "a", replace(LIMITS, splits=False)), Splitting
    )


def split_of(survey: Survey, box_id: str) -> Splitting:
    return next(each for each in splits(survey, "a", LIMITS) if each.parting.box == box_id)


def test_what_is_known_of_a_box_is_known_of_its_copy() -> None:
    counted = Values("sid", {1: 3.0, 2: 2.0, 3: 1.0})
    seen = replace(world(12_000), values={"count": counted}, states={"count": 1000.0, "thin": 10.0})
    split = split_of(seen, "count")
    after, kept = split.apply(seen), split.portion.kept
    assert after.values["count_copy"] == counted
    assert after.states == pytest.approx(
        {"count": kept * 1000, "count_copy": (1 - kept) * 1000, "thin": 10.0}
    )


def test_only_groups_that_go_are_carried_over() -> None:
    seen = replace(world(12_000), states={"count": 1000.0, "thin": 10.0})
    groups = split_of(seen, "count")
    assert groups.state_bytes(seen) == pytest.approx((1 - groups.portion.kept) * 1000)
    assert split_of(seen, "thin").state_bytes(seen) == 0.0


def test_boxes_that_are_fixed_are_not_split() -> None:
    seen = replace(world(12_000), fixed=frozenset(["thin"]))
    assert {each.parting.box for each in splits(seen, "a", LIMITS)} == {"count"}


def test_a_site_that_cannot_merge_gets_no_merge() -> None:
    seen = world(12_000)
    weak = replace(seen, sites={**seen.sites, "desk": Site(0.5, frozenset(["aggregate"]))})
    merges = [
        {each.target: each.merge for each in splits(survey, "a", LIMITS) if each.parting.box == "count"}
        for survey in (seen, weak)
    ]
    assert merges == [{"desk": "desk"}, {"desk": "a"}]


def test_state_makes_a_move_dearer() -> None:
    seen = world(10_000)
    heavy = replace(seen, states={"count": 3e7})
    slide = Sliding(("count",), "a", "b", Direction.ASIDE)
    light = judge(seen, slide, "a", LIMITS)
    dear = judge(heavy, slide, "a", LIMITS)
    assert light is not None
    assert dear is not None
    assert dear.score == pytest.approx(light.score - 0.2 * 3e7 / (1e6 * 60))


def test_state_is_not_carried_where_there_is_no_line() -> None:
    cut = without(world(10_000), ("a", "b"), ("b", "a"))
    aside = Sliding(("pair", "thin", "count"), "a", "b", Direction.ASIDE)
    half = replace(cut, rates={"s": 4600.0}, sites={**cut.sites, "a": Site(0.5)})
    assert judge(half, aside, "a", LIMITS) is not None
    assert judge(replace(half, states={"count": 1.0}), aside, "a", LIMITS) is None


def test_a_move_that_does_not_help_is_not_made() -> None:
    """Traffic saved elsewhere does not pay for a move that leaves the overload as it is."""
    seen = world(1000, bandwidth=21_000)
    assert judge(seen, Sliding(("pair",), "a", "desk", Direction.DOWN), ("sensor", "a"), LIMITS) is None


@given(SEED)
def test_no_site_is_overloaded_by_a_move(seed: int) -> None:
    survey = random_world(Random(seed))
    for site in survey.sites:
        for _, place in troubles(survey, site, LIMITS.high):
            for each in ranked(survey, site, place, LIMITS):
                grown = [s for s in survey.sites if each.after.loads[s] > survey.loads[s] + 1e-9]
                assert all(each.after.loads[s] <= LIMITS.low for s in grown if s != site)
                wider = [x for x in survey.lines if each.after.uses[x] > survey.uses[x] + 1e-9]
                assert all(each.after.uses[x] <= LIMITS.low for x in wider)
                assert each.after.is_possible


@given(SEED)
def test_a_slide_changes_no_flow_and_a_split_keeps_them(seed: int) -> None:
    survey = random_world(Random(seed))
    for site in survey.sites:
        moves = [*slides(survey, site), *splits(survey, site, replace(LIMITS, low=0.5))]
        for move in moves:
            after = move.apply(survey)
            for name, output in survey.network.outputs.items():
                there = after.network.outputs[name].source
                assert after.flows[there] == pytest.approx(survey.flows[output.source])


# --- predicates


@given(st.floats(0.02, 0.98), st.booleans())
def test_remainders_keep_what_they_say(kept: float, nullable: bool) -> None:
    found = by_remainder(parse_schema("k int" + ("" if nullable else " not null"))["k"], kept)
    assert found.kept == pytest.approx(kept, abs=1 / 64)
    assert part_of(found.keeps, [{"k": k} for k in range(-64, 64)], "k int") == pytest.approx(found.kept)


@given(st.dictionaries(st.integers(-50, 50), st.integers(1, 9), min_size=2, max_size=40), st.floats(0.1, 0.9))
def test_counted_values_keep_what_they_say(counts: dict[int, float], kept: float) -> None:
    found = by_values(parse_schema("k int")["k"], counts, kept)
    assert found is not None
    rows = [{"k": value} for value, count in counts.items() for _ in range(int(count))]
    assert part_of(found.keeps, rows, "k int") == pytest.approx(found.kept)
    assert 0 < found.kept < 1


def part_of(keeps: str, rows: list[dict[str, int]], schema: str) -> float:
    """The part of some rows that satisfies a predicate."""
    net = NetworkBuilder("n")
    net.input("s", schema).filter(keeps).output("o")
    emitted = ReferenceRun(net.build()).push_batch("s", [(row, 0) for row in rows], 0)
    return len(emitted) / len(rows)


def test_texts_are_told_apart_by_what_was_counted() -> None:
    many = {f"city{number:02}": 1.0 for number in range(40)}
    found = by_values(parse_schema("city string not null")["city"], many, 0.25)
    assert found is not None
    assert (found.keeps, found.kept) == ("city < 'city10'", 0.25)
    assert by_values(parse_schema("city string")["city"], {"one": 5.0}, 0.5) is None


def test_a_predicate_is_about_groups_where_there_are_some() -> None:
    seen = world(1000)
    found = portion(seen, "count", 0.5)
    assert found is not None
    assert found.keeps == "pmod(sid, 64) < 32"
    counted = replace(
        seen, values={"count": Values("sid", {1: 3.0, 2: 1.0}), "thin": Values("v", {5: 1.0, 6: 1.0})}
    )
    by_sid, by_v = portion(counted, "count", 0.75), portion(counted, "thin", 0.5)
    assert by_sid is not None
    assert by_v is not None
    assert (by_sid.keeps, by_sid.kept) == ("NOT sid IN (2)", 0.75)
    assert by_v.keeps == "v IS NULL OR NOT v IN (5)"
