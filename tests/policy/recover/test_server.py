"""Servers, event by event: flow messages, the back channel, heartbeats, and what follows from a failure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import PolicyError
from australis.policy.recover.flow import Noted
from australis.policy.recover.granularity import Granularity, coarsest
from australis.policy.recover.heartbeats import Heartbeats
from australis.policy.recover.server import (
    AskReplay,
    Beat,
    FlowMessage,
    Heard,
    Heartbeat,
    Onward,
    Queried,
    Replay,
    Replaying,
    ReplayWanted,
    Server,
    ServerArcs,
    Started,
    TakeOver,
    TellSafe,
    Told,
    Truncate,
)

NOTED = Noted({"c": {"p": 9}, "d": {"q": 9}}, {"a": {"p": 7}, "b": {"q": 6}})
PLAN = ServerArcs("s", {"a": "u", "b": "v"}, {"c": "x", "d": "y"}, guards=("x",), k=1, timeout_s=2.0)


def flow(arc: str) -> FlowMessage:
    return FlowMessage(arc, 3, {"a": {"p": 9}, "b": {"q": 9}}, NOTED)


def test_flow_messages_are_saved_until_there_is_one_on_each_arc() -> None:
    server = Server(PLAN)
    assert server.handle(flow("a")) == []
    nothing = [TellSafe("a", ({"p": 9}, {})), TellSafe("b", ({"q": 9}, {}))]
    assert server.handle(flow("b")) == [Onward(3), *nothing]


def test_what_the_next_servers_have_is_safe_to_go_back_before() -> None:
    server = Server(PLAN)
    server.handle(flow("a"))
    assert server.handle(Told("c", ({"p": 9}, {"p": 4}))) == [Truncate("c", {"p": 4})]
    assert server.handle(Told("d", ({"q": 9}, {"q": 3}))) == [Truncate("d", {"q": 3})]
    assert server.handle(Told("d", ({"q": 2}, {"q": 1}))) == [Truncate("d", {"q": 3})], "old news"
    told = [TellSafe("a", ({"p": 9}, {"p": 7})), TellSafe("b", ({"q": 9}, {"q": 6}))]
    assert server.handle(flow("b")) == [Onward(3), *told]


def test_moments_do_not_pile_up() -> None:
    server = Server(PLAN)
    for number in range(1, 50):
        noted = Noted({"c": {"p": number}, "d": {"q": number}}, {"a": {"p": number}, "b": {"q": number}})
        server.handle(Told("c", ({"p": number}, {})))
        server.handle(Told("d", ({"q": number}, {})))
        server.handle(Queried("a", {"p": number}, noted))
    assert server._checkpoints.moments == 1


def test_a_source_sends_flow_messages_and_reports_to_no_one() -> None:
    source = Server(ServerArcs("source", {}, {"c": "x"}))
    assert source.handle(FlowMessage("", 7, {}, Noted({"c": {"p": 2}}, {}))) == [Onward(7)]


def test_an_array_is_reported_when_queried() -> None:
    server = Server(PLAN)
    server.handle(Told("c", ({"p": 9}, {})))
    assert server.handle(Queried("a", {"p": 9}, NOTED)) == [TellSafe("a", ({"p": 9}, {}))]
    server.handle(Told("d", ({"q": 9}, {})))
    assert server.handle(Queried("a", {"p": 9}, NOTED)) == [TellSafe("a", ({"p": 9}, {"p": 7}))]


def test_a_silent_server_is_taken_over_and_has_time_to_be_heard_again() -> None:
    server = Server(PLAN)
    beats = [Heartbeat("u"), Heartbeat("v")]
    server.handle(Heard("x", 1.0))
    story = [server.handle(Beat(now)) for now in (3.0, 3.1, 5.0, 5.2)]
    assert story == [beats, [*beats, TakeOver("x")], beats, [*beats, TakeOver("x")]]


def test_a_server_that_writes_several_arcs_hears_one_heartbeat() -> None:
    server = Server(ServerArcs("s", {"a": "u", "b": "u"}, {"c": "x"}))
    assert server.handle(Beat(1.0)) == [Heartbeat("u")]


def test_heartbeats_of_servers_that_others_guard_are_for_others() -> None:
    server = Server(PLAN)
    for now in (1.0, 9.0):
        server.handle(Heard("x", now))
        server.handle(Heard("y", 1.0))
    assert server.handle(Beat(10.0)) == [Heartbeat("u"), Heartbeat("v")]


def test_a_restarted_server_asks_until_it_is_answered() -> None:
    server = Server(PLAN, now=10.0)
    assert server.handle(Started(10.0, life=2)) == [AskReplay("a", 2), AskReplay("b", 2)]
    assert server.handle(Replaying("a")) == []
    assert server.handle(Beat(10.5)) == [Heartbeat("u"), Heartbeat("v"), AskReplay("b", 2)]
    server.handle(Replaying("b"))
    assert server.handle(Beat(11.0)) == [Heartbeat("u"), Heartbeat("v")]


def test_a_replay_is_given_once_in_a_life() -> None:
    server = Server(PLAN)
    found = {life: server.handle(ReplayWanted("c", life)) for life in (1, 2)}
    assert found == {1: [Replay("c")], 2: [Replay("c")]}
    assert [server.handle(ReplayWanted("c", life)) for life in (2, 1)] == [[], []]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ServerArcs("s", {}, {}, k=-1), "s.k: is -1; expected 0 or more"),
        (lambda: ServerArcs("s", {}, {}, timeout_s=0), "s.timeout_s: is 0; expected above 0"),
        (lambda: ServerArcs("s", {}, {"a": "x"}, ("y",)), "s: guards y, to which it sends nothing; expected"),
        (lambda: Granularity((1.0,), 2), "granularity.machines: is 2; expected 1 to 1, a box each"),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        make()  # type: ignore[operator]
    assert str(refused.value).startswith(message)


@given(st.lists(st.tuples(st.booleans(), st.floats(0.1, 3)), max_size=30))
def test_a_failure_is_reported_once_and_only_after_a_silence(steps: list[tuple[bool, float]]) -> None:
    beats, now, heard, told = Heartbeats(["s"], 2.0), 0.0, 0.0, False
    for beat, step in steps:
        now += step
        if beat:
            beats.heard("s", now)
            heard, told = now, False
        else:
            failed = beats.silent(now) == ["s"]
            assert failed == (now - heard > 2.0 and not told)
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
