"""What must hold for every movement, and for all money: checked by tests and in every simulated run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from australis.errors import PolicyError, Problem


class Movement(NamedTuple):
    """Load that moved from one participant to another, and the effect on both."""

    giver: str
    taker: str
    load: int
    price: int
    saving: int
    """What the giver saves."""
    cost: int
    """The taker's additional cost, on top of what it had and had promised to take."""

    @property
    def payment(self) -> int:
        """What the giver paid."""
        return self.load * self.price


def nobody_is_worse_off(movement: Movement) -> None:
    """The giver saves more than it pays, the taker is paid more than its cost; so the total cost falls.

    >>> nobody_is_worse_off(Movement("a", "b", load=2, price=3, saving=7, cost=6))
    Traceback (most recent call last):
    australis.errors.PolicyError: a-b: pays 6, saves 7, costs 6; expected saving > payment > cost
    """
    if movement.saving > movement.payment > movement.cost:
        return
    what = f"pays {movement.payment}, saves {movement.saving}, costs {movement.cost}"
    raise PolicyError(Problem(f"{movement.giver}-{movement.taker}", what, "saving > payment > cost"))


def cost_does_not_rise(before: int, after: int) -> None:
    """Checks that a movement lowers the total cost of all participants.

    >>> cost_does_not_rise(10, 9)
    """
    if after >= before:
        raise PolicyError(Problem("cost", f"went from {before} to {after}", "less after each movement"))


def money_is_conserved(balances: Iterable[int], on_the_way: Iterable[int] = ()) -> None:
    """Checks that all balances and the money in transit add up to 0.

    >>> money_is_conserved([-7, 4], [2])
    Traceback (most recent call last):
    australis.errors.PolicyError: money: -1 is too much; expected as much paid as received
    """
    over = sum(balances) + sum(on_the_way)
    if over:
        raise PolicyError(Problem("money", f"{over} is too much", "as much paid as received"))
