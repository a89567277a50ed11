"""Nodes learn of each other, of deaths and of returns, whatever the network does."""

from __future__ import annotations

from random import Random

import pytest
from tests.cluster.world import SEEDS, World, name_of

from australis.cluster.membership import Changed, Leave, Seek, State
from australis.sim.kernel import Faults


def live(world: World, name: str) -> list[str]:
    """Who a node believes to be alive or only suspects."""
    members = world.core(name).members.members
    return sorted(each for each, member in members.items() if member.is_live)


def agree(world: World) -> bool:
    return all(live(world, name) == world.up() for name in world.up())


def settle(world: World, seconds: int = 120) -> None:
    """Run until all nodes know exactly those that are up."""
    for _ in range(seconds):
        world.run(1.0)
        if agree(world):
            return
    raise AssertionError({name: live(world, name) for name in world.up()})


def test_all_learn_of_all_from_one_address() -> None:
    world = World(20, seed=1)
    settle(world, 30)
    assert world.core(name_of(7)).members.members[name_of(12)].presence.port == 13


def test_one_that_crashes_is_found_dead_by_all_and_one_that_returns_alive() -> None:
    world = World(8, seed=2)
    settle(world, 30)
    world.crash(name_of(3))
    settle(world)
    world.start(name_of(3))
    settle(world)


def test_who_leaves_need_not_be_suspected_first() -> None:
    world = World(6, seed=3)
    settle(world, 30)
    world.tell(name_of(4), "members", Leave())
    world.run(0.02)
    world.crash(name_of(4))
    world.run(1.0)
    states = [world.core(name).members.members[name_of(4)].state for name in world.up()]
    assert states == [State.DEAD] * 5


def test_a_node_that_cannot_reach_one_other_is_helped() -> None:
    """Only letters between two nodes are lost: nobody is suspected."""
    world = World(6, seed=4)
    settle(world, 30)
    one, other = name_of(1), name_of(2)
    can_pass = world._can_pass
    world._can_pass = lambda a, b: {a, b} != {one, other} and can_pass(a, b)  # type: ignore[method-assign]
    for node in world.nodes.values():
        node.told.clear()
    world.run(60.0)
    told = [each.command for node in world.nodes.values() for each in node.told]
    assert [each for each in told if isinstance(each, Changed)] == []


def test_a_doubt_is_answered_with_a_greater_incarnation() -> None:
    world = World(5, seed=5)
    settle(world, 30)
    name = name_of(2)
    before = world.core(name).members.members[name].presence.incarnation
    world.split({name: 1})
    world.run(4.0)
    world.split({})
    settle(world)
    assert world.core(name).members.members[name].presence.incarnation > before


def test_both_sides_of_a_partition_find_each_other_again() -> None:
    world = World(8, seed=6)
    settle(world, 30)
    world.split({name_of(number): number % 3 == 0 for number in range(8)})
    world.run(60.0)
    assert len(live(world, name_of(0))) == 3
    assert len(live(world, name_of(1))) == 5
    world.split({})
    settle(world)


def test_the_first_addresses_are_tried_again_even_if_others_are_known() -> None:
    """Two groups that began apart would not find each other otherwise."""
    world = World(3, seed=7)
    settle(world, 30)
    world.nodes[name_of(0)].told.clear()
    world.run(15.0)
    assert any(isinstance(each.command, Seek) for each in world.nodes[name_of(0)].told)


@pytest.mark.parametrize("first", SEEDS)
def test_whatever_happens_all_agree_in_the_end(first: int) -> None:
    for seed in range(first, first + 10):
        chance = Random(seed)
        faults = Faults(chance.uniform(0, 0.15), chance.uniform(0, 0.2), chance.uniform(0, 0.2))
        world = World(chance.randint(3, 8), seed, faults)
        for _ in range(6):
            world.run(chance.uniform(0, 15))
            disturb(world, chance)
        world.split({})
        world.net.links = type(world.net.links)(latency=0.005, ordered=True)
        if not world.nodes[name_of(0)].is_up:
            world.start(name_of(0))
        settle(world, 240)


def disturb(world: World, chance: Random) -> None:
    names = sorted(world.nodes)
    match chance.randrange(4):
        case 0 if len(world.up()) > 1:
            world.crash(chance.choice(world.up()))
        case 1:
            down = [name for name in names if not world.nodes[name].is_up]
            if down:
                world.start(chance.choice(down))
        case 2:
            world.split({name: chance.randrange(2) for name in names})
        case _:
            world.split({})
