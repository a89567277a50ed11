"""What servers may discard: flow messages, arrays of sequence numbers, queues, and levels of safety."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.recover.checkpoints import Checkpoints
from australis.policy.recover.flow import Junction, Noted, gathered
from australis.policy.recover.log import OutputLog
from australis.policy.recover.positions import Positions, farthest, nearest, within

positions = st.dictionaries(st.sampled_from("abc"), st.integers(1, 9))


# --- positions


@given(positions, positions, positions)
def test_knowledge_only_grows_in_whatever_order_it_comes(a: Positions, b: Positions, c: Positions) -> None:
    together = farthest(farthest(a, b), c)
    assert together == farthest(farthest(c, a), farthest(b, b))
    assert all(within(each, together) for each in (a, b, c))


@given(positions, positions)
def test_a_flow_message_carries_the_minimum(a: Positions, b: Positions) -> None:
    least = nearest([a, b])
    assert set(least) == {*a, *b}
    assert all(least[path] <= each[path] for each in (a, b) for path in each)


def test_what_boxes_are_done_with_is_gathered_by_arc() -> None:
    boxes = [{"x": {"p": 5}, "y": {"q": 2}}, {"x": {"p": 3, "r": 1}}]
    assert gathered(boxes) == {"x": {"p": 3, "r": 1}, "y": {"q": 2}}


# --- flow messages


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_a_junction_waits_for_all_arcs(arcs: list[str]) -> None:
    junction, seen = Junction("abc"), set()
    for serial, arc in enumerate(arcs):
        seen.add(arc)
        onward = junction.arrived(arc, serial)
        assert (onward is not None) == (seen == set("abc"))
        if onward is not None:
            seen.clear()


def test_a_source_has_no_arcs_to_wait_for() -> None:
    assert Junction([]).arrived("", 7) == 7


# --- queues


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3))), positions)
def test_a_queue_keeps_what_is_not_safe_in_its_order(steps: list[tuple[str, int]], safe: Positions) -> None:
    log, sent, last = OutputLog(), [], dict.fromkeys("ab", 0)
    for path, step in steps:
        last[path] += step
        sent.append((path, last[path]))
        log.append(path, last[path], "value")
    assert log.truncate(safe) == len(log)
    kept = [(each.path, each.number) for each in log]
    assert kept == [(path, number) for path, number in sent if number > safe.get(path, 0)]
    assert len(log) == len(kept)


# --- levels


def moment(sent: int, done: int) -> Noted:
    return Noted({"out": {"p": sent}}, {"in": {"p": done}})


def test_a_checkpoint_is_returned_to_when_all_before_it_is_safe_downstream() -> None:
    server = Checkpoints(1, ["in"], ["out"])
    for sent, done in ((10, 8), (20, 18), (30, 28)):
        server.note(moment(sent, done))
    found = []
    for received in (9, 10, 25, 30, 99):
        server.told("out", ({"p": received}, {}))
        found.append(server.safe("in", {"p": 40})[1].get("p", 0))
    assert found == [0, 8, 18, 28, 28]


def test_old_news_take_nothing_back() -> None:
    server = Checkpoints(1, ["in"], ["out"])
    server.note(moment(10, 8))
    server.told("out", ({"p": 10}, {"p": 5}))
    server.told("out", ({"p": 3}, {"p": 2}))
    assert server.safe("in", {})[1] == {"p": 8}
    assert server.truncation("out") == {"p": 5}


def test_a_level_more_is_a_server_further() -> None:
    """Three servers in a row: what is safe at level k before the first is received k + 1 servers further."""
    first, second = Checkpoints(2, ["in"], ["out"]), Checkpoints(2, ["in"], ["out"])
    first.note(moment(10, 10))
    first.note(moment(20, 20))
    second.note(moment(10, 10))
    second.told("out", ({"p": 15},) * 3)
    first.told("out", second.safe("in", {"p": 20}))
    assert first.safe("in", {"p": 25}) == ({"p": 25}, {"p": 20}, {"p": 10})
    assert second.safe("in", {"p": 20}) == ({"p": 20}, {"p": 10}, {"p": 10})


def test_a_server_with_two_readers_waits_for_both() -> None:
    server = Checkpoints(1, ["in"], ["left", "right"])
    server.note(Noted({"left": {"p": 10}, "right": {"q": 10}}, {"in": {"p": 10}}))
    server.told("left", ({"p": 10}, {}))
    assert server.safe("in", {})[1] == {}
    server.told("right", ({"q": 10}, {}))
    assert server.safe("in", {})[1] == {"p": 10}


def test_checkpoints_that_are_no_longer_needed_are_discarded() -> None:
    server = Checkpoints(1, ["in"], ["out"])
    for number in range(1, 101):
        server.note(moment(number, number))
    server.told("out", ({"p": 95}, {}))
    before = server.safe("in", {})
    server.forget()
    assert len(server.moments) == 6
    assert server.safe("in", {}) == before


def test_a_moment_that_some_level_goes_back_to_is_kept() -> None:
    server = Checkpoints(2, ["in"], ["out"])
    for number in range(1, 101):
        server.note(moment(number, number))
    server.told("out", ({"p": 95}, {"p": 40}, {}))
    before = server.safe("in", {})
    server.forget()
    assert before == server.safe("in", {}) == ({}, {"p": 95}, {"p": 40})
    assert len(server.moments) == 61


def test_without_safety_what_is_received_is_forgotten() -> None:
    server = Checkpoints(0, ["in"], ["out"])
    assert server.safe("in", {"p": 4}) == ({"p": 4},)
    server.told("out", ({"p": 7},))
    server.forget()
    assert server.truncation("out") == {"p": 7}
