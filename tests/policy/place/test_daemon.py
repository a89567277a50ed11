"""The daemon of a site: what it offers and answers when, and what it does not do."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.place.worlds import random_world, world

from australis.errors import PolicyError
from australis.policy.place.daemon import HASTY, Daemon, Manners
from australis.policy.place.messages import (
    Answer,
    Answered,
    Begin,
    Command,
    Done,
    Event,
    Looked,
    Offer,
    Offered,
)
from australis.policy.place.moves import Limits, Move, Splitting, splits
from australis.policy.place.slide import Direction, Sliding
from australis.policy.place.survey import Survey

MANNERS = Manners(
    Limits(splits=False), persists_s=10, settle_s=20, rest_s=30, back_gain=0.25, remembered_s=900
)
THIN_UP = Sliding(("thin",), "a", "sensor", Direction.UP)
NARROW = world(1000, bandwidth=21_000)


def offers(daemon: Daemon, now: float, survey: Survey) -> list[Command]:
    return list(daemon.handle(Looked(now, survey)))


# --- giving


def test_a_trouble_has_to_last() -> None:
    daemon = Daemon("a", MANNERS)
    assert offers(daemon, 0, NARROW) == []
    assert offers(daemon, 5, world(900, bandwidth=21_000)) == [], "it is gone, and its time starts again"
    assert offers(daemon, 8, NARROW) == []
    assert offers(daemon, 17, NARROW) == []
    assert offers(daemon, 18, NARROW) == [Offer("sensor", 1, THIN_UP)]


def test_a_site_that_is_well_says_nothing() -> None:
    daemon = Daemon("b", MANNERS)
    assert [offers(daemon, now, NARROW) for now in (0, 100, 200)] == [[], [], []]


def test_an_offer_that_is_taken_begins_with_the_streams_held() -> None:
    daemon = offered("a")
    (begun,) = daemon.handle(Answered(11, "sensor", 1, accepted=True))
    assert isinstance(begun, Begin)
    assert begun.move == THIN_UP
    assert [str(ref) for ref in begun.stop.held] == ["s"]
    assert daemon.handle(Answered(11, "sensor", 1, accepted=True)) == [], "said twice"
    assert offers(daemon, 200, NARROW) == [], "one move at a time, however long it takes"


def test_an_offer_that_is_refused_is_made_again_and_an_old_answer_counts_for_nothing() -> None:
    daemon = offered("a")
    assert daemon.handle(Answered(11, "sensor", 1, accepted=False)) == []
    assert offers(daemon, 15, NARROW) == [Offer("sensor", 2, THIN_UP)]
    assert daemon.handle(Answered(16, "sensor", 1, accepted=True)) == []


def test_an_offer_without_an_answer_is_given_up() -> None:
    daemon = offered("a")
    assert offers(daemon, 69, NARROW) == []
    assert offers(daemon, 71, NARROW) == [Offer("sensor", 2, THIN_UP)]


def offered(site: str) -> Daemon:
    """A daemon that has just made its first offer, at 10."""
    daemon = Daemon(site, MANNERS)
    assert offers(daemon, 0, NARROW) == []
    assert offers(daemon, 10, NARROW) == [Offer("sensor", 1, THIN_UP)]
    return daemon


# --- hysteresis


def test_a_site_that_has_moved_something_rests() -> None:
    daemon = offered("a")
    daemon.handle(Answered(10, "sensor", 1, accepted=True))
    assert daemon.handle(Done(12, THIN_UP)) == []
    assert offers(daemon, 31, NARROW) == [], "the site rests"
    assert offers(daemon, 41, NARROW) == [], "the box does, if it is there again"
    assert offers(daemon, 42, NARROW) == [Offer("sensor", 2, THIN_UP)]


def test_a_move_that_failed_leaves_a_site_to_rest_too() -> None:
    daemon = offered("a")
    daemon.handle(Answered(10, "sensor", 1, accepted=True))
    daemon.handle(Done(12, THIN_UP, succeeded=False))
    assert offers(daemon, 31, NARROW) == []
    assert offers(daemon, 32, NARROW) == [Offer("sensor", 2, THIN_UP)]


def arrived(now: float, manners: Manners = MANNERS) -> Daemon:
    """The daemon of b, to which `count` has come from a."""
    daemon = Daemon("b", manners)
    daemon.handle(Done(now, Sliding(("count",), "a", "b", Direction.ASIDE)))
    return daemon


def overloaded(rate: float) -> Survey:
    """`count` is alone at b; the sensor runs `thin`, and the desk has no room."""
    seen = world(rate, sites={"thin": "a", "count": "b", "pair": "a"})
    return replace(seen, sites={**seen.sites, "desk": replace(seen.sites["desk"], capacity=1e-6)})


def test_a_box_does_not_go_back_for_little() -> None:
    """At 0.92 it would relieve b of all, but just 0.22 is needed; at 1.2 it is worth it."""
    slight, great = overloaded(23_000), overloaded(30_000)
    assert slight.loads["b"] == pytest.approx(0.92)
    free = replace(slight, sites={**slight.sites, "a": replace(slight.sites["a"], capacity=10.0)})
    daemon = arrived(0.0)
    assert all(offers(daemon, now, free) == [] for now in (100, 110, 120))
    worse = replace(free, rates=great.rates)
    assert offers(daemon, 130, worse) == [Offer("a", 1, Sliding(("count",), "b", "a", Direction.UP))]
    hasty = arrived(0.0, replace(MANNERS, back_gain=0.0))
    assert offers(hasty, 100, free) == []
    assert len(offers(hasty, 110, free)) == 1


def test_what_came_long_ago_is_at_home() -> None:
    slight = overloaded(23_000)
    free = replace(slight, sites={**slight.sites, "a": replace(slight.sites["a"], capacity=10.0)})
    daemon = arrived(0.0)
    assert offers(daemon, 890, free) == []
    assert len(offers(daemon, 900, free)) == 1


def test_marks_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(PolicyError, match="marks"):
        Manners(Limits(high=0.5, low=0.8))


# --- taking


def asked(now: float, sender: str, move: Move, survey: Survey, serial: int = 1) -> Offered:
    return Offered(now, sender, serial, move, survey)


def test_a_site_takes_what_it_has_room_for() -> None:
    seen = world(8000)
    move = Sliding(("count",), "a", "b", Direction.ASIDE)
    assert Daemon("b", MANNERS).handle(asked(0, "a", move, seen)) == [Answer("a", 1, accepted=True)]
    full = world(8000, sites={"count": "b", "pair": "b"})
    (said,) = Daemon("b", MANNERS).handle(asked(0, "a", Sliding(("thin",), "a", "b", Direction.ASIDE), full))
    assert said == Answer("a", 1, accepted=False, why="has no room")


def test_room_that_was_promised_is_kept_until_the_move_is_over() -> None:
    """Two sites that offer at once do not fill one beyond what it can do."""
    seen = world(9000, sites={"pair": "desk"})
    first, second = (
        Sliding(("count",), "a", "b", Direction.ASIDE),
        Sliding(("pair",), "desk", "b", Direction.UP),
    )
    tight = Manners(Limits(low=0.4, splits=False))
    daemon = Daemon("b", tight)
    assert daemon.handle(asked(0, "a", first, seen)) == [Answer("a", 1, accepted=True)]
    (said,) = daemon.handle(asked(1, "desk", second, seen))
    assert said == Answer("desk", 1, accepted=False, why="has no room")
    daemon.handle(Done(2, first, succeeded=False))
    assert daemon.handle(asked(3, "desk", second, seen, 2)) == [Answer("desk", 2, accepted=True)]
    later = daemon.handle(asked(100, "a", first, seen, 2))
    assert later == [Answer("a", 2, accepted=True)], "the promise to the desk is too old"


def test_a_second_offer_of_a_site_takes_the_place_of_its_first() -> None:
    move = Sliding(("count",), "a", "b", Direction.ASIDE)
    daemon = Daemon("b", Manners(Limits(low=0.4, splits=False)))
    for serial in (1, 2):
        said = daemon.handle(asked(serial, "a", move, world(9000), serial))
        assert said == [Answer("a", serial, accepted=True)]


def test_a_site_that_gives_takes_nothing() -> None:
    daemon = offered("a")
    (said,) = daemon.handle(
        asked(10, "b", Sliding(("count",), "b", "a", Direction.UP), world(1000, sites={"count": "b"}))
    )
    assert said == Answer("b", 1, accepted=False, why="gives something away itself")


def test_a_site_that_is_about_to_take_gives_nothing() -> None:
    daemon = Daemon("a", MANNERS)
    there = world(1000, sites={"count": "b"})
    move = Sliding(("count",), "b", "a", Direction.UP)
    assert daemon.handle(asked(0, "b", move, there)) == [Answer("b", 1, accepted=True)]
    assert [offers(daemon, now, NARROW) for now in (1, 20)] == [[], []]
    daemon.handle(Done(21, move))
    assert offers(daemon, 22, NARROW) == [Offer("sensor", 1, THIN_UP)]


def test_boxes_that_are_gone_or_cannot_be_run_are_refused() -> None:
    gone = Daemon("b", MANNERS).handle(
        asked(0, "desk", Sliding(("count",), "desk", "b", Direction.UP), NARROW)
    )
    assert gone == [Answer("desk", 1, accepted=False, why="the boxes have moved or changed")]
    weak = Daemon("sensor", MANNERS).handle(
        asked(0, "a", Sliding(("count",), "a", "sensor", Direction.UP), NARROW)
    )
    assert weak == [Answer("a", 1, accepted=False, why="it cannot run here")]


def test_a_split_that_is_done_already_is_refused() -> None:
    seen = world(10_000)
    move = next(each for each in splits(seen, "a", Limits()) if each.target == "b")
    assert Daemon("b").handle(asked(0, "a", move, seen)) == [Answer("a", 1, accepted=True)]
    late = Daemon("b").handle(asked(0, "a", move, move.apply(seen)))
    assert late == [Answer("a", 1, accepted=False, why="the boxes have moved or changed")]


# --- all together


def settled(survey: Survey, manners: Manners, until: float) -> tuple[list[tuple[float, Move]], Survey]:
    """All daemons of a world that does not change: their moves, and the final placement."""
    daemons = {site: Daemon(site, manners) for site in survey.sites}
    moves: list[tuple[float, Move]] = []
    now = 0.0
    while now < until:
        for site in daemons:
            survey = _told(daemons, site, Looked(now, survey), survey, moves)
        now += 10
    return moves, survey


def _told(
    daemons: dict[str, Daemon], site: str, event: Event, survey: Survey, moves: list[tuple[float, Move]]
) -> Survey:
    for command in daemons[site].handle(event):
        match command:
            case Offer(target, serial, move):
                survey = _told(daemons, target, asked(event.now, site, move, survey, serial), survey, moves)
            case Answer(target, serial, accepted):
                answer = Answered(event.now, site, serial, accepted)
                survey = _told(daemons, target, answer, survey, moves)
            case Begin(move):
                moves.append((event.now, move))
                survey = move.apply(survey)
                for each in (move.source, move.target):
                    survey = _told(daemons, each, Done(event.now, move), survey, moves)
    return survey


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_under_constant_load_moves_cease(seed: int) -> None:
    """No box goes to and fro, and no site becomes overloaded."""
    survey = random_world(Random(seed))
    moves, after = settled(survey, Manners(), until=250)
    assert all(now < 200 for now, _ in moves)
    seen = [(move.boxes, move.source) for _, move in moves if isinstance(move, Sliding)]
    assert len(seen) == len(set(seen)), "no box leaves a site twice"
    for site, load in after.loads.items():
        assert load <= max(0.7, survey.loads[site]) + 1e-9


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_the_same_events_have_the_same_moves(seed: int) -> None:
    survey = random_world(Random(seed))
    assert settled(survey, HASTY, 40)[0] == settled(survey, HASTY, 40)[0]


def test_a_chain_that_is_too_much_for_one_spreads() -> None:
    moves, after = settled(world(11_000), Manners(), until=600)
    assert moves
    assert max(after.loads.values()) <= 0.9
    assert any(isinstance(move, (Sliding, Splitting)) for _, move in moves)
