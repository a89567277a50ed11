"""The six phases of a migration, event by event; and lost, delayed, outdated and duplicated messages."""

from __future__ import annotations

import msgspec
import pytest
from tests.policy.machines.hosting import Heard, Hosted

from australis.policy.hotspot.departure import Phase
from australis.policy.hotspot.holdings import Holdings
from australis.policy.hotspot.levels import Loads
from australis.policy.hotspot.messages import (
    Assigned,
    Cancel,
    Decision,
    Drain,
    Drained,
    Drop,
    Elsewhere,
    Failed,
    Holding,
    Install,
    Introduce,
    Introduced,
    Kill,
    Measured,
    Migration,
    Packed,
    Refusal,
    Reply,
    Request,
    Route,
    Ship,
    Shipped,
    Spawn,
    State,
    Switch,
    Switched,
    Taken,
    Task,
    Tick,
    UpdateReply,
    UpdateRequest,
    Wanted,
    Writer,
    Writes,
)
from australis.policy.hotspot.peer import Manners, Peer
from australis.policy.hotspot.ring import Ring
from australis.policy.machines import Say as Send

changed = msgspec.structs.replace

HOT, COOL = Loads(5, 5, 5), Loads(1, 1, 1)
TASK = Task("t", ("x", "y"), ("z",))
ID = Migration("source", 1)
HELD = Holding(
    "filter", (TASK,), {"x": Writer("u"), "y": Writer("v")}, {"x": 0, "y": 0}, {"z": Route(0, "down")}
)
MOVED = HELD._replace(versions={"x": 1, "y": 1}, routes={"z": Route(0, "down", moves=1)})
PEERS = ("source", "target", "u", "v", "down", "me", "slow", "hot", "other", "w", "old", "elsewhere")
BOSS = Ring(PEERS).responsible("filter")
"""The peer that compares loads, and decides."""


def peer(name: str, loads: Loads | None = None) -> Hosted:
    made = Hosted(Peer(name, ("filter",), PEERS, Manners(patience=2)))
    if loads:
        made.handle(Measured(loads))
    return made


def source() -> Hosted:
    made = peer("source", HOT)
    made.handle(Assigned(HELD))
    return made


def told(to: Hosted, sender: str, message: object) -> list[object]:
    return to.hear(sender, message)


def redirecting() -> Hosted:
    made = source()
    told(made, BOSS, Decision(1, "filter", "target"))
    told(made, "target", Reply(ID))
    return made


def draining() -> Hosted:
    made = redirecting()
    told(made, "u", UpdateReply(ID, "x", 1, 7))
    told(made, "v", UpdateReply(ID, "y", 1, 3))
    return made


REQUEST = Request(ID, HELD, HOT)


def taking() -> Hosted:
    """A target that has accepted."""
    made = peer("target", COOL)
    told(made, "source", REQUEST)
    return made


def lately(here: Hosted, held: Holding) -> None:
    """Something else has moved here before."""
    here.arrival.accepted["slow"] = (1, held.operator, held.tasks)
    told(here, "slow", State(Migration("slow", 1), held, b"state"))


def test_a_whole_migration_at_its_source() -> None:
    here = source()
    story = [
        told(here, BOSS, Decision(1, "filter", "target")),
        told(here, "target", Reply(ID)),
        told(here, "u", UpdateReply(ID, "x", 1, 7)),
        told(here, "v", UpdateReply(ID, "y", 1, 3)),
        here.handle(Drained(ID)),
        told(here, "target", Taken(ID)),
    ]
    assert story == [
        [Send("target", REQUEST)],
        [Send("u", UpdateRequest(ID, "x", 1, "target")), Send("v", UpdateRequest(ID, "y", 1, "target"))],
        [],
        [Drain(ID, {"x": 7, "y": 3})],
        [Ship(ID, MOVED)],
        [Kill(ID, MOVED)],
    ]
    assert not here.busy


