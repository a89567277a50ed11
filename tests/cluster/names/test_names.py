"""Names are found from everywhere and are not lost, whatever the network does; what is false is refused."""

from __future__ import annotations

from random import Random

import msgspec
import msgspec.json
import pytest
from tests.cluster.membership.test_gossip import disturb, settle
from tests.cluster.world import SEEDS, World, credentials, name_of

from australis.cluster.catalogue import Kind
from australis.cluster.names import Ask, Found, Publish, Record, Retract, Search, record_bytes
from australis.cluster.names.messages import Answer, Matched, Store, Want
from australis.cluster.names.questions import Question
from australis.policy.machines import ENCODE, Letter, Received
from australis.policy.machines.values import VERSION
from australis.sim.kernel import Faults, Links


def publish(world: World, number: int, *names: str) -> None:
    owner = name_of(number)
    for each in names:
        name = f"{owner.partition('/')[0]}/{each}"
        world.tell(owner, "names", Publish(name, Kind.STREAM, "k long"))


def ask(world: World, asker: str, name: str) -> Found:
    """What a node finds under a name."""
    number = world.letters + 1_000_000
    world.nodes[asker].told.clear()
    world.tell(asker, "names", Ask(number, name))
    for _ in range(100):
        for each in world.nodes[asker].told:
            if isinstance(each.command, Found) and each.command.number == number:
                return each.command
        world.run(0.05)
    raise AssertionError(f"{asker} has no answer about {name}")


def owners(found: Found) -> list[str]:
    return [each.owner for each in found.records if not each.is_gone]


def copies(world: World, name: str) -> int:
    """How many living nodes have a record of a name."""
    return sum(any(key[0] == name for key in world.core(node).names.shelf.records) for node in world.up())


@pytest.fixture
def world() -> World:
    made = World(10, seed=1)
    settle(made, 30)
    for number in range(10):
        publish(made, number, *(f"s{number}-{index}" for index in range(5)))
    made.run(5.0)
    return made


def test_each_node_finds_each_name_in_two_hops_at_most(world: World) -> None:
    for number in range(10):
        name = f"{name_of(number).partition('/')[0]}/s{number}-3"
        for asker in world.up():
            found = ask(world, asker, name)
            assert owners(found) == [name_of(number)]
            assert found.hops <= 1, "every node knows the ring"


def test_a_node_that_does_not_know_the_ring_well_is_helped_in_a_second_hop(world: World) -> None:
    asker, name = name_of(0), "shop/s1-0"
    ring = world.core(asker).names.ring
    for keeper in world.core(asker).names.shelf.keepers(name):
        ring.remove(keeper)
    while not set(ring.keepers(name, 3)).isdisjoint({name_of(1), asker}):
        ring.remove(ring.keepers(name, 3)[0])
    found = ask(world, asker, name)
    assert (owners(found), found.hops) == ([name_of(1)], 2)


def test_a_name_that_nobody_has_is_not_found(world: World) -> None:
    assert ask(world, name_of(4), "lab/nothing").records == ()


def test_patterns_are_found_all_over_the_ring(world: World) -> None:
    world.tell(name_of(3), "names", Search(7, "lab/s4-*"))
    world.run(1.0)
    (matched,) = [each.command for each in world.nodes[name_of(3)].told if isinstance(each.command, Matched)]
    assert [each[0] for each in matched.names] == [f"lab/s4-{index}" for index in range(5)]
    assert matched.is_whole


def test_two_that_die_at_once_take_no_name_along_and_copies_are_made_again(world: World) -> None:
    everything = {key for node in world.up() for key in world.core(node).names.shelf.records}
    assert len(everything) == 50
    for number in (3, 6):
        world.crash(name_of(number))
    settle(world)
    world.run(10.0)
    assert all(copies(world, name) >= 3 for name, _ in everything)


def test_what_is_not_renewed_expires_and_what_is_renewed_does_not() -> None:
    world = World(5, seed=2, lifetime_us=30_000_000)
    settle(world, 30)
    publish(world, 1, "a")
    publish(world, 2, "b")
    world.run(45.0)
    world.crash(name_of(1))
    world.run(45.0)
    assert ask(world, name_of(0), "shop/a").records == ()
    assert owners(ask(world, name_of(0), "lab/b")) == [name_of(2)]
    assert copies(world, "shop/a") == 0


def test_who_has_moved_something_says_where(world: World) -> None:
    world.tell(name_of(1), "names", Retract("shop/s1-0", name_of(3)))
    world.tell(name_of(3), "names", Publish("shop/s1-0", Kind.STREAM, "k long"))
    world.run(1.0)
    found = ask(world, name_of(0), "shop/s1-0")
    assert [(each.owner, each.is_gone, each.moved) for each in found.records] == [
        (name_of(1), True, name_of(3)),
        (name_of(3), False, ""),
    ]


