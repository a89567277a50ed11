"""A market: participants, the messages between them, the passing of time; and checks of what must hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from australis.errors import Problem, SimulationError
from australis.policy.machines import Journal, Received, Send, Started, Wake
from australis.policy.trade import (
    Came,
    Ended,
    Gave,
    Installed,
    Moved,
    Movement,
    Participant,
    Regained,
    Take,
    Task,
    Took,
    cost_does_not_rise,
    money_is_conserved,
    nobody_is_worse_off,
)
from australis.sim.kernel import Clock


@dataclass(frozen=True)
class Ways:
    """How long messages take, in microseconds, and how many are lost."""

    message: int = 10_000
    move: int = 75_000
    """The time that section 5.4 measured for a part of a query."""
    jitter: int = 0
    """The greatest random delay, with which messages overtake each other."""
    loss: float = 0.0


class Moment(NamedTuple):
    """The state of a market at a time."""

    time: int
    cost: int
    """For all participants; what is in transit still counts where it was."""
    movements: int
    operators: int
    """Movements so far."""


class Market:
    """Participants, and what is in transit between them; deterministic for given ways and chance."""

    def __init__(
        self,
        participants: Iterable[Participant],
        ways: Ways | None = None,
        rng: np.random.Generator | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.participants = {participant.name: participant for participant in participants}
        self.journal = journal
        self.clock = Clock()
        self.ways = ways or Ways()
        self.rng = rng or np.random.default_rng(0)
        self.messages: Counter[str] = Counter()
        self.history: list[Moment] = []
        self._given: dict[str, int] = {}
        self._fuller: set[str] = set()
        """Participants that got more from clients after a promise to take something."""
        holdings = [participant.holding for participant in self.participants.values()]
        for participant in self.participants.values():
            if journal is None:
                participant.stay_plain()
            else:
                journal.began(participant)
        self._now = Moment(0, sum(holding.cost.of(holding.load) for holding in holdings), 0, 0)
        self._checked = self._now

    @property
    def now(self) -> Moment:
        """The current state."""
        return self._now._replace(time=int(self.clock.now))

    @property
    def last_movement(self) -> int | None:
        """The time of the last movement."""
        return self.history[-1].time if self.history else None

    @property
    def moving(self) -> bool:
        """Whether anything is in transit, or promised to be taken."""
        return any(p.giver.moving or p.taker.promises for p in self.participants.values())

    def begin(self, at: int = 0) -> None:
        """Let all participants begin to trade at a time."""
        for participant in self.participants.values():
            self.clock.at(at, self._happens, participant.name, Started())

    def run(self, until: int) -> None:
        """Run until a time; then check the invariants."""
        self.clock.run(until)
        self.check()

    def check(self) -> None:
        """Check that money is conserved, and that movements since the last check lowered the total cost."""
        people = self.participants
        money_is_conserved(
            (participant.holding.balance for participant in people.values()),
            (
                moved.payment
                for giver in people.values()
                if (moved := giver.giver.moving)
                and not has_taken(people[giver.giver.partner], giver.name, moved)
            ),
        )
        if self._now.movements > self._checked.movements:
            cost_does_not_rise(self._checked.cost, self._now.cost)
        self._checked = self._now

    # --- load that comes and goes ---------------------------------------------------------------------------

    def come(self, host: str, task: Task) -> None:
        """A client brings a task."""
        self._load(host, Came(task))

    def end(self, task: str) -> bool:
        """A task ends, wherever it is; False if it is in transit."""
        for host, participant in self.participants.items():
            if task in participant.holding.tasks:
                self._load(host, Ended(task))
                return True
        return False

    def _load(self, host: str, event: Came | Ended) -> None:
        self.check()
        before = self._own_cost(host)
        self._happens(host, event)
        self._now = self._now._replace(cost=self._now.cost + self._own_cost(host) - before)
        self._checked = self._now
        if self.participants[host].taker.promises:
            self._fuller.add(host)

    def _own_cost(self, host: str) -> int:
        holding = self.participants[host].holding
        return holding.cost.of(holding.load)

    # --- events and commands --------------------------------------------------------------------------------

    def _happens(self, who: str, event: Any) -> None:
        now = int(self.clock.now)
        commands = self.participants[who].handle(event, now)
        if self.journal is not None:
            self.journal.decided(now, who, event, commands)
        for command in commands:
            self._do(who, command)

    def _do(self, who: str, command: Any) -> None:
        match command:
            case Send():
                self._sent(who, command)
            case Wake(at, event):
                self.clock.at(at, self._happens, who, event)
            case Take(giver, serial):
                self._happens(who, Installed(giver, serial))
            case Gave():
                self._given[who] = command.saving
            case Took():
                self._took(who, command)
            case Regained():
                self._given.pop(who, None)

    def _sent(self, who: str, send: Send) -> None:
        self.messages[send.kind] += 1
        ways = self.ways
        if ways.loss and self.rng.random() < ways.loss:
            return
        delay = ways.move if send.kind == Moved.__name__ else ways.message
        if ways.jitter:
            delay += int(self.rng.integers(ways.jitter + 1))
        self.clock.at(self.clock.now + delay, self._happens, send.to, Received(who, send.letter))

    def _took(self, taker: str, took: Took) -> None:
        load = sum(task.load for task in took.tasks)
        movement = Movement(took.giver, taker, load, took.price, self._given.pop(took.giver), took.cost)
        nobody_is_worse_off(movement)
        holding = self.participants[taker].holding
        costs = holding.cost.marginal(load, holding.load - load)
        if taker in self._fuller:
            self._excuse(taker, costs - took.cost)
        self._now = Moment(
            int(self.clock.now),
            self._now.cost + costs - movement.saving,
            self._now.movements + 1,
            self._now.operators + len(took.tasks),
        )
        self.history.append(self._now)

    def _excuse(self, taker: str, dearer: int) -> None:
        """Costs above what was promised, because clients were quicker, do not count against a movement."""
        self._checked = self._checked._replace(cost=self._checked.cost + dearer)
        if not self.participants[taker].taker.promises:
            self._fuller.discard(taker)


def has_taken(taker: Participant, giver: str, moved: Moved) -> bool:
    """Whether a movement has been taken, and its money."""
    last = taker.taker.taken.get(giver)
    return last is not None and last.succeeded and last.serial >= moved.serial


def settle(market: Market, movable: Movable, until: int, step: int = 2_000_000) -> bool:
    """Run a market until no more movement is possible, at most until a time; returns whether it settled."""
    while market.clock.now < until:
        market.run(min(until, int(market.clock.now) + step))
        if not market.moving and not movable.any(market):
            return True
    return False


class Movable:
    """Determines whether any contract of a market of equal tasks would still move one."""

    def __init__(self, market: Market) -> None:
        people = list(market.participants.values())
        places = {participant.name: place for place, participant in enumerate(people)}
        if any(task.load != 1 for person in people for task in person.holding.tasks.values()):
            raise SimulationError(Problem("market", "has tasks of different loads", "tasks of load 1"))
        contracts = [contract for person in people for contract in person.giver.contracts.values()]
        self._givers = np.array([places[each.giver] for each in contracts], dtype=np.int64)
        self._takers = np.array([places[each.taker] for each in contracts], dtype=np.int64)
        self._low = np.array([each.low for each in contracts], dtype=np.int64)
        self._high = np.array([each.high for each in contracts], dtype=np.int64)
        costs = list({person.holding.cost: None for person in people})
        longest = max(len(cost.slopes) for cost in costs)
        self._slopes = np.array([(*c.slopes, *[c.slopes[-1]] * (longest - len(c.slopes))) for c in costs])
        self._costs = np.array([costs.index(person.holding.cost) for person in people])
        self._steps = np.array([person.holding.cost.step for person in people])

    def any(self, market: Market) -> bool:
        """Whether any contract has a price in its range at which one task would move."""
        loads = np.array(loads_of(market))
        keeps = np.where(loads > 0, self._marginal(np.maximum(loads - 1, 0)), 0)
        least = np.maximum(self._low, self._marginal(loads)[self._takers] + 1)
        most = np.minimum(self._high, keeps[self._givers] - 1)
        return bool((least <= most).any())

    def _marginal(self, loads: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cost of one more unit for each participant: the slope there."""
        return self._slopes[self._costs, np.minimum(loads // self._steps, self._slopes.shape[1] - 1)]


def loads_of(market: Market) -> list[int]:
    """The load of each participant."""
    return [participant.holding.load for participant in market.participants.values()]
