"""What is forged, repeated, too large or from somebody else is refused, counted, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from tests.cluster.membership.test_gossip import settle
from tests.cluster.world import World, credentials, name_of

from australis.cluster.identity import Credentials
from australis.cluster.membership import Presence, State, presence_bytes
from australis.cluster.membership.messages import Ack, Death, Doubt, News
from australis.policy.machines import ENCODE, Letter, Received
from australis.policy.machines.values import VERSION

HERE, SENDER, OTHER = name_of(0), name_of(1), name_of(2)


@pytest.fixture
def world() -> World:
    made = World(4, seed=1)
    settle(made, 30)
    return made


def presence(name: str, incarnation: int, by: Credentials, host: str = "10.0.0.1") -> Presence:
    return Presence(name, host, 1, incarnation, by.seal(presence_bytes(name, host, 1, incarnation)))


def known(world: World, name: str) -> int:
    return world.core(HERE).members.members[name].presence.incarnation


def written(world: World, said: object, /, **changes: object) -> bytes:
    given = {
        "version": VERSION,
        "policy": "members",
        "sender": SENDER,
        "incarnation": world.nodes[SENDER].life,
        "to": HERE,
        "number": 1_000_000,
        "message": msgspec.Raw(ENCODE(said)),
    }
    return ENCODE(Letter(**{**given, **changes}))  # type: ignore[arg-type]


def twisted(world: World) -> object:
    """The true presence of a node, with another address."""
    return msgspec.structs.replace(
        world.core(HERE).members.members[OTHER].presence, host="evil", incarnation=known(world, OTHER) + 1
    )


FALSE: dict[str, tuple[str, Callable[[World], object]]] = {
    "a presence that somebody else has signed": (
        "seal",
        lambda world: presence(OTHER, known(world, OTHER) + 1, credentials(SENDER)),
    ),
    "a presence that was changed": ("seal", twisted),
    "a doubt in an incarnation that is to come": (
        "ahead",
        lambda world: Doubt(OTHER, known(world, OTHER) + 1),
    ),
    "a death in an incarnation that is to come": (
        "ahead",
        lambda world: Death(OTHER, known(world, OTHER) + 9),
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_false_news_are_counted_and_change_nothing(world: World, what: str) -> None:
    why, made = FALSE[what]
    machine = world.core(HERE).members
    before = ENCODE(machine.members)
    machine.refused.clear()
    world.tell(HERE, "members", Received(SENDER, written(world, News((made(world),)))))  # type: ignore[arg-type]
    assert machine.refused == {why: 1}
    assert ENCODE(machine.members) == before


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("identity", {"sender": OTHER}),
        ("address", {"to": OTHER}),
        ("address", {"policy": "names"}),
        ("version", {"version": 9}),
        ("stale", {"incarnation": 1}),
        ("message", {"policy": "members", "message": msgspec.Raw(b'{"type":"Death"}')}),
    ],
)
def test_a_letter_that_is_not_right_is_refused(world: World, why: str, changes: dict[str, object]) -> None:
    machine = world.core(HERE).members
    before = ENCODE(machine.members)
    machine.refused.clear()
    data = written(world, News((Doubt(OTHER, known(world, OTHER)),)), **changes)
    world.tell(HERE, "members", Received(SENDER, data))
    assert machine.refused == {why: 1}
    assert ENCODE(machine.members) == before


def test_a_letter_that_is_repeated_is_refused(world: World) -> None:
    data = written(world, News(()))
    machine = world.core(HERE).members
    machine.refused.clear()
    for _ in range(2):
        world.tell(HERE, "members", Received(SENDER, data))
    assert machine.refused == {"repeat": 1}


def test_nobody_answers_for_another_node(world: World) -> None:
    """A ping counts as answered by the node it was for, or by one that was asked to help."""
    machine = world.core(HERE).members
    machine.refused.clear()
    world.crash(OTHER)
    while not any(each.target == OTHER for each in machine._pinged.values()):
        world.run(0.05)
    (number,) = [number for number, each in machine._pinged.items() if each.target == OTHER]
    world.tell(HERE, "members", Received(SENDER, written(world, Ack(number, ()))))
    assert machine.refused == {"unasked": 1}
    assert number in machine._pinged


def test_a_death_that_another_node_claims_is_a_doubt_that_can_be_answered(world: World) -> None:
    before = known(world, OTHER)
    world.tell(HERE, "members", Received(SENDER, written(world, News((Death(OTHER, before),)))))
    assert world.core(HERE).members.members[OTHER].state is State.SUSPECT
    world.run(20.0)
    member = world.core(HERE).members.members[OTHER]
    assert (member.state, member.presence.incarnation) == (State.ALIVE, before + 1)