def test_one_that_begins_anew_without_a_name_says_that_it_has_it_no_more(world: World) -> None:
    world.crash(name_of(1))
    world.run(1.0)
    world.start(name_of(1))
    publish(world, 1, "s1-1")
    settle(world)
    world.run(70.0)
    assert owners(ask(world, name_of(0), "shop/s1-0")) == []
    assert owners(ask(world, name_of(0), "shop/s1-1")) == [name_of(1)]


# --- what is false


def record(world: World, **changes: object) -> Record:
    given = {
        "name": "shop/s1-0",
        "owner": name_of(1),
        "kind": Kind.STREAM,
        "version": world.now,
        "expires": world.now + 60_000_000,
    }
    return Record(**{**given, **changes})  # type: ignore[arg-type]


def sealed(draft: Record, by: str) -> Record:
    return msgspec.structs.replace(draft, seal=credentials(by).seal(record_bytes(draft)))


def letter(world: World, sender: str, to: str, message: object, policy: str = "names") -> Received:
    core = world.core(to)
    life = core.names._post.state.heard[sender].incarnation if sender in core.names._post.state.heard else 1
    raw = msgspec.Raw(ENCODE(message))
    data = ENCODE(Letter(VERSION, policy, sender, life, to, 1_000_000 + world.letters, raw))
    world.letters += 1
    return Received(sender, data)


FALSE = {
    "unsigned": record,
    "signature": lambda world: sealed(record(world), name_of(3)),
    "expired": lambda world: sealed(record(world, expires=world.now), name_of(1)),
    "lifetime": lambda world: sealed(record(world, expires=world.now + 10**12), name_of(1)),
    "older": lambda world: sealed(record(world, version=1), name_of(1)),
    "foreign": lambda world: sealed(record(world, name="lab/s0-0"), name_of(1)),
}


@pytest.mark.parametrize(
    ("way", "why"),
    # Whoever asks compares an answer with nothing: it cannot be older.
    [(way, why) for way in ("store", "answer") for why in FALSE if (way, why) != ("answer", "older")],
)
def test_a_false_record_is_refused_and_counted_and_changes_nothing(world: World, way: str, why: str) -> None:
    (to, *_), sender = world.core(name_of(0)).names.shelf.keepers("shop/s1-0"), name_of(5)
    names = world.core(to).names
    before = dict(names.shelf.records)
    false = FALSE[why](world)
    if way == "store":
        event = letter(world, sender, to, Store((false,)))
    else:
        world.tell(to, "names", Ask(5, false.name))
        names._questions[5] = Question(false.name, [])
        event = letter(world, sender, to, Answer(5, false.name, 1, (false,)))
        world.nodes[to].told.clear()
    world.tell(to, "names", event)
    assert names.refused == {why: 1}
    assert names.shelf.records == before
    assert not any(each.command.records for each in world.nodes[to].told if isinstance(each.command, Found))


def test_who_was_not_offered_anything_wants_nothing(world: World) -> None:
    world.tell(name_of(0), "names", letter(world, name_of(5), name_of(0), Want(1, ())))
    assert world.core(name_of(0)).names.refused == {"unasked": 1}


def test_a_record_that_was_changed_on_its_way_is_refused(world: World) -> None:
    true = sealed(record(world), name_of(1))
    for field, other in {"name": "shop/x", "detail": "x", "moved": name_of(5), "is_gone": True}.items():
        changed = msgspec.structs.replace(true, **{field: other})
        assert world.core(name_of(0)).names.shelf.problem(changed, world.now) == "signature"
    assert world.core(name_of(0)).names.shelf.problem(true, world.now) == ""


# --- at random


@pytest.mark.parametrize("first", SEEDS)
def test_whatever_happens_names_of_living_nodes_are_found_in_the_end(first: int) -> None:
    for seed in range(first, first + 10):
        chance = Random(seed)
        faults = Faults(chance.uniform(0, 0.15), chance.uniform(0, 0.2), chance.uniform(0, 0.2))
        world = World(chance.randint(4, 8), seed, faults)
        for number in range(len(world.nodes)):
            publish(world, number, f"s{number}-0", f"s{number}-1")
        for _ in range(5):
            world.run(chance.uniform(0, 12))
            disturb(world, chance)
        world.split({})
        world.net.links = Links(latency=0.005, ordered=True)
        if not world.nodes[name_of(0)].is_up:
            world.start(name_of(0))
        settle(world, 240)
        for number in range(len(world.nodes)):
            if name_of(number) in world.up():
                publish(world, number, f"s{number}-0")
        world.run(65.0)
        asker = chance.choice(world.up())
        for node in world.up():
            home, number = node.split("/n")
            assert owners(ask(world, asker, f"{home}/s{number}-0")) == [node], f"seed {seed}"
            assert all(world.core(each).names.shelf.unsettled == 0 for each in world.up()), f"seed {seed}"