def test_a_whole_migration_at_its_target() -> None:
    here = peer("target", COOL)
    story = [told(here, "source", REQUEST), told(here, "source", State(ID, MOVED, b"state"))]
    assert story == [
        [Spawn(ID, REQUEST.holding), Send("source", Reply(ID))],
        [Install(ID, MOVED, b"state"), Send("source", Taken(ID)), Send("down", Introduce("z", 1))],
    ]
    assert not here.busy
    assert here.holdings.holding("filter", (TASK,)) == MOVED


def test_an_upstream_component_sends_elsewhere_and_says_since_when() -> None:
    here = peer("u")
    here.handle(Writes("x", "source"))
    request = UpdateRequest(ID, "x", 1, "target")
    assert told(here, "source", request) == [Switch(ID, "x", 1, "target")]
    assert told(here, "source", request) == [], "which tuple is the last is not known"
    reply = Send("source", UpdateReply(ID, "x", 1, 7))
    assert here.handle(Switched(ID, "x", 1, 7)) == [reply]
    assert told(here, "source", request) == [reply], "it was lost, or there twice"
    assert told(here, "source", UpdateRequest(ID, "x", 0, "elsewhere")) == [], "old news"


def test_a_switch_that_is_undone_on_its_way_is_not_replied_to() -> None:
    here = peer("u")
    here.handle(Writes("x", "source"))
    told(here, "source", UpdateRequest(ID, "x", 1, "target"))
    assert told(here, "source", UpdateRequest(ID, "x", 2, "source")) == [Switch(ID, "x", 2, "source")]
    assert here.handle(Switched(ID, "x", 1, 7)) == []
    assert here.handle(Switched(ID, "x", 2, 9)) == [Send("source", UpdateReply(ID, "x", 2, 9))]


# --- refusals


@pytest.mark.parametrize(
    "decision",
    [Decision(1, "map", "target"), Decision(1, "filter", "source"), Decision(1, "filter", "nobody")],
    ids=["nothing to move", "to itself", "an old number"],
)
def test_decisions_that_are_ignored(decision: Decision) -> None:
    assert told(source(), BOSS, decision) == []


def test_a_decision_is_ignored_if_the_overload_is_gone() -> None:
    here = source()
    here.handle(Measured(COOL))
    assert told(here, BOSS, Decision(1, "filter", "target")) == []


def test_a_second_migration_is_refused_while_one_runs() -> None:
    here = redirecting()
    assert told(here, BOSS, Decision(2, "filter", "target")) == []
    here.handle(Measured(COOL))
    other = Request(Migration("hot", 1), MOVED, HOT)
    assert told(here, "hot", other) == [Send("hot", Refusal(other.migration))]
    waiting = peer("target", COOL)
    told(waiting, "source", REQUEST)
    assert told(waiting, "hot", other) == [Send("hot", Refusal(other.migration))]
    waiting.handle(
        Assigned(HELD._replace(tasks=(Task("own", (), ()),), upstreams={}, versions={}, routes={}))
    )
    waiting.handle(Measured(HOT))
    assert told(waiting, BOSS, Decision(1, "filter", "source")) == []
    told(waiting, "source", Cancel(ID))
    assert told(waiting, BOSS, Decision(2, "filter", "source")) != []


@pytest.mark.parametrize("loads", [None, HOT, Loads(4.9, 1, 1), Loads(1, 9, 9)])
def test_a_target_that_is_no_lighter_refuses(loads: Loads | None) -> None:
    request = REQUEST if loads != Loads(1, 9, 9) else changed(REQUEST, holding=MOVED._replace(operator="map"))
    assert told(peer("target", loads), "source", request) == [Send("source", Refusal(ID))]


