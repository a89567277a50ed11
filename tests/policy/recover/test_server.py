"""Servers, event by event: flow messages, the back channel, heartbeats, and what follows from a failure."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.machines.attacks import ATTACKS, Scene, attacked, handed_over, said_again
from tests.policy.machines.hosting import Hosted

from australis.errors import PolicyError
from australis.policy.machines import Received, Say, Started
from australis.policy.recover import messages as m
from australis.policy.recover.flow import Noted
from australis.policy.recover.granularity import Granularity, coarsest
from australis.policy.recover.heartbeats import Heartbeats
from australis.policy.recover.server import Server, ServerArcs

S = 1_000_000
"""A second."""
NOTED = Noted({"c": {"p": 9}, "d": {"q": 9}}, {"a": {"p": 7}, "b": {"q": 6}})
PLAN = ServerArcs("s", {"a": "u", "b": "v"}, {"c": "x", "d": "y"}, guards=("x",), k=1, timeout_us=2 * S)
BEATS = [Say("u", m.Alive()), Say("v", m.Alive())]


def hosted(plan: ServerArcs = PLAN, life: int = 1) -> Hosted:
    return Hosted(Server(plan, life))


def running(plan: ServerArcs = PLAN) -> Hosted:
    """A server that takes from both arcs."""
    here = hosted(plan)
    here.handle(Started())
    for arc in plan.reads:
        here.handle(m.Opening(arc, {}))
        assert here.handle(m.Replaying(arc, 1, 1)) == [m.Take(arc, 1, 1)]
    return here


def flow(arc: str) -> m.Flowed:
    return m.Flowed(arc, 3, {"a": {"p": 9}, "b": {"q": 9}}, NOTED)


def secured(writer: str, arc: str, *safe: dict[str, int]) -> Say:
    return Say(writer, m.Secured(arc, safe))


# --- checkpoints


def test_flow_messages_are_saved_until_there_is_one_on_each_arc() -> None:
    here = hosted()
    assert here.handle(flow("a")) == []
    nothing = [secured("u", "a", {"p": 9}, {}), secured("v", "b", {"q": 9}, {})]
    assert here.handle(flow("b")) == [m.Onward(3), *nothing]


def test_what_the_next_servers_have_is_safe_to_go_back_before() -> None:
    here = hosted()
    here.handle(flow("a"))
    assert here.hear("x", m.Secured("c", ({"p": 9}, {"p": 4}))) == [m.Truncate("c", {"p": 4})]
    assert here.hear("y", m.Secured("d", ({"q": 9}, {"q": 3}))) == [m.Truncate("d", {"q": 3})]
    assert here.hear("y", m.Secured("d", ({"q": 2}, {"q": 1}))) == [m.Truncate("d", {"q": 3})], "old news"
    told = [secured("u", "a", {"p": 9}, {"p": 7}), secured("v", "b", {"q": 9}, {"q": 6})]
    assert here.handle(flow("b")) == [m.Onward(3), *told]


def test_moments_do_not_pile_up() -> None:
    here = hosted()
    for number in range(1, 50):
        noted = Noted({"c": {"p": number}, "d": {"q": number}}, {"a": {"p": number}, "b": {"q": number}})
        here.hear("x", m.Secured("c", ({"p": number}, {})))
        here.hear("y", m.Secured("d", ({"q": number}, {})))
        here.handle(m.Noting("a", {"p": number}, noted))
    assert len(here.machine.state().moments) == 1


def test_a_source_sends_flow_messages_and_reports_to_no_one() -> None:
    source = hosted(ServerArcs("source", {}, {"c": "x"}))
    assert source.handle(m.Flowed("", 7, {}, Noted({"c": {"p": 2}}, {}))) == [m.Onward(7)]


def test_an_application_has_all_that_it_has_received() -> None:
    end = hosted(ServerArcs("end", {"a": "u"}, {}, k=2))
    received = {"a": {"p": 4}}
    assert end.handle(m.Flowed("a", 1, received, Noted({}, received)))[1] == secured(
        "u", "a", *[{"p": 4}] * 3
    )


def test_an_array_is_reported_when_queried() -> None:
    here = hosted()
    assert here.handle(m.Asking()) == [Say("x", m.Query("c")), Say("y", m.Query("d"))]
    assert here.hear("u", m.Query("a")) == [m.Note("a")]
    here.hear("x", m.Secured("c", ({"p": 9}, {})))
    assert here.handle(m.Noting("a", {"p": 9}, NOTED)) == [secured("u", "a", {"p": 9}, {})]
    here.hear("y", m.Secured("d", ({"q": 9}, {})))
    assert here.handle(m.Noting("a", {"p": 9}, NOTED)) == [secured("u", "a", {"p": 9}, {"p": 7})]


# --- failures


def test_a_silent_server_is_taken_over_and_has_time_to_be_heard_again() -> None:
    here = running()
    here.hear("x", m.Alive(), 1 * S)
    story = [here.handle(m.Ticked(), int(now * S)) for now in (3.0, 3.1, 5.0, 5.2)]
    assert story == [BEATS, [*BEATS, m.TakeOver("x")], BEATS, [*BEATS, m.TakeOver("x")]]


def test_a_server_that_was_away_blames_nobody_for_it() -> None:
    here = running()
    here.handle(Started(), 100 * S)
    assert m.TakeOver("x") not in here.handle(m.Ticked(), 102 * S)
    assert m.TakeOver("x") in here.handle(m.Ticked(), 103 * S)


def test_a_server_that_writes_several_arcs_hears_one_heartbeat() -> None:
    here = hosted(ServerArcs("s", {"a": "u", "b": "u"}, {"c": "x"}))
    assert here.handle(m.Ticked(), S) == [Say("u", m.Alive())]


def test_heartbeats_of_servers_that_others_guard_are_for_others() -> None:
    here = running()
    for now in (1, 9):
        here.hear("x", m.Alive(), now * S)
        here.hear("y", m.Alive(), 1 * S)
    assert here.handle(m.Ticked(), 10 * S) == BEATS


# --- the beginning of an arc


def test_a_server_asks_until_it_is_answered_with_what_it_has() -> None:
    here = hosted()
    assert here.handle(Started()) == [m.Open("a"), m.Open("b")]
    wanted = [Say("u", m.Wanted("a", 1, 1, None)), Say("v", m.Wanted("b", 1, 1, None))]
    assert [here.handle(m.Opening(arc, {}))[0] for arc in "ab"] == wanted
    assert here.handle(m.Replaying("a", 1, 1)) == [m.Take("a", 1, 1)]
    assert here.handle(m.Ticked(), S) == [*BEATS, m.Open("b")]
    here.handle(m.Replaying("b", 1, 1))
    assert here.handle(m.Ticked(), S) == BEATS


def test_a_restart_asks_for_what_follows_what_it_has() -> None:
    here = running()
    again = hosted(PLAN, life=2)
    again.machine.restore(here.snapshot())
    assert again.handle(Started())[-2:] == [m.Open("a"), m.Open("b")]
    assert again.handle(m.Opening("a", {"p": 4})) == [Say("u", m.Wanted("a", 2, 2, {"p": 4}))]
    assert again.handle(m.Replaying("a", 1, 1)) == []
    assert again.refused == {"late": 1}, "that was for the life before"


def test_a_replay_is_given_once_for_a_request_and_says_from_where() -> None:
    here = hosted()
    here.hear("x", m.Secured("c", ({"p": 9}, {"p": 4})))
    for life, request in ((1, 1), (1, 2), (2, 1)):
        want = m.Wanted("c", life, request, None)
        assert here.hear("x", want) == [m.Replay("c", life, request, {"p": 4})]
        assert here.hear("x", want) == []
    assert here.hear("x", m.Wanted("c", 1, 9, None)) == []


def test_a_reader_that_lacks_what_is_not_kept_any_more_is_told_and_begins_with_nothing() -> None:
    writer, reader = hosted(ServerArcs("u", {}, {"a": "s"})), running()
    writer.hear("s", m.Secured("a", ({"p": 9}, {"p": 4})))
    assert writer.hear("s", m.Wanted("a", 2, 2, {"p": 3})) == [Say("s", m.Gap("a", 2, 2, {"p": 4}))]
    assert writer.hear("s", m.Wanted("a", 2, 2, {"p": 4})) == [m.Replay("a", 2, 2, {"p": 4})]
    again = hosted(PLAN, life=2)
    again.machine.restore(reader.snapshot())
    again.handle(Started())
    assert again.hear("u", m.Gap("a", 2, 1, {"p": 4})) == []
    assert again.hear("u", m.Gap("a", 2, 2, {"p": 4})) == [m.Open("a")]
    assert again.handle(m.Opening("a", {"p": 4})) == [Say("u", m.Wanted("a", 2, 2, {"p": 4}))]
    again.hear("u", m.Gap("a", 2, 2, {"p": 4}))
    assert again.handle(m.Opening("a", {"p": 3})) == [m.Rebuild()]
    fresh = hosted(PLAN, life=3)
    fresh.handle(Started())
    assert fresh.hear("u", m.Gap("a", 3, 1, {"p": 4})) == []
    assert fresh.refused == {"late": 1}, "who has nothing lacks nothing"


def test_a_writer_that_begins_another_life_says_so_until_it_is_asked() -> None:
    writer, reader = hosted(ServerArcs("u", {}, {"a": "s"}), life=3), running()
    ready = Say("s", m.Ready("a", 3))
    assert (writer.handle(Started()), writer.handle(m.Ticked())) == ([ready], [ready])
    assert reader.hear("u", m.Ready("a", 3)) == [m.Open("a")]
    assert reader.hear("u", m.Ready("a", 3)) == []
    assert reader.handle(m.Opening("a", {"p": 9})) == [Say("u", m.Wanted("a", 1, 2, {"p": 9}))]
    writer.hear("s", m.Wanted("a", 1, 2, {"p": 9}))
    assert writer.handle(m.Ticked()) == []
    reader.handle(m.Replaying("a", 3, 2))
    assert reader.hear("u", m.Ready("a", 3)) == [], "it was asked meanwhile"


def test_a_replay_for_a_request_to_an_earlier_life_is_asked_for_again() -> None:
    here = running()
    assert here.handle(m.Replaying("a", 2, 1)) == [m.Open("a")]
    assert here.handle(m.Replaying("b", 1, 1)) == []
    assert here.refused == {"late": 1}


def test_a_life_that_was_replaced_is_heard_by_nobody_who_knows() -> None:
    here = running()
    old, new = Server(ServerArcs("x", {"c": "s"}, {})), Server(ServerArcs("x", {"c": "s"}, {}), 2)
    letters = []
    for server in (old, new):
        server.handle(Started(), 0)
        letters.append(server.handle(m.Opening("c", {}), 0)[0].letter)

    assert here.machine.handle(Received("x", letters[1]), 0) == [m.Replay("c", 2, 1, {})]
    assert here.machine.handle(Received("x", letters[0]), 0) == []
    assert here.refused == {"stale": 1}


# --- what makes no sense


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ServerArcs("s", {}, {}, k=-1), "s.k: is -1; expected 0 to 99"),
        (lambda: ServerArcs("s", {}, {}, timeout_us=0), "s.timeout_us: is 0; expected above 0"),
        (lambda: ServerArcs("s", {}, {"a": "x"}, ("y",)), "s: guards y, to which it sends nothing; expected"),
        (lambda: Granularity((1.0,), 2), "granularity.machines: is 2; expected 1 to 1, a box each"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value).startswith(message)


def wanting() -> Scene:
    """A server that has returned, and asks for the arc a."""
    again = hosted(PLAN, life=2)
    again.machine.restore(running().snapshot())
    again.handle(Started())
    return Scene(again.machine, "u", m.Gap("a", 2, 2, {"p": 4}))


SCENES: dict[str, Callable[[], Scene]] = {
    "Alive": lambda: Scene(running().machine, "x", m.Alive(), S),
    "Secured": lambda: Scene(running().machine, "x", m.Secured("c", ({"p": 9}, {"p": 4}))),
    "Query": lambda: Scene(running().machine, "u", m.Query("a")),
    "Ready": lambda: Scene(running().machine, "u", m.Ready("a", 2)),
    "Wanted": lambda: Scene(running().machine, "x", m.Wanted("c", 1, 1, {"p": 3})),
    "Gap": wanting,
}
NO_EFFECT_TWICE = sorted(SCENES.keys() - {"Query"})


def test_there_is_a_scene_for_each_message() -> None:
    assert {kind.__name__ for kind in m.Message.__args__} <= SCENES.keys()


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("message", SCENES)
def test_an_attack_changes_nothing(message: str, attack: str) -> None:
    attacked(SCENES[message](), attack)


@pytest.mark.parametrize("message", SCENES)
def test_the_true_message_is_understood_and_has_no_second_effect(message: str) -> None:
    scene = SCENES[message]()
    handed_over(scene)
    assert not scene.machine.refused
    said_again(SCENES[message]())


@pytest.mark.parametrize("message", SCENES)
def test_nobody_speaks_of_an_arc_but_the_server_at_its_other_end(message: str) -> None:
    scene = SCENES[message]()
    if message == "Alive":
        return
    before = msgspec.json.decode(scene.machine.snapshot())["state"]
    handed_over(Scene(scene.machine, "y", scene.message))
    assert scene.machine.refused == {"arc": 1}
    assert msgspec.json.decode(scene.machine.snapshot())["state"] == before


def test_safety_at_other_levels_than_ours_makes_no_sense() -> None:
    here = running()
    assert here.hear("x", m.Secured("c", ({"p": 9},))) == []
    assert here.refused == {"levels": 1}


ARCS = st.sampled_from("abcd")
REACHED = st.dictionaries(st.sampled_from("pq"), st.integers(0, 9), max_size=2)
NUMBERS = st.integers(1, 4)
MESSAGES = st.one_of(
    st.builds(m.Alive),
    st.builds(m.Secured, ARCS, st.lists(REACHED, min_size=1, max_size=3).map(tuple)),
    st.builds(m.Query, ARCS),
    st.builds(m.Ready, ARCS, NUMBERS),
    st.builds(m.Wanted, ARCS, NUMBERS, NUMBERS, st.none() | REACHED),
    st.builds(m.Gap, ARCS, NUMBERS, NUMBERS, REACHED),
)
BOTH = st.fixed_dictionaries({"c": REACHED, "d": REACHED})
EVENTS = st.one_of(
    st.builds(m.Ticked),
    st.builds(Started),
    st.builds(m.Opening, ARCS, REACHED),
    st.builds(m.Replaying, ARCS, NUMBERS, NUMBERS),
    st.builds(m.Noting, ARCS, REACHED, st.builds(Noted, BOTH, st.fixed_dictionaries({"a": REACHED}))),
)
STEPS = st.lists(st.tuples(st.sampled_from("uvxy"), MESSAGES) | EVENTS, max_size=20)


@settings(max_examples=80)
@given(STEPS)
def test_whatever_happens_a_server_decides_and_goes_on_from_its_snapshot(steps: list[object]) -> None:
    one, other = running(), running()
    for now, step in enumerate(steps):
        copy = Server(PLAN)
        copy.restore(other.snapshot())
        other.machine = copy
        found = [
            each.hear(*step, now * S) if isinstance(step, tuple) else each.handle(step, now * S)
            for each in (one, other)
        ]
        assert found[0] == found[1]
        assert one.snapshot() == other.snapshot()


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 30)), max_size=30))
def test_a_failure_is_reported_once_and_only_after_a_silence(steps: list[tuple[bool, int]]) -> None:
    beats, now, heard, told = Heartbeats(["s"], 20), 0, 0, False
    for beat, step in steps:
        now += step
        if beat:
            beats.heard("s", now)
            heard, told = now, False
        else:
            failed = beats.silent(now) == ["s"]
            assert failed == (now - heard > 20 and not told)
            told = told or failed


# --- virtual machines


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=10), st.data())
def test_virtual_machines_have_all_boxes_in_their_order(costs: list[float], data: st.DataObject) -> None:
    machines = data.draw(st.integers(1, len(costs)))
    parts = Granularity(tuple(costs), machines).parts
    assert [cost for part in parts for cost in part] == costs
    assert len(parts) == machines
    assert all(parts)


def test_more_virtual_machines_redo_less_for_more_messages() -> None:
    choices = [Granularity((0.01,) * 8, machines) for machines in range(1, 9)]
    assert [each.messages for each in choices] == list(range(8))
    redone = [each.foreseen_s(rate=100, kept_s=1.0) for each in choices]
    assert redone == sorted(redone, reverse=True)
    assert redone[1] == pytest.approx(100 * 0.04 + 0.04), "of the first machine, what is in process"


def test_the_fewest_virtual_machines_that_are_fast_enough() -> None:
    costs = (0.01,) * 8
    found = [coarsest(costs, 100, 1.0, within_s).machines for within_s in (8.0, 4.1, 2.1, 0.0)]
    assert found == [1, 2, 4, 8]
