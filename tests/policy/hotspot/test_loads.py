"""Loads are reported when they matter, to the responsible peers, and compared by both criteria."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policy.machines.hosting import Heard, Hosted

from australis.errors import PolicyError
from australis.policy.hotspot.directory import Directory
from australis.policy.hotspot.levels import Criteria, Levels, Loads
from australis.policy.hotspot.messages import (
    Decision,
    Failed,
    LoadUpdate,
    Look,
    Measured,
    Members,
    Offers,
    Unregister,
)
from australis.policy.hotspot.peer import Manners, Peer
from australis.policy.hotspot.ring import SPACE, Ring, key
from australis.policy.machines import Say as Send

names = st.lists(st.text("abcdefgh", min_size=1, max_size=5), min_size=2, max_size=12, unique=True)
ALONE = Ring(["me"])


def steady(load: float) -> Loads:
    return Loads(load, load, load)


# --- levels


@given(st.integers(2, 12), st.floats(0, 0.8), st.lists(st.floats(0, 50), min_size=1))
def test_a_level_holds_its_load(count: int, overlap: float, loads: list[float]) -> None:
    levels = Levels(count, overlap)
    level = levels.of(loads[0])
    for load in loads:
        level = levels.next(level, load)
        assert level * levels.width - overlap <= load
        assert level == count - 1 or load < (level + 1) * levels.width
        assert load < 10 or level == count - 1


def test_a_load_that_trembles_around_a_border_stays_in_its_level() -> None:
    levels = Levels(5, 0.2)
    seen, level = [], 0
    for load in (2.4, 2.51, 2.4, 2.31, 2.51, 2.29, 2.4):
        level = levels.next(level, load)
        seen.append(level)
    assert seen == [0, 1, 1, 1, 1, 0, 0]
    assert Levels(5, 0.5).next(1, 2.0) == 1, "its lower end belongs to a level"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Levels(1), "levels.count: is 1; expected 2 or more"),
        (lambda: Levels(5, 3.0), "levels.overlap: is 3; expected 0 or more, and below 2.5"),
        (lambda: Criteria(minutes=2), "criteria.minutes: is 2; expected one of (1, 5, 15)"),
        (lambda: Ring([]), "ring: has no peers; expected at least one"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value) == message


# --- responsibility


@given(names, st.text("xyz", max_size=8))
def test_only_keys_of_a_peer_that_goes_change_hands(peers: list[str], operator: str) -> None:
    ring = Ring(peers)
    owner = ring.responsible(operator)
    assert owner in peers
    for gone in peers:
        now = ring.without(gone).responsible(operator)
        assert now == owner if gone != owner else now != owner
        assert ring.without(gone).with_peer(gone).responsible(operator) == owner


def test_a_key_belongs_to_the_closest_peer_around_the_ring() -> None:
    peers = ("ann", "bob", "cid")
    ring = Ring(peers)
    for operator in (f"operator{number}" for number in range(100)):
        ahead = {peer: (key(peer) - key(operator)) % SPACE for peer in peers}
        away = {peer: min(distance, SPACE - distance) for peer, distance in ahead.items()}
        assert away[ring.responsible(operator)] == min(away.values())


def test_peers_share_operators() -> None:
    ring = Ring(f"peer{number}" for number in range(30))
    owners = {ring.responsible(f"operator{number}") for number in range(1000)}
    assert len(owners) > 25


def test_a_newly_responsible_peer_is_told_at_once() -> None:
    peer = Hosted(Peer("me", ("filter",), ["me", "ann", "bob", "cid"]))
    assert peer.handle(Members(("me", "ann"))) == [], "nothing is known to tell"
    [told] = peer.handle(Measured(steady(1)), 60)
    there = {"me", "ann", "bob", "cid"} - {told.to}  # type: ignore[union-attr]
    [again] = peer.handle(Members(tuple(sorted(there))))
    assert again == Send(Ring(there).responsible("filter"), LoadUpdate(("filter",), steady(1), 60))
    assert peer.handle(Members(tuple(sorted(there)))) == [], "it knows"


def test_operators_that_come_and_go_are_told() -> None:
    peer = Hosted(Peer("me", ("filter",), ["me"]))
    peer.handle(Measured(steady(1)), 60)
    assert peer.handle(Offers(("map",))) == [
        Send("me", LoadUpdate(("map",), steady(1), 60)),
        Send("me", Unregister(("filter",))),
    ]
    assert peer.handle(Measured(steady(9)), 120) == [Send("me", LoadUpdate(("map",), steady(9), 120))]
    peer.handle(Heard("me", LoadUpdate(("filter",), steady(1), 60)))
    peer.handle(Heard("me", Unregister(("filter",))))
    assert peer.directory.offering("filter") == {}


# --- updates


def test_a_load_is_reported_when_its_level_changes_and_now_and_then() -> None:
    peer = Hosted(Peer("me", ("filter", "map"), ["me"], Manners(remind_us=300)))
    loads = {0: 1.0, 60: 2.4, 120: 2.6, 180: 2.4, 240: 9.0, 300: 9.0, 540: 9.0}
    told = {now: peer.handle(Measured(steady(load)), now) for now, load in loads.items()}
    assert [now for now, commands in told.items() if commands] == [0, 120, 240, 540]
    assert told[120] == [Send("me", LoadUpdate(("filter", "map"), steady(2.6), 120))]


# --- hot spots


def looked(criteria: Criteria = Criteria(), **loads: Loads) -> list[object]:  # noqa: B008
    directory = Directory("me", criteria)
    for peer, load in loads.items():
        directory.updated(peer, LoadUpdate(("filter",), load, 0))
    return [(command.to, command.message.target) for command in directory.look(ALONE)]  # type: ignore[union-attr]


def test_the_hottest_peer_gives_to_the_coolest() -> None:
    assert looked(a=steady(3), b=steady(5), c=steady(1), d=steady(2)) == [("b", "c")]


@pytest.mark.parametrize(
    ("hot", "cool"),
    [
        (steady(2.0), steady(0)),  # not above h
        (steady(3.0), steady(2.85)),  # not above l apart
        (Loads(9, 2, 1), steady(0)),  # no overload for five minutes
        (Loads(1, 9, 9), steady(0)),  # no overload any more
        (steady(3), Loads(0, 4, 9)),  # cool only since a moment ago
    ],
)
def test_no_hot_spot(hot: Loads, cool: Loads) -> None:
    assert looked(Criteria(minutes=5), hot=hot, cool=cool) == []


def test_a_difference_that_is_not_above_l_is_none() -> None:
    criteria = Criteria(imbalance=0.25)
    assert looked(criteria, hot=steady(3.0), cool=steady(2.75)) == []
    assert looked(criteria, hot=steady(3.0), cool=steady(2.5)) == [("hot", "cool")]


def test_peers_are_compared_by_their_loads_of_now() -> None:
    assert looked(a=Loads(5, 5, 9), b=Loads(6, 5, 1), c=Loads(1, 1, 9), d=Loads(2, 1, 1)) == [("b", "c")]


def test_other_minutes_are_another_check() -> None:
    assert looked(Criteria(minutes=1), hot=Loads(9, 2, 1), cool=steady(0)) == [("hot", "cool")]
    assert looked(Criteria(minutes=15), hot=Loads(9, 9, 1), cool=steady(0)) == []


def test_a_lone_peer_has_no_target() -> None:
    assert looked(hot=steady(9)) == []


def test_a_peer_that_is_not_responsible_does_not_decide() -> None:
    directory = Directory("me", Criteria())
    for peer, load in {"hot": 9, "cool": 1}.items():
        directory.updated(peer, LoadUpdate(("filter",), steady(load), 0))
    other = Ring(["you"])
    assert directory.look(other) == []
    directory.moved(other)
    assert directory.look(ALONE) == []


def test_old_news_change_nothing() -> None:
    directory = Directory("me", Criteria())
    directory.updated("a", LoadUpdate(("filter",), steady(5), 20))
    directory.updated("a", LoadUpdate(("filter",), steady(1), 10))
    assert directory.offering("filter") == {"a": steady(5)}


def test_a_peer_that_is_silent_for_long_or_gone_is_removed() -> None:
    directory = Directory("me", Criteria(), silence=2)
    for peer in ("a", "b", "c"):
        directory.updated(peer, LoadUpdate(("filter",), steady(1), 0))
    directory.failed("c")
    directory.look(ALONE)
    directory.updated("a", LoadUpdate(("filter",), steady(1), 0))
    directory.look(ALONE)
    assert set(directory.offering("filter")) == {"a", "b"}
    directory.look(ALONE)
    assert set(directory.offering("filter")) == {"a"}
    directory.failed("a")
    assert directory.look(ALONE) == []


TRIO = ["me", "hot", "cool"]
MINE = next(each for each in map(str, range(99)) if Ring(TRIO).responsible(each) == "me")
"""An operator that this peer is responsible for."""


def test_peers_that_fail_or_leave_are_not_targets() -> None:
    for gone, left in ((Failed("cool"), {"hot"}), (Members(("me",)), set())):
        peer = Hosted(Peer("me", (), TRIO))
        for name, load in {"hot": 9, "cool": 1}.items():
            peer.handle(Heard(name, LoadUpdate((MINE,), steady(load), 0)))
        assert peer.handle(Look(), 60) != []
        peer.handle(gone)
        assert peer.directory.offering(MINE).keys() == left
        assert peer.handle(Look(), 120) == []


def test_decisions_are_numbered() -> None:
    peer = Hosted(Peer("me", (), TRIO))
    peer.handle(Heard("hot", LoadUpdate((MINE,), steady(9), 0)))
    peer.handle(Heard("cool", LoadUpdate((MINE,), steady(1), 0)))
    found = [peer.handle(Look(), now) for now in (60, 120)]
    assert found == [[Send("hot", Decision(serial, MINE, "cool"))] for serial in (1, 2)]