def test_the_same_decision_twice_is_one() -> None:
    here = source()
    decision = Decision(4, "filter", "target")
    assert told(here, BOSS, decision)
    told(here, "target", Refusal(ID))
    assert not here.busy
    assert told(here, BOSS, decision) == []
    assert told(here, BOSS, Decision(3, "filter", "target")) == []
    assert told(here, BOSS, decision) == []
    assert told(here, BOSS, Decision(5, "filter", "target")) == [
        Send("target", changed(REQUEST, migration=Migration("source", 2)))
    ]


# --- what is lost is said again, what is there twice changes nothing


def test_what_gets_no_answer_is_said_again() -> None:
    here = source()
    told(here, BOSS, Decision(1, "filter", "target"))
    assert here.handle(Tick()) == [Send("target", REQUEST)]
    told(here, "target", Reply(ID))
    told(here, "u", UpdateReply(ID, "x", 1, 7))
    assert here.handle(Tick()) == [Send("v", UpdateRequest(ID, "y", 1, "target"))]
    told(here, "v", UpdateReply(ID, "y", 1, 3))
    assert here.handle(Tick()) == [Drain(ID, {"x": 7, "y": 3})]
    here.handle(Drained(ID))
    assert here.handle(Tick()) == [Send("target", Shipped(ID))]
    told(here, "target", Taken(ID))
    assert here.handle(Tick()) == []


def test_what_is_there_twice_changes_nothing() -> None:
    here = draining()
    again = [Reply(ID), Refusal(ID), UpdateReply(ID, "x", 1, 99), UpdateReply(ID, "x", 0, 99)]
    assert [told(here, "target", message) for message in again] == [[], [], [], []]
    assert here.handle(Drained(ID)) == [Ship(ID, MOVED)]
    assert here.handle(Drained(ID)) == []
    told(here, "target", Taken(ID))
    assert told(here, "target", Taken(ID)) == []
    assert told(here, "target", Reply(ID)) == [Send("target", Cancel(ID))]


def test_a_state_is_taken_once() -> None:
    here = peer("target", COOL)
    told(here, "source", REQUEST)
    assert told(here, "source", REQUEST) == [Send("source", Reply(ID))]
    told(here, "source", State(ID, MOVED, b"state"))
    assert told(here, "source", State(ID, MOVED, b"state")) == [Send("source", Taken(ID))]
    assert told(here, "source", REQUEST) == [], "it came late"


def test_a_late_state_ends_no_other_migration() -> None:
    here = peer("target", COOL)
    told(here, "source", REQUEST)
    late = State(
        Migration("slow", 1), HELD._replace(tasks=(), upstreams={}, versions={}, routes={}), b"state"
    )
    here.arrival.accepted["slow"] = (1, "filter", ())
    assert told(here, "slow", late)[0] == Install(late.migration, late.holding, late.payload)
    assert here.busy
    assert told(here, "source", REQUEST) == [Send("source", Reply(ID))]


def test_a_reply_of_another_version_does_not_count() -> None:
    here = redirecting()
    told(here, "v", UpdateReply(ID, "y", 1, 3))
    for reply in (UpdateReply(ID, "x", 2, 7), UpdateReply(Migration("source", 2), "x", 1, 7)):
        assert told(here, "u", reply) == []
        assert here.departure.phase is Phase.REDIRECTING


def test_news_of_a_migration_that_was_given_up_are_not_of_the_one_that_runs() -> None:
    here, second = source(), Migration("source", 2)
    told(here, BOSS, Decision(1, "filter", "target"))
    assert here.handle(Failed("target")) == [Send("target", Cancel(ID))]
    told(here, BOSS, Decision(2, "filter", "other"))
    told(here, "target", Refusal(ID))
    assert told(here, "target", Reply(ID)) == [Send("target", Cancel(ID))]
    told(here, "other", Reply(second))
    told(here, "u", UpdateReply(second, "x", 1, 7))
    told(here, "v", UpdateReply(second, "y", 1, 3))
    assert here.handle(Drained(ID)) == []
    assert here.handle(Drained(second)) == [Ship(second, MOVED)]
    assert told(here, "target", Taken(ID)) == []
    assert told(here, "other", Taken(second)) == [Kill(second, MOVED)]


