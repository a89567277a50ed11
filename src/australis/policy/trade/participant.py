"""A participant: a machine that gives load away and takes load on, by its contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from australis.errors import PolicyError, Problem
from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.cost import CostCurve
from australis.policy.trade.giver import Giver
from australis.policy.trade.holding import Holding, Settings
from australis.policy.trade.messages import (
    Accepted,
    Agreed,
    Asked,
    Came,
    Command,
    Ended,
    Event,
    Gone,
    Heard,
    Message,
    Moved,
    Offer,
    Received,
    Rejected,
    Relieved,
    Terminated,
    Withdrawn,
    Woke,
)
from australis.policy.trade.taker import Taker


class Participant:
    """Decides what to do about each event.

    >>> from australis.policy.trade.contract import fixed
    >>> tasks = [Task(name) for name in "abc"]
    >>> busy = Participant("busy", CostCurve(slopes=(1, 2, 4)), [fixed("busy", "idle", 3)], tasks)
    >>> busy.begin(now=0)
    [Wake(at=2000, event=Woke(why='offer', serial=0, partner=''))]
    >>> busy.decide(Woke("offer"), now=2000)[0].message.tasks[0].id
    'a'
    """

    def __init__(
        self,
        id_: str,
        cost: CostCurve,
        contracts: Iterable[Contract],
        tasks: Iterable[Task] = (),
        settings: Settings | None = None,
    ) -> None:
        self.id = id_
        self.holding = Holding(id_, cost, tasks, settings or Settings())
        self.giver = Giver(self.holding)
        self.taker = Taker(self.holding)
        for contract in contracts:
            self._contract(contract)

    def begin(self, now: int) -> list[Command]:
        """The first commands."""
        return self.giver.look(now)

    def decide(self, event: Event, now: int) -> list[Command]:
        """What to do about an event; `now` is the time, in milliseconds."""
        return _ABOUT[type(event)](self, event, now)

    def _contract(self, contract: Contract) -> None:
        if contract.giver == self.id:
            self.giver.contracts[contract.taker] = contract
        elif contract.taker == self.id:
            self.taker.contracts[contract.giver] = contract
        else:
            raise PolicyError(Problem(contract.id, f"is none of {self.id}'s", f"{self.id} as giver or taker"))

    def _came(self, event: Came, now: int) -> list[Command]:
        self.holding.add(event.task)
        return self.giver.look(now)

    def _ended(self, event: Ended, now: int) -> list[Command]:
        self.holding.drop(event.task)
        return self.taker.relieved()

    def _agreed(self, event: Agreed, now: int) -> list[Command]:
        self._contract(event.contract)
        return [*self.giver.look(now), *self.taker.relieved()]

    def _terminated(self, event: Terminated, now: int) -> list[Command]:
        if event.giver == self.id:
            self.giver.contracts.pop(event.taker, None)
        else:
            self.taker.contracts.pop(event.giver, None)
        return []

    def _gone(self, event: Gone, now: int) -> list[Command]:
        return [*self.giver.gone(event.partner, now), *self.taker.gone(event.partner, now)]

    def _woke(self, event: Woke, now: int) -> list[Command]:
        if event.why in ("offer", "patience"):
            return self.giver.woke(event, now)
        return self.taker.woke(event, now)

    def _heard(self, event: Heard, now: int) -> list[Command]:
        return _HEARD[type(event.message)](self, event.sender, event.message, now)

    def _moved(self, giver: str, message: Moved, now: int) -> list[Command]:
        return [*self.taker.moved(giver, message, now), *self.giver.look(now)]

    def _accepted(self, taker: str, message: Accepted, now: int) -> list[Command]:
        commands = self.giver.accepted(taker, message, now)
        return [*commands, *self.taker.relieved()]


_ABOUT: dict[type, Callable[[Participant, Any, int], list[Command]]] = {
    Came: Participant._came,
    Ended: Participant._ended,
    Heard: Participant._heard,
    Agreed: Participant._agreed,
    Terminated: Participant._terminated,
    Gone: Participant._gone,
    Woke: Participant._woke,
}

_HEARD: dict[type[Message], Callable[[Participant, str, Any, int], list[Command]]] = {
    Offer: lambda self, giver, message, now: self.taker.offered(giver, message, now),
    Withdrawn: lambda self, giver, message, now: self.taker.withdrawn(giver, message, now),
    Moved: Participant._moved,
    Accepted: Participant._accepted,
    Asked: lambda self, taker, message, now: self.giver.asked(taker, message, now),
    Rejected: lambda self, taker, message, now: self.giver.rejected(taker, message, now),
    Received: lambda self, taker, message, now: self.giver.received(taker, message, now),
    Relieved: lambda self, taker, message, now: self.giver.notified(taker, now),
}
