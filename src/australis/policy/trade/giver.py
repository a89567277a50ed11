"""OFFER_LOAD: move load to a partner that takes it for less than it costs here (Figure 2, prices of 3.2.3).

A round asks partners one at a time, by price: first the lowest price of the contract, later the price that
the partner asked for. It ends with a movement, or when no partner is left that is worth asking.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from australis.policy.machines import Refuse, Say, Wake
from australis.policy.trade.contract import Contract, Task
from australis.policy.trade.holding import Holding
from australis.policy.trade.messages import (
    MOST_TASKS,
    Accepted,
    Asked,
    Gave,
    Moved,
    Offer,
    Regained,
    Rejected,
    Taken,
    Undone,
    Withdrawn,
    Woke,
)
from australis.policy.trade.selection import Chosen, balancing, offered

OFFER = Woke("offer")
LATE: list[Any] = [Refuse("late")]
"""An answer to what is not open, or not any more."""


class Giver:
    """The half of a participant that gives load away; it waits for at most one partner at a time."""

    def __init__(self, holding: Holding) -> None:
        self.holding = holding
        self.contracts: dict[str, Contract] = {}
        self.serial = 0
        self.prices: dict[str, int] = {}
        """The partners that may still be asked in this round, and at what price."""
        self.offer: Offer | None = None
        """The open offer."""
        self.partner = ""
        """The partner of the offer or movement."""
        self.moving: Moved | None = None
        """The movement that is not confirmed yet."""
        self.rested = 0
        """When a new round may begin."""
        self.woken_at: int | None = None
        """When the next round begins."""
        self.refused = False
        """Whether any partner was asked in this round."""

    def started(self, now: int) -> list[Any]:
        """Say again what is open, and plan again what was planned."""
        if self.moving is not None:
            return [Say(self.partner, self.moving), *self._patience(now)]
        if self.offer is not None:
            return [Say(self.partner, self.offer), *self._patience(now)]
        if self.woken_at is not None:
            return [Wake(max(now, self.woken_at), OFFER)]
        return self.look(now)

    # --- when a round begins --------------------------------------------------------------------------------

    def look(self, now: int) -> list[Any]:
        """Load or contracts have changed: plan a round, if none is running or planned sooner."""
        return self._plan(self.holding.settings.next_moment(now)) if self.contracts else []

    def notified(self, taker: str, now: int) -> list[Any]:
        """A partner has room again: ask it in this round, or in one that is no longer postponed."""
        contract = self.contracts.get(taker)
        if contract is None:
            return []
        if self.offer is not None and self.partner != taker and contract.holds(now):
            self.prices.setdefault(taker, contract.low)
        return self._plan(now)

    def woke(self, event: Woke, now: int) -> list[Any]:
        """Begin a round, or give up waiting for an answer."""
        if event.why == "patience":
            return self._impatient(event.serial, now)
        if self.woken_at is None or now < self.woken_at or self.offer or self.moving:
            return []
        self.woken_at = None
        self.refused = False
        self.prices = {id_: contract.low for id_, contract in self.contracts.items() if contract.holds(now)}
        return self._ask(now)

    def _plan(self, at: int) -> list[Any]:
        at = max(self.rested, at)
        if self.offer or self.moving or (self.woken_at is not None and self.woken_at <= at):
            return []
        self.woken_at = at
        return [Wake(at, OFFER)]

    # --- whom to ask ----------------------------------------------------------------------------------------

    def _ask(self, now: int) -> list[Any]:
        """Make an offer to the cheapest partner for which there is one; otherwise the round is over."""
        # By convexity nothing saves more per unit than the topmost one.
        most = self.holding.cost.most_price(1, max(1, self.holding.load))
        while self.prices:
            partner = min(self.prices, key=self.prices.__getitem__)
            price = self.prices.pop(partner)
            if price > most:
                break
            chosen = self._chosen(partner, price, now)
            if chosen.tasks:
                return self._offered(partner, price, chosen.tasks, now)
        return self._over(now)

    def _chosen(self, partner: str, price: int, now: int) -> Chosen:
        contract = self.contracts.get(partner)
        if contract is None or not contract.holds(now):
            return Chosen((), 0, 0)
        holding = self.holding
        movable = islice(self._movable(contract), MOST_TASKS)
        return offered(holding.cost, holding.load, movable, price, holding.settings.fee)

    def _movable(self, contract: Contract) -> Iterator[Task]:
        allowed, bound = contract.allowed(self.holding.tasks.values()), self.holding.bound
        return (task for task in allowed if task.id not in bound) if bound else allowed

    def _offered(self, partner: str, price: int, tasks: tuple[Task, ...], now: int) -> list[Any]:
        self.serial += 1
        self.refused = True
        self.partner, self.offer = partner, Offer(self.serial, price, tasks)
        return [Say(partner, self.offer), *self._patience(now)]

    def _patience(self, now: int) -> list[Any]:
        patience = self.holding.settings.patience
        return [] if patience is None else [Wake(now + patience, Woke("patience", self.serial))]

    def _over(self, now: int) -> list[Any]:
        """Try again later, if any partner was asked; a giver with nothing to offer waits for more load."""
        settings = self.holding.settings
        self.rested = now + settings.period
        return self._plan(now + (settings.retry or settings.period)) if self.refused else []

    def _done(self, now: int) -> list[Any]:
        """After a movement there may be more to move."""
        self.moving = None
        self.rested = now + self.holding.settings.period
        return self._plan(self.rested)

    # --- what partners answer -------------------------------------------------------------------------------

    def _answered(self, taker: str, serial: int) -> Offer | None:
        """The offer that an answer refers to, which is then closed; None if the answer is out of date."""
        offer = self.offer
        if offer is None or self.partner != taker or offer.serial != serial:
            return None
        self.offer = None
        return offer

    def rejected(self, taker: str, message: Rejected, now: int) -> list[Any]:
        """Ask the next partner."""
        return self._ask(now) if self._answered(taker, message.serial) else list(LATE)

    def asked(self, taker: str, message: Asked, now: int) -> list[Any]:
        """The partner wants more: it is asked again when that is the best price left."""
        offer = self._answered(taker, message.serial)
        if offer is None:
            return list(LATE)
        contract = self.contracts.get(taker)
        if contract is not None and offer.price < message.price <= contract.high:
            price = self._suggested(contract, offer, message.price)
            if price is not None:
                self.prices[taker] = price
        return self._ask(now)

    def _suggested(self, contract: Contract, offer: Offer, asked: int) -> int | None:
        """The price to continue with: the one asked for, or the most worth paying, if that may suffice.

        By convexity less load costs the partner less per unit, so a lower price can only suffice for less
        load.
        """
        holding = self.holding
        if offered(holding.cost, holding.load, self._movable(contract), asked, holding.settings.fee).tasks:
            return asked
        smallest = min((task.load for task in self._movable(contract)), default=0)
        if smallest == 0 or smallest >= balancing(offer.tasks):
            return None
        most = holding.cost.most_price(smallest, holding.load, holding.settings.fee)
        return most if offer.price < most else None

    def accepted(self, taker: str, message: Accepted, now: int) -> list[Any]:
        """Move what was accepted; tasks that are no longer worth it, since load has gone meanwhile, stay."""
        offer = self._answered(taker, message.serial)
        if offer is None:
            return self._again(taker, message.serial)
        # Only what was offered, whatever else a partner may name; tasks may have ended or grown meanwhile.
        there, named = self.holding.tasks, set(message.tasks)
        tasks = [task for task in offer.tasks if task.id in named and there.get(task.id) == task]
        settings = self.holding.settings
        chosen = offered(self.holding.cost, self.holding.load, tasks, offer.price, settings.fee)
        if not chosen.tasks:
            return [Say(taker, Withdrawn(offer.serial)), *self._ask(now)]
        return self._move(taker, Moved(offer.serial, offer.price, chosen.tasks), chosen, now)

    def _move(self, taker: str, moved: Moved, chosen: Chosen, now: int) -> list[Any]:
        for task in chosen.tasks:
            self.holding.drop(task.id)
        self.holding.balance -= moved.payment
        self.partner, self.moving = taker, moved
        gave = Gave(taker, chosen.tasks, moved.price, chosen.cost)
        return [gave, Say(taker, moved), *self._patience(now)]

    def taken(self, taker: str, message: Taken, now: int) -> list[Any]:
        """The movement is done, and with it the round."""
        return self._done(now) if self._is_moving(taker, message.serial) else list(LATE)

    def undone(self, taker: str, message: Undone, now: int) -> list[Any]:
        """The movement has failed: the tasks and the money are back, and the round is over."""
        moved = self.moving
        if moved is None or not self._is_moving(taker, message.serial):
            return list(LATE)
        for task in moved.tasks:
            self.holding.add(task)
        self.holding.balance += moved.payment
        return [Regained(taker, moved.tasks), *self._done(now)]

    def _is_moving(self, taker: str, serial: int) -> bool:
        return self.moving is not None and (self.partner, self.moving.serial) == (taker, serial)

    # --- when messages are lost -----------------------------------------------------------------------------

    def _again(self, taker: str, serial: int) -> list[Any]:
        """Handle an unexpected acceptance: repeat a movement in progress; anything else is void."""
        if self.moving is not None and self._is_moving(taker, serial):
            return [Say(taker, self.moving)]
        return [Say(taker, Withdrawn(serial))]

    def _impatient(self, serial: int, now: int) -> list[Any]:
        if self.offer is not None and self.offer.serial == serial:
            self.offer = None
            return [Say(self.partner, Withdrawn(serial)), *self._ask(now)]
        if self.moving is not None and self.moving.serial == serial:
            return [Say(self.partner, self.moving), *self._patience(now)]
        return []

    def gone(self, partner: str, now: int) -> list[Any]:
        """A partner is gone: it answers nothing more; a movement to it is not undone."""
        self.prices.pop(partner, None)
        self.contracts.pop(partner, None)
        if self.partner != partner:
            return []
        if self.moving:
            return self._done(now)
        waited, self.offer = self.offer, None
        return self._ask(now) if waited else []
