"""Whatever happens to messages: no one is worse off, no task is lost or duplicated, no money is created."""

from __future__ import annotations

import pickle
from itertools import accumulate
from random import Random
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.holding import Settings
from australis.policy.trade.invariants import Movement, money_is_conserved, nobody_is_worse_off
from australis.policy.trade.messages import (
    Came,
    Command,
    Ended,
    Event,
    Gave,
    Heard,
    Message,
    Moved,
    Send,
    Took,
    Wake,
)
from australis.policy.trade.participant import Participant


class Letter(NamedTuple):
    """A message in transit."""

    sender: str
    to: str
    message: Message


class Town:
    """Some participants, and a post office under the test's control."""

    def __init__(self, people: list[Participant]) -> None:
        self.people = {person.id: person for person in people}
        self.now = 0
        self.post: list[Letter] = []
        self.wakes: list[tuple[int, int, str, Event]] = []
        self.movements: list[Movement] = []
        self.given: dict[str, int] = {}
        for person in people:
            self._do(person.id, person.begin(0))

    def happens(self, who: str, event: Event) -> None:
        """Give a participant an event, and carry out its commands; it is stored and restored before."""
        self.people[who] = pickle.loads(pickle.dumps(self.people[who]))
        self._do(who, self.people[who].decide(event, self.now))

    def deliver(self, place: int, *, keep: bool = False) -> None:
        """Deliver a message; keep: it will be delivered again."""
        letter = self.post[place] if keep else self.post.pop(place)
        self.happens(letter.to, Heard(letter.sender, letter.message))

    def wake(self) -> None:
        """Advance to the next time that any participant waits for."""
        self.wakes.sort(key=lambda wake: wake[:2])
        at, _, who, event = self.wakes.pop(0)
        self.now = max(self.now, at)
        self.happens(who, event)

    def _do(self, who: str, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Send):
                self.post.append(Letter(who, command.to, command.message))
            elif isinstance(command, Wake):
                self.wakes.append((command.at, len(self.wakes), who, command.event))
            elif isinstance(command, Gave):
                self.given[who] = command.saving
            else:
                assert isinstance(command, Took)
                self._took(who, command)

    def _took(self, taker: str, took: Took) -> None:
        load = sum(task.load for task in took.tasks)
        movement = Movement(took.giver, taker, load, took.price, self.given[took.giver], took.cost)
        nobody_is_worse_off(movement)
        self.movements.append(movement)

    def unconfirmed(self) -> list[Moved]:
        """What is in transit."""
        return [
            moved
            for person in self.people.values()
            if (moved := person.giver.moving)
            and self.people[person.giver.partner].taker.taken.get(person.id, 0) < moved.serial
        ]

    def check(self, tasks: set[str]) -> None:
        """Every task is somewhere, once; so is all money."""
        here = [task for person in self.people.values() for task in person.holding.tasks]
        there = [task.id for moved in self.unconfirmed() for task in moved.tasks]
        assert sorted(here + there) == sorted(tasks)
        balances = [person.holding.balance for person in self.people.values()]
        money_is_conserved(balances, [moved.payment for moved in self.unconfirmed()])
        for person in self.people.values():
            assert person.holding.load == sum(task.load for task in person.holding.tasks.values())


NAMES = ("a", "b", "c", "d")


def _town(random: Random, notify: bool) -> Town:
    """Each of four may give to all others; tasks of different loads, and prices at which some would move."""
    agreed = [
        Contract(one, other, low := random.randrange(250), low + random.choice([0, 10, 60]))
        for one in NAMES
        for other in NAMES
        if one != other
    ]
    return Town(
        [
            Participant(
                name,
                CostCurve(
                    tuple(accumulate(random.randrange(1, 30) for _ in range(25))), random.choice([1, 1, 3])
                ),
                [contract for contract in agreed if name in (contract.giver, contract.taker)],
                [
                    Task(f"{name}{number}", random.randrange(1, 5))
                    for number in range(random.choice([0, 3, 7]))
                ],
                Settings(period=100, phase=10 * place, patience=250, notify=notify),
            )
            for place, name in enumerate(NAMES)
        ]
    )


def _told(seed: int, notify: bool) -> Town:
    """Messages arrive in any order, are lost and duplicated, and clients come and go."""
    random = Random(seed)
    town = _town(random, notify)
    tasks = {task for person in town.people.values() for task in person.holding.tasks}
    for number in range(random.randrange(200)):
        _step(town, tasks, random.choice("ddddddkxwwce"), random.randrange(1000), number)
        town.check(tasks)
    _to_the_end(town)
    town.check(tasks)
    assert not town.unconfirmed()
    return town


@given(st.integers(0, 2**32), st.booleans())
def test_any_order_with_losses_and_doubles(seed: int, notify: bool) -> None:
    _told(seed, notify)


def test_much_is_moved_in_these_stories() -> None:
    """They would prove little otherwise."""
    moved = [movement for seed in range(40) for movement in _told(seed, notify=True).movements]
    assert len(moved) > 60
    assert max(movement.load for movement in moved) > 4


def _step(town: Town, tasks: set[str], what: str, chance: int, number: int) -> None:
    who = NAMES[chance % len(NAMES)]
    if what in "dk" and town.post:
        town.deliver(chance % len(town.post), keep=what == "k")
    elif what == "x" and town.post:
        town.post.pop(chance % len(town.post))
    elif what == "c":
        tasks.add(f"new{number}")
        town.happens(who, Came(Task(f"new{number}", 1 + chance % 3)))
    elif what == "e":
        ended = list(town.people[who].holding.tasks)[:1]
        tasks.difference_update(ended)
        for task in ended:
            town.happens(who, Ended(task))
    elif town.wakes:
        town.wake()


def _to_the_end(town: Town) -> None:
    """All messages arrive from now on: after a while nothing is in transit any more."""
    for _ in range(2000):
        while town.post:
            town.deliver(0)
        if not any(person.giver.moving or person.taker.promises for person in town.people.values()):
            return
        town.wake()
    raise AssertionError("something is promised or on its way for ever")
