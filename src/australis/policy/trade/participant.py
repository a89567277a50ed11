"""A participant: a machine that gives load away and takes load on, by its contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, ClassVar, Self

from australis.errors import PolicyError, Problem
from australis.policy.machines import Machine, Refuse, Started, put, state_of
from australis.policy.trade import messages as m
from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.giver import Giver
from australis.policy.trade.holding import Holding, Settings
from australis.policy.trade.state import GiverState, HoldingState, TakerState, TradeSetup, TradeState
from australis.policy.trade.taker import Taker


class Participant(Machine):
    """Decides what to do about each event.

    >>> from australis.policy.trade.contract import fixed
    >>> tasks = [Task(name) for name in "abc"]
    >>> busy = Participant("busy", CostCurve(slopes=(1, 2, 4)), [fixed("busy", "idle", 3)], tasks)
    >>> busy.handle(Started(), now=0)
    [Wake(at=2000000, event=Woke(why='offer', serial=0, partner=''))]
    >>> busy.handle(m.Woke("offer"), now=2_000_000)[0].kind
    'Offer'
    """

    POLICY = "trade"
    MESSAGES: ClassVar[Any] = m.Message
    EVENTS: ClassVar[Any] = m.Event | Started
    STATE = TradeState
    SETUP = TradeSetup
    ASKS = True

    def __init__(
        self,
        name: str,
        cost: CostCurve,
        contracts: Iterable[Contract],
        tasks: Iterable[Task] = (),
        settings: Settings | None = None,
        incarnation: int = 1,
    ) -> None:
        super().__init__(name, incarnation)
        self._given = (tuple(contracts), tuple(tasks))
        self.holding = Holding(name, cost, self._given[1], settings or Settings())
        self.giver = Giver(self.holding)
        self.taker = Taker(self.holding)
        for contract in self._given[0]:
            if not self._contract(contract):
                what = f"is none of {name}'s"
                raise PolicyError(Problem(contract.id, what, f"{name} as giver or taker"))

    # --- as a machine

    @classmethod
    def of(cls, name: str, setup: TradeSetup, incarnation: int) -> Self:
        """A participant with a configuration."""
        cost = CostCurve(setup.slopes, setup.step)
        return cls(name, cost, setup.contracts, setup.tasks, setup.settings, incarnation)

    def setup(self) -> TradeSetup:
        """What it was made with."""
        cost = self.holding.cost
        return TradeSetup(cost.slopes, cost.step, *self._given, self.holding.settings)

    def state(self) -> TradeState:
        """What it has, gives and takes."""
        return TradeState(
            state_of(self.holding, HoldingState),
            state_of(self.giver, GiverState),
            state_of(self.taker, TakerState),
        )

    def resume(self, state: TradeState) -> None:
        """Continue from a state."""
        put(self.holding, state.holding)
        put(self.giver, state.giver)
        put(self.taker, state.taker)

    def partners(self) -> Set[str]:
        """Those that it has contracts with, or that it still owes something."""
        giver, taker = self.giver, self.taker
        waited = {giver.partner} if giver.moving or giver.offer else set()
        return giver.contracts.keys() | taker.contracts.keys() | taker.promises.keys() | waited

    def knows(self, name: str) -> bool:
        """Whether it has a contract with a participant, or still owes it something."""
        return name in self.giver.contracts or name in self.taker.contracts or name in self.partners()

    def returned(self, partner: str, now: int) -> list[Any]:
        """A partner that returned may not have had what is open between the two."""
        if self.giver.partner == partner and (self.giver.moving or self.giver.offer):
            return self.giver.started(now)
        return []

    # --- events

    def decide(self, event: Any, now: int) -> list[Any]:
        """What to do about an event of the host."""
        return _ABOUT[type(event)](self, event, now)

    def hear(self, sender: str, message: Any, now: int) -> list[Any]:
        """What to do about a message."""
        return _HEARD[type(message)](self, sender, message, now)

    def _contract(self, contract: Contract) -> bool:
        if contract.giver == self.name:
            self.giver.contracts[contract.taker] = contract
        elif contract.taker == self.name:
            self.taker.contracts[contract.giver] = contract
        return self.name in (contract.giver, contract.taker)

    def _started(self, _: Started, now: int) -> list[Any]:
        return [*self.giver.started(now), *self.taker.started(now)]

    def _came(self, event: m.Came, now: int) -> list[Any]:
        task = event.task
        if task.load < 1:
            return [Refuse("load")]
        if self.taker.is_promised(task.id):
            return [Refuse("twice")]
        here = self.holding.tasks.get(task.id)
        if here is None:
            self.holding.add(task)
        else:
            self.holding.resize(task.id, here.load + task.load)
        return self.giver.look(now)

    def _measured(self, event: m.Measured, now: int) -> list[Any]:
        here = self.holding.tasks.get(event.task)
        if here is None or event.load < 1:
            return [Refuse("load")]
        self.holding.resize(event.task, event.load)
        return self.giver.look(now) if event.load > here.load else self.taker.relieved()

    def _ended(self, event: m.Ended, now: int) -> list[Any]:
        self.holding.drop(event.task)
        return self.taker.relieved()

    def _agreed(self, event: m.Agreed, now: int) -> list[Any]:
        if not self._contract(event.contract):
            return [Refuse("contract")]
        return [*self.giver.look(now), *self.taker.relieved()]

    def _terminated(self, event: m.Terminated, now: int) -> list[Any]:
        if event.giver == self.name:
            self.giver.contracts.pop(event.taker, None)
        else:
            self.taker.contracts.pop(event.giver, None)
        return []

    def _gone(self, event: m.Gone, now: int) -> list[Any]:
        self.lost(event.partner)
        commands = [*self.giver.gone(event.partner, now), *self.taker.gone(event.partner, now)]
        return [*commands, *self.answered(event.partner, now)]

    def _woke(self, event: m.Woke, now: int) -> list[Any]:
        if self.is_asking:
            return []
        if event.why in ("offer", "patience"):
            return self.giver.woke(event, now)
        return self.taker.woke(event, now)

    def _installed(self, event: m.Installed, now: int) -> list[Any]:
        commands = self.taker.installed(event, now)
        if type(commands[0]) is Refuse:
            return commands
        return [*commands, *(self.giver.look(now) if event.succeeded else ())]

    def _accepted(self, taker: str, message: m.Accepted, now: int) -> list[Any]:
        commands = self.giver.accepted(taker, message, now)
        return [*commands, *self.taker.relieved()]


_ABOUT: dict[type, Callable[[Participant, Any, int], list[Any]]] = {
    Started: Participant._started,
    m.Came: Participant._came,
    m.Measured: Participant._measured,
    m.Ended: Participant._ended,
    m.Agreed: Participant._agreed,
    m.Terminated: Participant._terminated,
    m.Gone: Participant._gone,
    m.Woke: Participant._woke,
    m.Installed: Participant._installed,
}

_HEARD: dict[type, Callable[[Participant, str, Any, int], list[Any]]] = {
    m.Offer: lambda self, giver, message, now: self.taker.offered(giver, message, now),
    m.Withdrawn: lambda self, giver, message, now: self.taker.withdrawn(giver, message, now),
    m.Moved: lambda self, giver, message, now: self.taker.moved(giver, message),
    m.Accepted: Participant._accepted,
    m.Asked: lambda self, taker, message, now: self.giver.asked(taker, message, now),
    m.Rejected: lambda self, taker, message, now: self.giver.rejected(taker, message, now),
    m.Taken: lambda self, taker, message, now: self.giver.taken(taker, message, now),
    m.Undone: lambda self, taker, message, now: self.giver.undone(taker, message, now),
    m.Relieved: lambda self, taker, message, now: self.giver.notified(taker, now),
}