# --- giving up


def test_a_target_that_does_not_reply_is_given_up() -> None:
    here = source()
    told(here, BOSS, Decision(1, "filter", "target"))
    assert [here.handle(Tick()) for _ in range(3)] == [
        [Send("target", REQUEST)],
        [Send("target", REQUEST)],
        [Send("target", Cancel(ID))],
    ]
    assert not here.busy
    assert told(here, "target", Reply(ID)) == [Send("target", Cancel(ID))]


@pytest.mark.parametrize("begun", [redirecting, draining])
def test_a_migration_is_undone_until_the_state_has_left(begun: object) -> None:
    here = begun()  # type: ignore[operator]
    assert here.handle(Failed("target")) == [
        Send("target", Cancel(ID)),
        Send("u", UpdateRequest(ID, "x", 2, "source")),
        Send("v", UpdateRequest(ID, "y", 2, "source")),
    ]
    assert told(here, "target", Reply(ID)) == [Send("target", Cancel(ID))], "it was not dead"
    assert here.handle(Drained(ID)) == []
    assert told(here, "u", UpdateReply(ID, "x", 1, 7)) == []
    told(here, "u", UpdateReply(ID, "x", 2, 9))
    assert here.handle(Tick()) == [Send("v", UpdateRequest(ID, "y", 2, "source"))]
    told(here, "v", UpdateReply(ID, "y", 2, 3))
    assert not here.busy
    assert here.holdings.tasks["filter"] == {"t": TASK}


def test_once_the_state_has_left_it_is_said_until_it_is_there() -> None:
    here = draining()
    here.handle(Drained(ID))
    assert here.handle(Failed("target")) == []
    assert here.handle(Tick()) == [Send("target", Shipped(ID))]


def test_a_target_whose_source_gives_up_or_fails_forgets_it() -> None:
    for end in (Heard("source", Cancel(ID)), Failed("source")):
        here = peer("target", COOL)
        told(here, "source", REQUEST)
        assert here.handle(end) == [Drop(ID)]
        assert not here.busy
        assert told(here, "source", State(ID, MOVED, b"state"))[0] == Install(ID, MOVED, b"state")


def test_a_target_reminds_its_source_now_and_then() -> None:
    here = peer("target", COOL)
    here.handle(Tick())
    told(here, "source", REQUEST)
    assert [here.handle(Tick()) for _ in range(3)] == [[], [Send("source", Reply(ID))], []]


def test_a_source_that_asks_again_has_given_up_before() -> None:
    here = peer("target", COOL)
    told(here, "source", REQUEST)
    newer = changed(REQUEST, migration=Migration("source", 2))
    assert told(here, "source", newer) == [
        Drop(ID),
        Spawn(newer.migration, newer.holding),
        Send("source", Reply(newer.migration)),
    ]
    assert told(here, "source", REQUEST) == [], "it came late"
    assert told(here, "source", Cancel(ID)) == [], "it came late, too"
    assert here.busy


# --- neighbours that move, too


def test_a_request_follows_the_writer_of_a_stream() -> None:
    here = draining()
    here.handle(Drained(ID))
    request = UpdateRequest(Migration("down", 1), "z", 1, "elsewhere")
    assert told(here, "down", request) == [Send("down", Elsewhere("z", "target"))]
    there = taking()
    assert told(there, "down", request) == [], "it has no state yet"
    told(there, "source", State(ID, MOVED, b"state"))
    assert told(there, "down", request) == [Switch(request.migration, "z", 1, "elsewhere")]


def test_a_writer_that_has_moved_on_is_asked_there() -> None:
    here = redirecting()
    assert told(here, "v", Elsewhere("x", "w")) == [], "v does not write it"
    assert told(here, "u", Elsewhere("x", "w")) == [Send("w", UpdateRequest(ID, "x", 1, "target"))]
    assert told(here, "u", UpdateReply(ID, "x", 1, 7)) == []
    assert here.refused == {"sender": 2}
    told(here, "w", UpdateReply(ID, "x", 1, 7))
    assert told(here, "v", UpdateReply(ID, "y", 1, 3)) == [Drain(ID, {"x": 7, "y": 3})]


