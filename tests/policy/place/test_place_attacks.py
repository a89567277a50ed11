"""Every message between sites x every attack; and what a machine remembers when it is made again."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.machines.attacks import ATTACKS, Scene, attacked, handed_over, said_again
from tests.policy.place.sites import MANNERS, NARROW, AtSite, S, kept, offered
from tests.policy.place.test_daemon import COUNT
from tests.policy.place.worlds import world

from australis.policy.place import messages as m
from australis.policy.place.daemon import Daemon


def asking() -> AtSite:
    """A site that has offered something to the sensor."""
    here = AtSite(NARROW)
    offered(here)
    return here


def reported() -> Scene:
    here = AtSite(NARROW)
    return Scene(here.machine, "b", here.report("b", work=0.25), S)


SCENES: dict[str, Callable[[], Scene]] = {
    "Report": reported,
    "Offer": lambda: Scene(AtSite(world(1000), "b").machine, "a", COUNT, S),
    "Accepted": lambda: Scene(asking().machine, "sensor", m.Accepted((1, 1)), 11 * S),
    "Rejected": lambda: Scene(asking().machine, "sensor", m.Rejected((1, 1), "has no room"), 11 * S),
}


def test_there_is_a_scene_for_each_message() -> None:
    assert {kind.__name__ for kind in m.Message.__args__} <= SCENES.keys()


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("message", SCENES)
def test_an_attack_changes_nothing(message: str, attack: str) -> None:
    attacked(SCENES[message](), attack)


@pytest.mark.parametrize("message", SCENES)
def test_the_true_message_is_understood(message: str) -> None:
    scene = SCENES[message]()
    before = msgspec.json.decode(scene.machine.snapshot())["state"]
    handed_over(scene)
    assert not scene.machine.refused
    assert msgspec.json.decode(scene.machine.snapshot())["state"] != before


@pytest.mark.parametrize("message", SCENES)
def test_what_is_said_again_or_overtaken_has_no_second_effect(message: str) -> None:
    said_again(SCENES[message]())


@pytest.mark.parametrize(
    ("sender", "message"),
    [
        ("b", m.Accepted((1, 1))),
        ("sensor", m.Accepted((1, 2))),
        ("sensor", m.Accepted((2, 1))),
        ("desk", m.Rejected((1, 1), "")),
    ],
)
def test_an_answer_begins_or_ends_only_what_was_offered_to_its_sender(
    sender: str, message: m.Message
) -> None:
    here = asking()
    before = kept(here)
    assert here.hear(sender, message, 11 * S) == []
    assert here.refused == {"late": 1}
    assert kept(here) == before


def test_a_box_twice_in_an_offer_makes_no_sense() -> None:
    here = AtSite(world(1000), "b")
    twice = m.Offer((1, 1), m.Form.SLIDE, ("x", "x"), (), 0.1, {}, {})
    assert here.hear("a", twice, S) == []
    assert here.refused == {"twice": 1}


def test_links_and_capacities_of_almost_nothing_upset_nobody() -> None:
    """What divides by them must not become infinite, or the rank of a move not a number."""
    tiny = 5e-324
    here = AtSite(NARROW)
    told = {"links": {"a": tiny, "desk": tiny, "b": 1e6}, "used": {"a": 1e18, "desk": 1e18, "b": 1e18}}
    for now in (0, 10, 20):
        here.look(now, sensor={**told, "links": {"a": 21_000.0, "desk": tiny}}, b=told, desk=told)
        here.machine.giver.open = None
    assert not here.refused
    assert here.hear("b", here.report("b", capacity=tiny), 30 * S) == []
    assert here.refused == {"message": 1}


NAMES = st.sampled_from(["a", "b", "desk", "sensor", "thin", "count", "s"])
AMOUNTS = st.floats(0, 1e18)
SERIALS = st.tuples(st.integers(1, 3), st.integers(0, 3))
MESSAGES = st.one_of(
    st.builds(m.Accepted, SERIALS),
    st.builds(m.Rejected, SERIALS, st.text(max_size=5)),
    st.builds(
        m.Offer,
        SERIALS,
        st.sampled_from(m.Form),
        st.lists(NAMES, min_size=1, max_size=3).map(tuple),
        st.lists(NAMES, max_size=2).map(tuple),
        AMOUNTS,
        st.dictionaries(NAMES, AMOUNTS, max_size=2),
        st.dictionaries(NAMES, AMOUNTS, max_size=2),
    ),
    st.builds(
        m.Report,
        SERIALS,
        st.floats(0.001, 1e9),
        st.none() | st.lists(NAMES, max_size=2).map(tuple),
        AMOUNTS,
        st.dictionaries(NAMES, AMOUNTS, max_size=4),
        st.dictionaries(NAMES, AMOUNTS, max_size=4),
        st.dictionaries(NAMES, AMOUNTS, max_size=2),
        st.dictionaries(NAMES, st.text(max_size=3), max_size=2),
        st.none() | SERIALS,
        SERIALS,
        st.none() | SERIALS,
    ),
)
STEPS = st.lists(st.tuples(st.sampled_from(["sensor", "b", "desk"]), MESSAGES) | st.none(), max_size=12)


@settings(max_examples=60)
@given(STEPS)
def test_whatever_neighbours_say_a_machine_decides_and_goes_on_from_its_snapshot(steps: list[object]) -> None:
    """Ticks and any messages, in any order: nothing is raised, and a copy from the snapshot does the same."""
    one = AtSite(NARROW)
    other = AtSite(NARROW)
    for now, step in enumerate(steps):
        copy = Daemon("a", NARROW.sites["a"], MANNERS)
        copy.restore(other.snapshot())
        other.machine = copy
        for each in (one, other):
            each.found = each.look(now * 6) if step is None else each.hear(*step, now * 6 * S)  # type: ignore[misc, attr-defined]
        assert one.found == other.found  # type: ignore[attr-defined]
        assert kept(one) == kept(other)
