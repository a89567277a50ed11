"""ACCEPT_LOAD: take tasks that pay more than they cost (Figure 3, and prices of 3.2.3).

Offers are collected for a period and answered together, the best paid first. What is accepted is promised
until it arrives or is withdrawn; nothing else is answered meanwhile, so no capacity is promised twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from australis.policy.machines import Refuse, Say, Wake
from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.holding import Holding
from australis.policy.trade.messages import (
    Accepted,
    Asked,
    Installed,
    Message,
    Moved,
    Offer,
    Rejected,
    Relieved,
    Take,
    Taken,
    Took,
    Undone,
    Withdrawn,
    Woke,
)
from australis.policy.trade.selection import Chosen, accepted, asking_price

ANSWER = Woke("answer")


class Promise(NamedTuple):
    """Tasks that a giver may move here, at a price, and the load on top of which they were accepted."""

    serial: int
    price: int
    tasks: tuple[Task, ...]
    load: int
    above: int
    arriving: tuple[Task, ...] = ()
    """Those that were moved, while they are being made to run here."""


class Outcome(NamedTuple):
    """The latest movement of a giver: it may be told twice, but counts once."""

    serial: int
    succeeded: bool


class Taker:
    """The half of a participant that takes load on."""

    def __init__(self, holding: Holding) -> None:
        self.holding = holding
        self.contracts: dict[str, Contract] = {}
        self.offers: dict[str, Offer] = {}
        self.promises: dict[str, Promise] = {}
        self.heard: dict[str, int] = {}
        """The latest offer of each giver; an older one that arrives later is void."""
        self.taken: dict[str, Outcome] = {}
        self.rejected: dict[str, int] = {}
        """The givers to notify of free capacity, and the smallest load that they wanted to move."""
        self.woken = self.due = False
        """Whether a time to answer is planned; whether it has passed while something was being moved."""

    @property
    def load(self) -> int:
        """The load here plus what is promised."""
        return self.holding.load + sum(promise.load for promise in self.promises.values())

    # --- what givers say ------------------------------------------------------------------------------------

    def offered(self, giver: str, offer: Offer, now: int) -> list[Any]:
        """Keep the offer for the next time to answer."""
        if giver not in self.contracts:
            return [Say(giver, Rejected(offer.serial))]
        if offer.serial <= self.heard.get(giver, 0) or self._is_arriving(giver):
            return [Refuse("late")]
        if len({task.id for task in offer.tasks}) < len(offer.tasks):
            return [Refuse("twice")]
        self.heard[giver] = offer.serial
        self.offers[giver] = offer
        # A giver offers again only when its last offer is closed.
        released = self._release(giver, now)
        if self.woken or self.due:
            return released
        self.woken = True
        return [*released, Wake(self.holding.settings.next_moment(now), ANSWER)]

    def withdrawn(self, giver: str, message: Withdrawn, now: int) -> list[Any]:
        """Drop the offer, and what was promised for it; what was moved cannot be withdrawn."""
        if self._is_arriving(giver):
            return [Refuse("late")]
        # Also an offer that this message has overtaken.
        self.heard[giver] = max(message.serial, self.heard.get(giver, 0))
        offer, promise = self.offers.get(giver), self.promises.get(giver)
        if offer is not None and offer.serial <= message.serial:
            del self.offers[giver]
        if promise is not None and promise.serial <= message.serial:
            return self._release(giver, now)
        return []

    def moved(self, giver: str, message: Moved) -> list[Any]:
        """Tasks come, with the money for them: only what was promised, at that price, whole or not at all."""
        last, promise = self.taken.get(giver), self.promises.get(giver)
        if last is not None and message.serial <= last.serial:
            return [self._outcome(giver, last)] if message.serial == last.serial else [Refuse("late")]
        if promise is None or (promise.serial, promise.price) != (message.serial, message.price):
            return [Refuse("unpromised")]
        if promise.arriving:
            return [Refuse("repeat")] if promise.arriving == message.tasks else [Refuse("unpromised")]
        moved = set(message.tasks)
        if len(moved) < len(message.tasks) or not moved <= set(promise.tasks):
            return [Refuse("unpromised")]
        if any(task.id in self.holding.tasks for task in moved):
            return [Refuse("twice")]
        self.promises[giver] = promise._replace(arriving=message.tasks)
        return [Take(giver, message.serial, message.tasks)]

    def installed(self, done: Installed, now: int) -> list[Any]:
        """What was moved here runs, or could not be made to."""
        giver, promise = done.giver, self.promises.get(done.giver)
        if promise is None or not promise.arriving or promise.serial != done.serial:
            return [Refuse("late")]
        last = self.taken[giver] = Outcome(done.serial, done.succeeded)
        took = self._took(giver, promise) if done.succeeded else []
        return [*took, self._outcome(giver, last), *self._release(giver, now)]

    def _took(self, giver: str, promise: Promise) -> list[Any]:
        contract, load = self.contracts.get(giver), sum(task.load for task in promise.arriving)
        for task in promise.arriving:
            self.holding.add(task, bound=contract is not None and not contract.moves_on)
        self.holding.balance += load * promise.price
        cost = self.holding.cost.marginal(load, promise.above)
        return [Took(giver, promise.arriving, promise.price, cost)]

    def _outcome(self, giver: str, last: Outcome) -> Say:
        return Say(giver, Taken(last.serial) if last.succeeded else Undone(last.serial))

    def _is_arriving(self, giver: str) -> bool:
        return giver in self.promises and bool(self.promises[giver].arriving)

    def is_promised(self, task: str) -> bool:
        """Whether a task is promised to be taken."""
        return any(task == each.id for promise in self.promises.values() for each in promise.tasks)

    def gone(self, partner: str, now: int) -> list[Any]:
        """A giver is gone: its promises end, except for what is being made to run here."""
        for known in (self.offers, self.rejected, self.contracts, self.heard, self.taken):
            known.pop(partner, None)
        return [] if self._is_arriving(partner) else self._release(partner, now)

    def _release(self, giver: str, now: int) -> list[Any]:
        """A promise is over; if it was the last one, answer the waiting offers."""
        if self.promises.pop(giver, None) is None or self.promises:
            return []
        return [*self.relieved(), *(self._answer(now) if self.due else [])]

    # --- answers --------------------------------------------------------------------------------------------

    def woke(self, event: Woke, now: int) -> list[Any]:
        """Answer, or remind a giver of what it was promised."""
        if event.why == "promise":
            return self._remind(event.partner, event.serial, now)
        self.woken = False
        if self.promises:
            self.due = True
            return []
        return self._answer(now)

    def _answer(self, now: int) -> list[Any]:
        self.due = False
        offers = sorted(self.offers.items(), key=lambda item: -item[1].price)
        self.offers = {}
        commands: list[Any] = []
        for giver, offer in offers:
            commands += self._answer_to(giver, offer, now)
        return commands

    def _answer_to(self, giver: str, offer: Offer, now: int) -> list[Any]:
        contract = self.contracts.get(giver)
        if contract is None or not contract.holds(now) or not contract.low <= offer.price <= contract.high:
            return [Say(giver, Rejected(offer.serial))]
        # A task of a name that is here, or will be, is another one.
        allowed = [
            task
            for task in contract.allowed(offer.tasks)
            if task.id not in self.holding.tasks and not self.is_promised(task.id)
        ]
        chosen = accepted(self.holding.cost, self.load, allowed, offer.price)
        if chosen.tasks:
            return self._promise(giver, offer, chosen, now)
        return [Say(giver, self._refusal(contract, offer, allowed))]

    def _promise(self, giver: str, offer: Offer, chosen: Chosen, now: int) -> list[Any]:
        promise = Promise(offer.serial, offer.price, chosen.tasks, chosen.load, self.load)
        self.promises[giver] = promise
        self.rejected.pop(giver, None)
        return self._accepted(giver, promise, now)

    def _accepted(self, giver: str, promise: Promise, now: int) -> list[Any]:
        said = Say(giver, Accepted(promise.serial, tuple(task.id for task in promise.tasks)))
        return [said, *self._reminder(giver, promise.serial, now)]

    def _refusal(self, contract: Contract, offer: Offer, tasks: list[Task]) -> Message:
        """A higher price, if the contract has one that would suffice."""
        if tasks:
            price = asking_price(self.holding.cost, self.load, tasks, contract.high)
            if price is not None:
                return Asked(offer.serial, price)
            self.rejected[contract.giver] = min(task.load for task in tasks)
        return Rejected(offer.serial)

    # --- room, and lost messages ----------------------------------------------------------------------------

    def relieved(self) -> list[Any]:
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
        return [Say(giver, Relieved()) for giver in room]

    def _reminder(self, giver: str, serial: int, now: int) -> list[Any]:
        patience = self.holding.settings.patience
        return [] if patience is None else [Wake(now + patience, Woke("promise", serial, giver))]

    def _remind(self, giver: str, serial: int, now: int) -> list[Any]:
        promise = self.promises.get(giver)
        if promise is None or promise.serial != serial or promise.arriving:
            return []
        return self._accepted(giver, promise, now)

    def started(self, now: int) -> list[Any]:
        """Say again what is promised, and plan again what was planned."""
        commands: list[Any] = []
        for giver, promise in self.promises.items():
            if promise.arriving:
                commands.append(Take(giver, promise.serial, promise.arriving))
            else:
                commands += self._accepted(giver, promise, now)
        if self.woken:
            commands.append(Wake(self.holding.settings.next_moment(now), ANSWER))
        return commands