def test_a_state_is_sent_again_only_if_it_was_lost() -> None:
    here = draining()
    here.handle(Drained(ID))
    assert here.handle(Packed(ID, b"state")) == [Send("target", State(ID, MOVED, b"state"))]
    assert here.handle(Tick()) == [Send("target", Shipped(ID))]
    there = taking()
    assert told(there, "source", Shipped(ID)) == [Send("source", Wanted(ID))]
    assert told(here, "target", Wanted(ID)) == [Ship(ID, MOVED)]
    told(there, "source", State(ID, MOVED, b"state"))
    assert told(there, "source", Shipped(ID)) == [Send("source", Taken(ID))]


def test_a_moved_writer_introduces_itself_until_it_is_known() -> None:
    here = taking()
    told(here, "source", State(ID, MOVED, b"state"))
    introduce = Send("down", Introduce("z", 1))
    assert here.handle(Tick()) == [introduce]
    told(here, "down", Introduced("z", 0))
    assert here.handle(Tick()) == [introduce], "an answer to somebody before"
    told(here, "down", Introduced("z", 1))
    assert here.handle(Tick()) == []


def test_a_reader_of_a_stream_notes_its_writer() -> None:
    here = source()
    answers = [told(here, who, Introduce("x", moves)) for who, moves in (("w", 2), ("w", 2), ("old", 1))]
    assert answers == [[Send(who, Introduced("x", moves))] for who, moves in (("w", 2), ("w", 2), ("old", 1))]
    assert here.holdings.upstreams == {"x": Writer("w", 2), "y": Writer("v")}
    assert told(here, "w", Introduce("unread", 1)) == []


def test_an_introduction_ends_when_the_stream_has_moved_on() -> None:
    here = draining()
    late = Holding(
        "filter", (Task("late", ("l",), ("k",)),), {"l": Writer("u")}, {"l": 3}, {"k": Route(0, "down")}
    )
    lately(here, late)
    assert Send("down", Introduce("k", 0)) in here.handle(Tick())
    here.holdings.remove("filter", late.tasks, "elsewhere")
    assert Send("down", Introduce("k", 0)) not in here.handle(Tick())


def test_a_route_that_was_changed_on_the_way_moves_with_its_task() -> None:
    here = draining()
    told(here, "down", UpdateRequest(Migration("down", 1), "z", 1, "elsewhere"))
    assert here.handle(Drained(ID)) == [], "only here it will be known which tuple was the last"
    assert here.handle(Tick()) == [Drain(ID, {"x": 7, "y": 3})]
    here.handle(Switched(Migration("down", 1), "z", 1, 5))
    [ship] = here.handle(Drained(ID))
    assert isinstance(ship, Ship)
    assert ship.holding.routes == {"z": Route(1, "elsewhere", 5, 1, "down")}


def test_tasks_wait_for_every_stream_that_is_being_switched() -> None:
    task, holdings = Task("t", (), ("a", "b")), Holdings()
    for last, waits in ((None, True), (7, False)):
        holdings.add(Holding("filter", (task,), {}, {}, {"a": Route(0, "down"), "b": Route(1, "down", last)}))
        assert holdings.switching((task,)) == waits


def test_tasks_that_come_while_others_leave_stay() -> None:
    here = draining()
    late = Holding("filter", (Task("late", ("l",), ()),), {"l": Writer("u")}, {"l": 3}, {})
    lately(here, late)
    [ship] = here.handle(Drained(ID))
    assert isinstance(ship, Ship)
    assert ship.holding == MOVED
    assert here.holdings.tasks["filter"] == {"late": late.tasks[0]}
