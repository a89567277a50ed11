"""All nodes of a participant know what each of them has; nobody else does."""

from __future__ import annotations

from random import Random

import pytest
from tests.cluster.membership.test_gossip import disturb, settle
from tests.cluster.world import SEEDS, World, name_of

from australis.cluster.catalogue import Announce, Kind, Withdraw
from australis.sim.kernel import Faults, Links


def announce(world: World, node: str, *names: str) -> None:
    for each in names:
        world.tell(node, "catalogue", Announce(each, Kind.STREAM, f"schema of {each}"))


def seen(world: World, node: str) -> set[tuple[str, str]]:
    return {(owner, held.name) for owner, held in world.core(node).catalogue.all()}


def lab(world: World) -> list[str]:
    return [name for name in world.up() if name.startswith("lab/")]


@pytest.fixture
def world() -> World:
    made = World(8, seed=1)
    settle(made, 30)
    return made


def test_nodes_of_one_participant_know_what_each_has_and_others_nothing(world: World) -> None:
    announce(world, name_of(0), "lab/a", "lab/b")
    announce(world, name_of(2), "lab/c")
    announce(world, name_of(1), "shop/d")
    world.run(0.1)
    for node in lab(world):
        assert seen(world, node) == {(name_of(0), "lab/a"), (name_of(0), "lab/b"), (name_of(2), "lab/c")}
    assert seen(world, name_of(3)) == {(name_of(1), "shop/d")}


def test_a_thousand_holdings_reach_one_that_comes_late(world: World) -> None:
    world.crash(name_of(4))
    announce(world, name_of(0), *(f"lab/{number}" for number in range(1000)))
    world.start(name_of(4))
    world.run(20.0)
    assert len(seen(world, name_of(4))) == 1000


def test_what_has_moved_is_known_to_be_elsewhere(world: World) -> None:
    announce(world, name_of(0), "lab/a")
    world.tell(name_of(0), "catalogue", Withdraw("lab/a", name_of(2)))
    announce(world, name_of(2), "lab/a")
    world.run(0.1)
    places = world.core(name_of(4)).catalogue.places("lab/a")
    assert [(owner, held.is_gone, held.moved) for owner, held in places] == [
        (name_of(0), True, name_of(2)),
        (name_of(2), False, ""),
    ]


@pytest.mark.parametrize("has_something", [True, False])
def test_a_new_life_has_only_what_it_announces(world: World, has_something: bool) -> None:
    announce(world, name_of(0), "lab/a", "lab/b")
    world.run(1.0)
    world.crash(name_of(0))
    world.start(name_of(0))
    # The first node has no address to begin with: others find it.
    if has_something:
        announce(world, name_of(0), "lab/b")
    settle(world)
    world.run(20.0)
    assert seen(world, name_of(2)) == ({(name_of(0), "lab/b")} if has_something else set())


def test_a_world_in_which_nothing_happens_says_little(world: World) -> None:
    announce(world, name_of(0), "lab/a")
    world.run(10.0)
    before = world.letters
    world.run(60.0)
    assert (world.letters - before) / 60 < 6 * len(world.nodes)


@pytest.mark.parametrize("first", SEEDS)
def test_whatever_happens_all_know_the_same_in_the_end(first: int) -> None:
    for seed in range(first, first + 10):
        chance = Random(seed)
        world = World(
            chance.randint(4, 8),
            seed,
            Faults(chance.uniform(0, 0.2), chance.uniform(0, 0.2), chance.uniform(0, 0.2)),
        )
        held: dict[str, set[str]] = {}
        lives: dict[str, int] = {}
        for _ in range(40):
            world.run(chance.uniform(0, 2))
            if chance.random() < 0.1:
                disturb(world, chance)
                continue
            node = chance.choice(world.up())
            if lives.get(node) != world.nodes[node].life:
                lives[node], held[node] = world.nodes[node].life, set()
            name = f"{node.partition('/')[0]}/{chance.randrange(5)}"
            if name in held[node]:
                world.tell(node, "catalogue", Withdraw(name))
                held[node].discard(name)
            else:
                announce(world, node, name)
                held[node].add(name)
        world.split({})
        world.net.links = Links(latency=0.005, ordered=True)
        if not world.nodes[name_of(0)].is_up:
            world.start(name_of(0))
        settle(world, 240)
        world.run(30.0)
        for node in lab(world):
            for owner in lab(world):
                mine = held[owner] if lives.get(owner) == world.nodes[owner].life else set()
                known = {name for each, name in seen(world, node) if each == owner}
                assert known == mine, f"seed {seed}: {node} of {owner}"
