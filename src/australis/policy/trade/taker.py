"""ACCEPT_LOAD: take tasks that pay more than they cost (Figure 3, and prices of 3.2.3).

Offers are collected for a period and answered together, the best paid first. What is accepted is promised
until it arrives or is withdrawn; nothing else is answered meanwhile, so no capacity is promised twice.
"""

from __future__ import annotations

from typing import NamedTuple

from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.holding import Holding
from australis.policy.trade.messages import (
    Accepted,
    Asked,
    Command,
    Message,
    Moved,
    Offer,
    Received,
    Rejected,
    Relieved,
    Send,
    Took,
    Wake,
    Withdrawn,
    Woke,
)
from australis.policy.trade.selection import Chosen, accepted, asking_price

ANSWER = Woke("answer")


class Promise(NamedTuple):
    """Tasks that a giver may move here, and the load on top of which they were accepted."""

    serial: int
    tasks: tuple[str, ...]
    load: int
    above: int


class Taker:
    """The half of a participant that takes load on."""

    def __init__(self, holding: Holding) -> None:
        self.holding = holding
        self.contracts: dict[str, Contract] = {}
        self.offers: dict[str, Offer] = {}
        self.promises: dict[str, Promise] = {}
        self.heard: dict[str, int] = {}
        """The latest offer of each giver; an older one that arrives later is void."""
        self.taken: dict[str, int] = {}
        """The latest movement of each giver; it may arrive twice, but counts once."""
        self.rejected: dict[str, int] = {}
        """The givers to notify of free capacity, and the smallest load that they wanted to move."""
        self.woken = self.due = False
        """Whether a time to answer is planned; whether it has passed while something was being moved."""

    @property
    def load(self) -> int:
        """The load here plus what is promised."""
        return self.holding.load + sum(promise.load for promise in self.promises.values())

    # --- what givers say ------------------------------------------------------------------------------------

    def offered(self, giver: str, offer: Offer, now: int) -> list[Command]:
        """Keep the offer for the next time to answer."""
        if giver not in self.contracts:
            return [Send(giver, Rejected(offer.serial))]
        if offer.serial <= self.heard.get(giver, 0):
            return []
        self.heard[giver] = offer.serial
        self.offers[giver] = offer
        # A giver offers again only when its last offer is closed.
        released = self._release(giver, now)
        if self.woken or self.due:
            return released
        self.woken = True
        return [*released, Wake(self.holding.settings.next_moment(now), ANSWER)]

    def withdrawn(self, giver: str, message: Withdrawn, now: int) -> list[Command]:
        """Drop the offer, and what was promised for it."""
        # Also an offer that this message has overtaken.
        self.heard[giver] = max(message.serial, self.heard.get(giver, 0))
        offer, promise = self.offers.get(giver), self.promises.get(giver)
        if offer is not None and offer.serial <= message.serial:
            del self.offers[giver]
        if promise is not None and promise.serial <= message.serial:
            return self._release(giver, now)
        return []

    def moved(self, giver: str, message: Moved, now: int) -> list[Command]:
        """Tasks have arrived, with the money for them."""
        confirmed = Send(giver, Received(message.serial))
        if message.serial <= self.taken.get(giver, 0):
            return [confirmed]
        self.taken[giver] = message.serial
        promise = self.promises.get(giver)
        above = promise.above if promise is not None else self.load
        contract = self.contracts.get(giver)
        for task in message.tasks:
            self.holding.add(task, bound=contract is not None and not contract.moves_on)
        self.holding.balance += message.payment
        load = sum(task.load for task in message.tasks)
        took = Took(giver, message.tasks, message.price, self.holding.cost.marginal(load, above))
        return [took, confirmed, *self._release(giver, now)]

    def gone(self, partner: str, now: int) -> list[Command]:
        """A giver is gone: its promises end."""
        self.offers.pop(partner, None)
        self.rejected.pop(partner, None)
        self.contracts.pop(partner, None)
        return self._release(partner, now)

    def _release(self, giver: str, now: int) -> list[Command]:
        """A promise is over; if it was the last one, answer the waiting offers."""
        if self.promises.pop(giver, None) is None or self.promises:
            return []
        return [*self.relieved(), *(self._answer(now) if self.due else [])]

    # --- answers --------------------------------------------------------------------------------------------

    def woke(self, event: Woke, now: int) -> list[Command]:
        """Answer, or remind a giver of what it was promised."""
        if event.why == "promise":
            return self._remind(event.partner, event.serial, now)
        self.woken = False
        if self.promises:
            self.due = True
            return []
        return self._answer(now)

    def _answer(self, now: int) -> list[Command]:
        self.due = False
        offers = sorted(self.offers.items(), key=lambda item: -item[1].price)
        self.offers = {}
        commands: list[Command] = []
        for giver, offer in offers:
            commands += self._answer_to(giver, offer, now)
        return commands

    def _answer_to(self, giver: str, offer: Offer, now: int) -> list[Command]:
        contract = self.contracts.get(giver)
        if contract is None or not contract.holds(now) or not contract.low <= offer.price <= contract.high:
            return [Send(giver, Rejected(offer.serial))]
        allowed = list(contract.allowed(offer.tasks))
        chosen = accepted(self.holding.cost, self.load, allowed, offer.price)
        if chosen.tasks:
            return self._promise(giver, offer.serial, chosen, now)
        return [Send(giver, self._refusal(contract, offer, allowed))]

    def _promise(self, giver: str, serial: int, chosen: Chosen, now: int) -> list[Command]:
        tasks = tuple(task.id for task in chosen.tasks)
        self.promises[giver] = Promise(serial, tasks, chosen.load, self.load)
        self.rejected.pop(giver, None)
        return [Send(giver, Accepted(serial, tasks)), *self._reminder(giver, serial, now)]

    def _refusal(self, contract: Contract, offer: Offer, tasks: list[Task]) -> Message:
        """A higher price, if the contract has one that would suffice."""
        if tasks:
            price = asking_price(self.holding.cost, self.load, tasks, contract.high)
            if price is not None:
                return Asked(offer.serial, price)
            self.rejected[contract.giver] = min(task.load for task in tasks)
        return Rejected(offer.serial)

    # --- room, and lost messages ----------------------------------------------------------------------------

    def relieved(self) -> list[Command]:
        """Notify the givers that were rejected if there is room for them now."""
        if not self.rejected or not self.holding.settings.notify:
            return []
        cost, load = self.holding.cost, self.load
        room = [
            giver
            for giver, task in self.rejected.items()
            if giver in self.contracts and cost.least_price(task, load) <= self.contracts[giver].high
        ]
        for giver in room:
            del self.rejected[giver]
        return [Send(giver, Relieved()) for giver in room]

    def _reminder(self, giver: str, serial: int, now: int) -> list[Command]:
        patience = self.holding.settings.patience
        return [] if patience is None else [Wake(now + patience, Woke("promise", serial, giver))]

    def _remind(self, giver: str, serial: int, now: int) -> list[Command]:
        promise = self.promises.get(giver)
        if promise is None or promise.serial != serial:
            return []
        return [Send(giver, Accepted(serial, promise.tasks)), *self._reminder(giver, serial, now)]
