"""Every message of the market x every attack; and messages that are well made, but make no sense."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.policy.machines.attacks import ATTACKS, Scene, attacked, handed_over, said_again
from tests.policy.machines.hosting import Hosted

from australis.policy.machines import Refuse, Returned, Say, Send, Started
from australis.policy.trade import messages as m
from australis.policy.trade.contract import Contract, Task, fixed
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.holding import Settings
from australis.policy.trade.participant import Participant

COST = CostCurve(slopes=(10, 20, 30, 40, 50, 60))
A, B, C, D, E = (Task(name) for name in "abcde")
SETTINGS = Settings(2000, patience=500, notify=True)


def giver() -> Hosted:
    """One that has made an offer to t."""
    one = Hosted(Participant("g", COST, [fixed("g", "t", 35)], [A, B, C, D, E], SETTINGS))
    one.handle(Started(), 0)
    assert one.handle(m.Woke("offer"), 2000)[0] == Say("t", m.Offer(1, 35, (A, B)))
    return one


def moving() -> Hosted:
    """One that has moved something to t."""
    one = giver()
    one.hear("t", m.Accepted(1, ("a",)), 2010)
    return one


def taker(*, promised: bool = True) -> Hosted:
    """One that has promised something to g."""
    one = Hosted(Participant("t", COST, [fixed("g", "t", 25), fixed("t", "g", 90)], [], SETTINGS))
    if promised:
        one.hear("g", m.Offer(1, 25, (A, B)), 100)
        assert one.handle(m.Woke("answer"), 2000)[0] == Say("g", m.Accepted(1, ("a", "b")))
    return one


SCENES: dict[str, Callable[[], Scene]] = {
    "Offer": lambda: Scene(taker(promised=False).machine, "g", m.Offer(1, 25, (A,)), 100),
    "Accepted": lambda: Scene(giver().machine, "t", m.Accepted(1, ("a",)), 2010),
    "Asked": lambda: Scene(giver().machine, "t", m.Asked(1, 40), 2010),
    "Rejected": lambda: Scene(giver().machine, "t", m.Rejected(1), 2010),
    "Withdrawn": lambda: Scene(taker().machine, "g", m.Withdrawn(1), 2010),
    "Moved": lambda: Scene(taker().machine, "g", m.Moved(1, 25, (A,)), 2010),
    "Taken": lambda: Scene(moving().machine, "t", m.Taken(1), 2020),
    "Undone": lambda: Scene(moving().machine, "t", m.Undone(1), 2020),
    "Relieved": lambda: Scene(giver().machine, "t", m.Relieved(), 2010),
    "Returned": lambda: Scene(taker().machine, "g", Returned(1, 1), 2010, incarnation=2),
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
    handed_over(scene)
    assert not scene.machine.refused


@pytest.mark.parametrize("message", SCENES)
def test_what_is_said_again_or_overtaken_has_no_second_effect(message: str) -> None:
    said_again(SCENES[message]())


@pytest.mark.parametrize(
    ("moved", "why"),
    [
        (m.Moved(2, 25, (A,)), "unpromised"),
        (m.Moved(1, 0, (A,)), "unpromised"),
        (m.Moved(1, 26, (A,)), "unpromised"),
        (m.Moved(1, 25, (C,)), "unpromised"),
        (m.Moved(1, 25, (Task("a", 15),)), "unpromised"),
        (m.Moved(1, 25, (A, A)), "unpromised"),
        (m.Moved(1, 25, (A, C)), "unpromised"),
    ],
)
def test_only_what_was_promised_can_be_moved_and_at_that_price(moved: m.Moved, why: str) -> None:
    one = taker()
    before = one.state()
    assert one.hear("g", moved, 2010) == []
    assert one.refused == {why: 1}
    assert one.state() == before


def test_a_movement_without_any_promise_is_refused() -> None:
    one = taker(promised=False)
    assert one.hear("g", m.Moved(1, 25, (A,)), 100) == []
    assert (one.refused, one.holding.balance) == ({"unpromised": 1}, 0)


def test_a_task_of_a_name_that_is_here_or_promised_is_not_taken() -> None:
    one = Hosted(Participant("t", COST, [fixed("g", "t", 25), fixed("h", "t", 25)], [B], SETTINGS))
    one.hear("g", m.Offer(1, 25, (A, B)), 100)
    one.hear("h", m.Offer(1, 24, (A, C)), 100)
    answers = one.handle(m.Woke("answer"), 2000)
    assert answers[0] == Say("g", m.Accepted(1, ("a",)))
    assert Say("h", m.Rejected(1)) in answers
    assert one.handle(m.Came(Task("a", 7)), 2010) == []
    assert one.refused == {"twice": 1}
    one.hear("g", m.Moved(1, 25, (A,)), 2020)
    one.handle(m.Installed("g", 1), 2030)
    assert (one.holding.load, one.holding.balance) == (2, 25)


def test_an_offer_of_one_task_twice_is_refused() -> None:
    one = taker(promised=False)
    assert one.hear("g", m.Offer(1, 25, (A, A)), 100) == []
    assert one.refused == {"twice": 1}


def test_a_load_that_grows_is_no_error_and_is_not_moved_at_the_old_size() -> None:
    one = giver()
    assert one.handle(m.Came(Task("a", 2)), 2005) == []
    assert (one.holding.load, one.holding.tasks["a"]) == (7, Task("a", 3))
    said = one.hear("t", m.Accepted(1, ("a", "b")), 2010)
    assert said[1] == Say("t", m.Moved(1, 35, (B,)))


def test_a_measured_load_replaces_the_old_one() -> None:
    one = Hosted(Participant("g", COST, [fixed("g", "t", 35)], [A], Settings(2000)))
    one.handle(m.Measured("a", 5), 100)
    assert (one.holding.load, one.handle(m.Measured("a", 2), 200), one.holding.load) == (5, [], 2)
    for bad in (m.Measured("a", 0), m.Measured("z", 3), m.Came(Task("y", 0)), m.Agreed(fixed("x", "y", 3))):
        assert one.handle(bad, 300) == []
    assert one.refused == {"load": 3, "contract": 1}


def test_what_cannot_be_made_to_run_goes_back_with_its_money() -> None:
    there = taker()
    assert there.hear("g", m.Moved(1, 25, (A,)), 2010) == [m.Take("g", 1, (A,))]
    assert there.handle(m.Installed("g", 1, False), 2020)[0] == Say("g", m.Undone(1))
    assert (there.holding.load, there.holding.balance, there.taker.promises) == (0, 0, {})
    assert there.hear("g", m.Moved(1, 25, (A,)), 2030) == [Say("g", m.Undone(1))]
    here = moving()
    assert here.holding.balance == -35
    assert here.hear("t", m.Undone(1), 2100)[0] == m.Regained("t", (A,))
    assert (here.holding.balance, here.holding.load, sorted(here.holding.tasks)) == (0, 5, list("abcde"))


def test_a_restart_says_again_what_is_open() -> None:
    old = moving()
    new = Participant("g", COST, [fixed("g", "t", 35)], [A, B, C, D, E], SETTINGS, incarnation=2)
    new.restore(old.snapshot())
    one = Hosted(new)
    assert one.handle(Started(), 3000)[0] == Say("t", Returned(1, 2))
    one._numbers["t"] = 10
    assert one.hear("t", m.Taken(1), 3005) == [], "it does not know yet whether it has forgotten anything"
    assert one.refused == {"asking": 1}


def test_an_old_snapshot_is_found_out_and_fenced() -> None:
    """A giver that has forgotten a movement would give the same tasks to somebody else."""
    one, there = giver(), taker(promised=False)
    old = one.snapshot()
    numbers = [each for each in one.machine.handle(m.Woke("patience", 1), 2500) if isinstance(each, Send)]
    for send in numbers:
        there.machine.handle(_received(send), 2500)
    new = Participant("g", COST, [fixed("g", "t", 35)], [A, B, C, D, E], SETTINGS, incarnation=2)
    new.restore(old)
    asked = new.handle(Started(), 3000)[0]
    [answer] = there.machine.handle(_received(asked), 3000)
    assert answer.kind == "Forgotten"
    [fence] = new.handle(_received(answer, "t"), 3010)
    assert (fence.partner, new.is_fenced) == ("t", True)
    assert new.handle(m.Came(Task("new")), 3020) == []
    assert new.refused == {"fenced": 1}


def _received(send: Send, identity: str = "g") -> object:
    from australis.policy.machines import Received

    return Received(identity, send.letter)


def test_an_event_that_nobody_knows_is_refused() -> None:
    one = giver()
    assert one.handle(Refuse("x"), 2000) == []
    assert one.refused == {"event": 1}


def test_a_contract_that_ends_does_not_void_a_promise() -> None:
    one = Hosted(Participant("t", COST, [fixed("g", "t", 25)], [], SETTINGS))
    one.hear("g", m.Offer(1, 25, (A,)), 100)
    one.handle(m.Woke("answer"), 2000)
    one.handle(m.Terminated("g", "t"), 2005)
    assert one.hear("g", m.Moved(1, 25, (A,)), 2010) == [m.Take("g", 1, (A,))]


def test_a_price_is_that_of_a_contract() -> None:
    with pytest.raises(Exception, match="a range"):
        Contract("g", "t", 5, 3)
