"""The daemon of a site: what it offers and takes when, by what neighbours tell, and what it does not do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.policy.place.sites import MANNERS, NARROW, AtSite, S, at, giving, kept, offered, without_reports
from tests.policy.place.worlds import world

from australis.errors import PolicyError
from australis.policy.machines import Say, Started
from australis.policy.place import messages as m
from australis.policy.place.daemon import Daemon
from australis.policy.place.manners import Manners
from australis.policy.place.moves import Limits
from australis.policy.place.survey import Survey
from australis.sim.place.ground import Ground
from australis.sim.place.pieces import measured_at, runs_at

THIN_UP = m.Slide((1, 1), ("thin",), "sensor", "upstream", ("s",), ("thin",))
WIDE = world(900, bandwidth=21_000)


# --- what it knows


def test_it_knows_its_own_boxes_and_what_neighbours_tell_and_nothing_else() -> None:
    here = AtSite(at(world(1000), pair="b"))
    survey = here.machine.chart.survey(frozenset({"b", "desk", "sensor"}))
    assert set(survey.network.boxes) == {"thin", "count"}
    assert survey.loads == pytest.approx({"a": 0.14, "b": 0.01, "desk": 0.0, "sensor": 0.0})
    here.look(20, b={"work": 0.6}, sensor={"sends": {"s": 2000.0}, "used": {"a": 40_000.0}})
    survey = here.machine.chart.survey(frozenset({"b", "desk", "sensor"}))
    assert survey.loads == pytest.approx({"a": 0.28, "b": 0.6, "desk": 0.0, "sensor": 0.0})
    assert survey.uses["sensor", "a"] == pytest.approx(0.04), "what the sensor told is not counted twice"


def test_it_reports_what_is_asked_of_it_and_what_is_sent_and_read() -> None:
    here = AtSite(at(world(1000), pair="b"))
    seen = replace(here.survey, other_work={"a": 0.2}, other_bytes={("a", "b"): 5.0})
    reports = here.handle(measured_at(seen, "a", here.machine.chart.runs), S)
    to_b, to_desk, to_sensor = (each.message for each in reports)
    assert to_b.work == pytest.approx(0.14 + 0.2)
    assert to_b.used["b"] == pytest.approx(100 * 20 + 5)
    assert (to_b.sends, to_desk.sends) == ({"thin": 100.0}, {"count": 10.0})
    assert to_sensor.reads == {"s": "count"}, "a count depends on the order of what comes"
    assert to_b.at < to_desk.at < to_sensor.at


def test_a_neighbour_that_was_not_heard_of_for_long_is_offered_nothing() -> None:
    for now, count in ((30, 1), (31, 0)):
        here = AtSite(NARROW)
        measured = measured_at(NARROW, "a", here.machine.chart.runs)
        assert len(without_reports(here.handle(measured, now * S))) == count


def test_a_stream_whose_readers_are_unknown_is_not_reordered() -> None:
    """A Filter may be split only if what reads it elsewhere does not depend on its order."""
    thick = replace(world(12_000), states={})
    alone = at(thick, count="b", pair="b")
    splits = replace(MANNERS, limits=Limits())
    for reads, form in (("", m.Form.SPLIT), ("count", None)):
        here = AtSite(alone, manners=splits)
        told: dict[str, Any] = {"b": {"reads": {"thin": reads}, "work": 0.0}, "desk": {"kinds": ()}}
        told["sensor"] = told["desk"]
        assert here.look(0, **told) == []
        found = here.look(10, **told)
        assert [each.message.form for each in found] == ([form] if form else [])


# --- giving


def test_a_trouble_has_to_last() -> None:
    here = AtSite(NARROW)
    assert here.look(0) == []
    assert here.look(5, WIDE) == [], "it is gone, and its time starts again"
    assert [here.look(now, NARROW) for now in (8, 17)] == [[], []]
    (said,) = here.look(18)
    assert (said.to, said.message.boxes, said.message.form) == ("sensor", ("thin",), m.Form.SLIDE)
    assert said.message.work == pytest.approx(0.1)
    assert said.message.goes == {"a": pytest.approx(2000.0)}


def test_a_site_that_is_well_says_nothing() -> None:
    here = AtSite(NARROW, "b")
    assert [here.look(now) for now in (0, 100, 200)] == [[], [], []]


def test_an_offer_that_is_taken_begins_with_the_streams_held() -> None:
    here = AtSite(NARROW)
    assert giving(here) == THIN_UP
    assert here.hear("sensor", m.Accepted((1, 1)), 11 * S) == []
    assert here.refused == {"late": 1}, "said twice"
    assert here.look(200) == [], "one move at a time, however long it takes"


def test_an_offer_is_said_again_until_it_is_answered_or_given_up() -> None:
    here = AtSite(NARROW)
    offer = offered(here)
    assert here.look(15) == [Say("sensor", offer)]
    assert here.look(71) == [], "the sensor does not answer"
    assert here.look(80) == [], "and is left alone for a while"
    (again,) = here.look(82)
    assert again.message.serial == (1, 2)
    assert here.hear("sensor", m.Accepted((1, 1)), 83 * S) == []
    assert here.refused == {"late": 1}


def test_a_site_that_declines_is_not_asked_again_at_once() -> None:
    here = AtSite(NARROW)
    offer = offered(here)
    assert here.hear("sensor", m.Rejected(offer.serial, "has no room"), 11 * S) == []
    assert here.look(15) == []
    (again,) = here.look(22)
    assert again.message.serial == (1, 2)


def test_what_has_changed_since_the_offer_is_not_begun() -> None:
    here = AtSite(NARROW)
    offer = offered(here)
    here.handle(runs_at(at(NARROW, thin="b"), "a", {}), 11 * S)
    assert here.hear("sensor", m.Accepted(offer.serial), 12 * S) == []
    assert here.machine.giver.open is None


def test_a_restart_says_again_what_is_open() -> None:
    here = AtSite(NARROW)
    offer = offered(here)
    for expected in (Say("sensor", offer), THIN_UP):
        again = Daemon("a", NARROW.sites["a"], MANNERS, incarnation=2)
        again.restore(here.snapshot())
        hosted = AtSite.__new__(AtSite)
        super(AtSite, hosted).__init__(again)
        assert hosted.handle(Started()) == [expected]
        here.hear("sensor", m.Accepted(offer.serial), 11 * S)


def test_a_life_that_has_forgotten_uses_no_serial_again() -> None:
    here = AtSite(NARROW)
    forgotten = here.snapshot()
    offered(here)
    here.machine = Daemon("a", NARROW.sites["a"], MANNERS, incarnation=2)
    here.machine.restore(forgotten)
    (said,) = here.look(20)
    assert said.message.serial == (2, 1)


# --- hysteresis


def test_a_site_that_has_moved_something_rests() -> None:
    for succeeded in (True, False):
        here = AtSite(NARROW)
        giving(here)
        assert without_reports(here.handle(m.Done((1, 1), succeeded), 12 * S)) == []
        assert here.look(31) == []
        (said,) = here.look(32)
        assert said.message.serial == (1, 2)


def test_a_box_that_has_come_rests() -> None:
    without_thin = at(NARROW, thin="sensor")
    here = AtSite(without_thin)
    here.become(NARROW, now=0)
    assert [here.look(now) for now in (0, 29)] == [[], []]
    assert len(here.look(31)) == 1


def arrived(manners: Manners = MANNERS) -> AtSite:
    """The daemon of b, to which `count` has come from a."""
    before = overloaded(1000)
    here = AtSite(at(before, count="a"), "b", manners)
    here.hear("a", m.Offer((1, 1), m.Form.SLIDE, ("count",), ("aggregate",), 0.04, {"a": 1.0}, {}))
    here.become(before, now=0, a={"giving": (1, 1), "last": (1, 1)})
    here.look(1, a={"gave": (1, 1), "last": (1, 1)})
    assert here.machine.giver.came == {"count": ("a", 0)}
    return here


def overloaded(rate: float) -> Survey:
    """`count` is alone at b; the sensor runs nothing, and the desk has no room."""
    seen = world(rate, sites={"thin": "a", "count": "b", "pair": "a"})
    sites = {**seen.sites, "desk": replace(seen.sites["desk"], capacity=1e-6)}
    return replace(seen, sites={**sites, "a": replace(seen.sites["a"], capacity=10.0)})


def test_a_box_does_not_go_back_for_little() -> None:
    """At 0.92 it would relieve b of all, but just 0.22 is needed; at 1.2 it is worth it."""
    slight, great = overloaded(23_000), overloaded(30_000)
    assert slight.loads["b"] == pytest.approx(0.92)
    here = arrived()
    assert [here.look(now, slight) for now in (100, 110, 120)] == [[], [], []]
    (said,) = here.look(130, great)
    assert (said.to, said.message.boxes) == ("a", ("count",))
    hasty = arrived(replace(MANNERS, back_gain=0.0))
    assert hasty.look(100, slight) == []
    assert len(hasty.look(110, slight)) == 1


def test_what_came_long_ago_is_at_home() -> None:
    here = arrived()
    assert here.look(890, overloaded(23_000)) == []
    assert len(here.look(901, overloaded(23_000))) == 1


@pytest.mark.parametrize(
    ("make", "what"),
    [(lambda: Manners(Limits(high=0.5, low=0.8)), "marks"), (lambda: Manners(merged=0.9), "merged")],
)
def test_marks_in_the_wrong_order_are_refused(make: Any, what: str) -> None:
    with pytest.raises(PolicyError, match=what):
        make()


# --- taking


COUNT = m.Offer((1, 1), m.Form.SLIDE, ("count",), ("aggregate",), 0.3, {"a": 2000.0}, {"desk": 240.0})


def asked(here: AtSite, giver: str, offer: m.Offer, now: int = 0) -> list[Any]:
    return here.hear(giver, offer, now * S)


def test_a_site_takes_what_it_has_room_for_and_its_host_expects_it() -> None:
    here = AtSite(world(8000), "b")
    expect = m.Expect("a", (1, 1), m.Form.SLIDE, ("count",))
    assert asked(here, "a", COUNT) == [expect, Say("a", m.Accepted((1, 1)))]
    assert asked(here, "a", COUNT, 1) == [Say("a", m.Accepted((1, 1)))], "the answer may have been lost"
    full = AtSite(world(8000, sites={"count": "b"}), "b")
    thin = replace_offer(COUNT, boxes=("thin",), work=0.5)
    assert asked(full, "a", thin) == [Say("a", m.Rejected((1, 1), "has no room"))]


def replace_offer(offer: m.Offer, **changes: Any) -> m.Offer:
    return msgspec.structs.replace(offer, **changes)


def test_room_that_was_promised_is_kept_until_the_giver_tells_that_it_is_over() -> None:
    here = AtSite(world(1000), "b")
    assert len(asked(here, "a", COUNT)) == 2
    other = replace_offer(COUNT, boxes=("pair",), work=0.5)
    assert asked(here, "desk", other) == [Say("desk", m.Rejected((1, 1), "has no room"))]
    assert here.look(5, a={"giving": (1, 1), "last": (1, 1)}) == []
    (said,) = asked(here, "desk", replace_offer(other, serial=(1, 2)), 6)
    assert said.message == m.Rejected((1, 2), "has no room")
    over = here.hear("a", here.report("a", last=(1, 1)), 7 * S)
    assert over == [m.Dismiss("a", (1, 1))]
    assert len(asked(here, "desk", replace_offer(other, serial=(1, 3)), 8)) == 2


def test_a_report_from_before_the_offer_ends_no_promise() -> None:
    here = AtSite(world(1000), "b")
    asked(here, "a", COUNT)
    assert here.hear("a", here.report("a", last=(1, 0)), S) == []
    assert here.machine.taker.promised == pytest.approx(0.3)


def test_what_is_promised_is_reported_as_work() -> None:
    here = AtSite(world(1000), "b")
    asked(here, "a", COUNT)
    reports = here.handle(measured_at(here.survey, "b", here.machine.chart.runs), S)
    assert {each.message.work for each in reports} == {0.3}


def test_a_promise_to_a_giver_that_is_silent_or_gone_is_given_up() -> None:
    here = AtSite(world(1000), "b")
    asked(here, "a", COUNT)
    measured = measured_at(here.survey, "b", here.machine.chart.runs)
    assert without_reports(here.handle(measured, 60 * S)) == []
    assert without_reports(here.handle(measured, 61 * S)) == [m.Dismiss("a", (1, 1))]
    asked(here, "a", replace_offer(COUNT, serial=(1, 2)), 62)
    assert here.handle(m.Gone("a"), 63 * S) == [m.Dismiss("a", (1, 2))]


def test_a_second_offer_of_a_site_takes_the_place_of_its_first() -> None:
    here = AtSite(world(1000), "b")
    asked(here, "a", replace_offer(COUNT, work=0.6))
    said = asked(here, "a", replace_offer(COUNT, serial=(1, 2), work=0.6), 1)
    assert said[0] == m.Dismiss("a", (1, 1))
    assert said[-1] == Say("a", m.Accepted((1, 2)))
    assert asked(here, "a", COUNT, 2) == []
    assert here.refused == {"late": 1}


def test_a_site_that_gives_takes_nothing() -> None:
    here = AtSite(NARROW)
    offered(here)
    (said,) = asked(here, "b", replace_offer(COUNT, comes={}, goes={}), 10)
    assert said == Say("b", m.Rejected((1, 1), "gives something away itself"))


def test_of_two_that_offer_to_each_other_the_second_by_name_takes() -> None:
    here = AtSite(NARROW, "a")
    offered(here)
    small = replace_offer(COUNT, boxes=("x",), kinds=("filter",), comes={}, goes={})
    assert asked(here, "sensor", small, 10)[0].message == m.Rejected((1, 1), "gives something away itself")
    there = AtSite(NARROW, "b")
    there.machine.giver.open = here.machine.giver.open
    there.machine.giver.open.to = "a"
    assert asked(there, "a", COUNT, 10)[-1] == Say("a", m.Accepted((1, 1)))
    assert there.machine.giver.open is None


def test_a_site_that_is_about_to_take_gives_nothing() -> None:
    here = AtSite(NARROW)
    asked(here, "b", replace_offer(COUNT, boxes=("x",), comes={}, goes={}))
    giving_it: dict[str, Any] = {"giving": (1, 1), "last": (1, 1)}
    assert [here.look(now, b=giving_it) for now in (1, 20)] == [[], []]
    (said,) = here.look(22, b={"gave": (1, 1), "last": (1, 1)})
    assert said.to == "sensor"


@pytest.mark.parametrize(
    ("site", "offer", "why"),
    [
        ("sensor", COUNT, "it cannot run here"),
        ("b", replace_offer(COUNT, comes={"nowhere": 1.0}), "has no link that is wide enough"),
        ("b", replace_offer(COUNT, goes={"desk": 0.8e6}), "has no link that is wide enough"),
        ("b", replace_offer(COUNT, form=m.Form.UNSPLIT), "it is not the last copy of a box here"),
        ("desk", replace_offer(COUNT, work=0.36, comes={}, goes={}), "has no room"),
    ],
)
def test_what_cannot_be_is_declined(site: str, offer: m.Offer, why: str) -> None:
    here = AtSite(world(1000), site)
    assert asked(here, "a", offer) == [Say("a", m.Rejected((1, 1), why))]


def test_a_box_that_is_here_is_not_taken_again() -> None:
    here = AtSite(world(1000, sites={"count": "b"}), "b")
    assert asked(here, "a", COUNT) == [Say("a", m.Rejected((1, 1), "it is here already"))]


# --- splits, and back


def halved(rate: float) -> tuple[Ground, AtSite]:
    """`count` is split, with its copy at b."""
    ground = Ground(world(rate), Limits().assumed)
    split = ground.move("a", m.Split((1, 1), "count", "b", "pmod(sid, 64) < 32", 0.5, "a", (), ()))
    assert split is not None
    ground.done(split)
    here = AtSite(world(rate), "b", MANNERS)
    here.survey = ground.survey
    here.handle(runs_at(ground.survey, "b", ground.splits))
    return ground, here


def test_a_copy_goes_home_when_there_has_long_been_room() -> None:
    _, here = halved(1000)
    assert [here.look(now) for now in (0, 99)] == [[], []]
    (said,) = here.look(100)
    assert (said.to, said.message.form, said.message.boxes) == ("a", m.Form.UNSPLIT, ("count_copy",))
    (command,) = here.hear("a", m.Accepted((1, 1)), 101 * S)
    assert isinstance(command, m.Unsplit)
    assert (command.copy, command.box, command.to) == ("count_copy", "count", "a")


def test_a_copy_stays_where_home_had_no_room_for_a_while() -> None:
    _, here = halved(1000)
    assert here.look(0) == []
    assert here.look(50, a={"work": 0.49}) == []
    assert [here.look(now) for now in (60, 110, 159)] == [[], [], []]
    assert len(here.look(160)) == 1


def test_home_takes_back_only_its_last_copy() -> None:
    ground, _ = halved(1000)
    here = AtSite(world(1000))
    here.survey = ground.survey
    here.handle(runs_at(ground.survey, "a", ground.splits))
    back = m.Offer((1, 1), m.Form.UNSPLIT, ("count_copy",), ("aggregate",), 0.02, {}, {})
    assert len(asked(here, "b", back)) == 2
    other = replace_offer(back, serial=(1, 2), boxes=("count",))
    assert asked(here, "b", other)[-1].message.why == "it is not the last copy of a box here"


def test_boxes_in_two_do_not_slide() -> None:
    ground, _ = halved(12_000)
    here = AtSite(world(12_000))
    here.survey = ground.survey
    here.handle(runs_at(ground.survey, "a", ground.splits))
    here.look(0)
    (said,) = here.look(10)
    assert not {"count", "count_route", "count_merge"} & set(said.message.boxes)


# --- what makes no sense


def test_what_the_host_says_is_checked_too() -> None:
    here = AtSite(NARROW)
    before = kept(here)
    odd = [
        m.Runs("no network", {}, {}),
        m.Runs("", {"s": m.End("s", "a")}, {}),
        m.Runs(here.machine.chart.runs.network, {}, {}),
        m.Measured({}, {}, {"a": m.Link(1.0)}),
        m.Done((1, 7)),
    ]
    assert [here.handle(event) for event in odd] == [[]] * len(odd)
    assert here.refused == {"network": 3, "link": 1, "late": 1}
    assert kept(here) == before


def test_a_site_that_runs_nothing_still_reports_and_takes() -> None:
    here = AtSite(world(1000), "b")
    here.handle(m.Runs("", {}, {}))
    reports = here.handle(measured_at(here.survey, "b", m.Runs("", {}, {})), S)
    assert {each.message.work for each in reports} == {0.0}
    assert len(asked(here, "a", COUNT)) == 2
