"""What a machine writes down is all that it must not forget, and fits into letters."""

from __future__ import annotations

import pytest
from tests.cluster.membership.test_gossip import settle
from tests.cluster.world import World, name_of

from australis.cluster.catalogue import Announce, Kind
from australis.cluster.names import Publish
from australis.cluster.wire import LETTER_MOST
from australis.policy.machines import ENCODE, Send, decoded


@pytest.mark.parametrize("topic", ["members", "catalogue", "names"])
def test_a_machine_that_is_made_again_from_its_snapshot_has_the_same_state(topic: str) -> None:
    world = World(5, seed=1)
    settle(world, 30)
    world.tell(name_of(0), "catalogue", Announce("lab/a", Kind.STREAM, "k long"))
    world.tell(name_of(0), "names", Publish("lab/a", Kind.STREAM, "k long"))
    world.crash(name_of(3))
    world.run(12.0)
    for name in world.up():
        machine = world.core(name)._machines[topic]
        setup = decoded(machine.SETUP, ENCODE(machine.setup()))
        again = type(machine).of(name, setup, machine.incarnation)
        again.restore(machine.snapshot())
        assert again.snapshot() == machine.snapshot()


def test_letters_are_not_too_long_whatever_names_are() -> None:
    world = World(4, seed=2)
    lengths: list[int] = []
    carry = world._carry

    def measured(name: str, told: list) -> list:  # type: ignore[type-arg]
        lengths.extend(len(each.command.letter) for each in told if isinstance(each.command, Send))
        return carry(name, told)

    world._carry = measured  # type: ignore[method-assign]
    settle(world, 30)
    wide = "\u20ac" * 240
    for number in range(100):
        name = f"lab/{number}{wide}"
        world.tell(name_of(0), "catalogue", Announce(name, Kind.STREAM, "\u20ac" * 2000))
        world.tell(name_of(0), "names", Publish(name, Kind.STREAM, "\u20ac" * 2000))
    world.start(name_of(2))
    world.run(90.0)
    assert len(list(world.core(name_of(2)).catalogue.all())) == 100
    assert world.core(name_of(0)).names.shelf.unsettled == 0
    assert max(lengths) <= LETTER_MOST
