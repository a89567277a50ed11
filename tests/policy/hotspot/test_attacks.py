"""Every message between peers x every attack; and what others may not say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.policy.hotspot import test_migration as scenes
from tests.policy.hotspot.test_migration import BOSS, COOL, HOT, ID, MOVED, REQUEST
from tests.policy.machines.attacks import ATTACKS, Scene, attacked, handed_over, said_again
from tests.policy.machines.hosting import Hosted

from australis.policy.hotspot import messages as m
from australis.policy.machines import Returned

WRITER = m.Migration("source", 1)


def writing() -> Hosted:
    here = scenes.peer("u")
    here.handle(m.Writes("x", "source"))
    return here


def asking() -> Hosted:
    """A source that has asked a target."""
    here = scenes.source()
    here.hear(BOSS, m.Decision(1, "filter", "target"))
    return here


def shipping() -> Hosted:
    here = scenes.draining()
    here.handle(m.Drained(ID))
    here.handle(m.Packed(ID, b"state"))
    return here


def moved_here() -> Hosted:
    here = scenes.taking()
    here.hear("source", m.State(ID, MOVED, b"state"))
    return here


def scene(here: Hosted, sender: str, message: m.Message, **how: int) -> Scene:
    return Scene(here.machine, sender, message, **how)


SCENES: dict[str, Callable[[], Scene]] = {
    "LoadUpdate": lambda: scene(scenes.peer("me"), "hot", m.LoadUpdate(("filter",), HOT, 5)),
    "Unregister": lambda: scene(scenes.peer("me"), "hot", m.Unregister(("filter",))),
    "Decision": lambda: scene(scenes.source(), BOSS, m.Decision(1, "filter", "target")),
    "Request": lambda: scene(scenes.peer("target", COOL), "source", REQUEST),
    "Reply": lambda: scene(asking(), "target", m.Reply(ID)),
    "Refusal": lambda: scene(asking(), "target", m.Refusal(ID)),
    "UpdateRequest": lambda: scene(writing(), "source", m.UpdateRequest(ID, "x", 1, "target")),
    "UpdateReply": lambda: scene(scenes.redirecting(), "u", m.UpdateReply(ID, "x", 1, 7)),
    "State": lambda: scene(scenes.taking(), "source", m.State(ID, MOVED, b"state")),
    "Taken": lambda: scene(shipping(), "target", m.Taken(ID)),
    "Shipped": lambda: scene(scenes.taking(), "source", m.Shipped(ID)),
    "Wanted": lambda: scene(shipping(), "target", m.Wanted(ID)),
    "Cancel": lambda: scene(scenes.taking(), "source", m.Cancel(ID)),
    "Elsewhere": lambda: scene(scenes.redirecting(), "u", m.Elsewhere("x", "w")),
    "Introduce": lambda: scene(scenes.source(), "w", m.Introduce("x", 2)),
    "Introduced": lambda: scene(moved_here(), "down", m.Introduced("z", 1)),
    "Returned": lambda: scene(scenes.source(), "w", Returned(1, 1), incarnation=2),
}


def test_there_is_a_scene_for_each_message() -> None:
    assert {kind.__name__ for kind in m.Message.__args__} <= SCENES.keys()


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("message", SCENES)
def test_an_attack_changes_nothing(message: str, attack: str) -> None:
    attacked(SCENES[message](), attack)


@pytest.mark.parametrize("message", SCENES)
def test_the_true_message_is_understood_and_has_no_second_effect(message: str) -> None:
    scene = SCENES[message]()
    before = dict(scene.machine.refused)
    handed_over(scene)
    assert scene.machine.refused == before
    said_again(SCENES[message]())


@pytest.mark.parametrize("sender", ["slow", "target"])
@pytest.mark.parametrize(
    "message",
    [
        "Decision",
        "Request",
        "UpdateRequest",
        "UpdateReply",
        "State",
        "Shipped",
        "Cancel",
        "Elsewhere",
        "Introduced",
    ],
)
def test_a_member_cannot_speak_for_another(message: str, sender: str) -> None:
    true = SCENES[message]()
    false = Scene(true.machine, sender, true.message)
    refused, before = true.machine.refused.total(), true.machine.state()
    if sender == true.machine.name:
        return
    assert handed_over(false) == []
    assert true.machine.refused.total() == refused + 1
    assert true.machine.state() == before


@pytest.mark.parametrize("message", ["Refusal", "Taken", "Wanted"])
def test_only_the_target_answers_for_itself(message: str) -> None:
    true = SCENES[message]()
    assert handed_over(Scene(true.machine, "slow", true.message)) == []
    assert true.machine.refused == {"late": 1}


def test_a_state_that_was_not_asked_for_is_not_taken() -> None:
    here = scenes.peer("target", COOL)
    assert here.hear("source", m.State(ID, MOVED, b"state")) == []
    here.hear("source", REQUEST)
    other = MOVED._replace(tasks=())
    assert here.hear("source", m.State(ID, other, b"state")) == []
    assert here.refused == {"unexpected": 2}


def test_only_the_reader_of_a_stream_may_redirect_it() -> None:
    here = writing()
    thief = m.Migration("hot", 1)
    assert here.hear("hot", m.UpdateRequest(thief, "x", 1, "hot")) == []
    assert here.refused == {"sender": 1}
    assert here.holdings.routes["x"] == m.Route(0, "source")
