"""What is true of every movement, and of the money of all: checked by tests and in every simulated run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from australis.errors import PolicyError, Problem


class Movement(NamedTuple):
    """Load that went from one participant to another, and what that meant for both."""

    giver: str
    taker: str
    load: int
    price: int
    saving: int
    """What the giver's load costs less."""
    cost: int
    """What the taker's load costs more, above what it had and had promised to take."""

    @property
    def payment(self) -> int:
        """What the giver paid."""
        return self.load * self.price


def nobody_is_worse_off(movement: Movement) -> None:
    """Who gives saves more than it pays, who takes is paid more than it costs; so all together costs less.

    >>> nobody_is_worse_off(Movement("a", "b", load=2, price=3, saving=7, cost=6))
    Traceback (most recent call last):
    australis.errors.PolicyError: a-b: pays 6, saves 7, costs 6; expected saving > payment > cost
    """
    if movement.saving > movement.payment > movement.cost:
        return
    what = f"pays {movement.payment}, saves {movement.saving}, costs {movement.cost}"
    raise PolicyError(Problem(f"{movement.giver}-{movement.taker}", what, "saving > payment > cost"))


def cost_does_not_rise(before: int, after: int) -> None:
    """The cost of all participants together, before and after a movement.

    >>> cost_does_not_rise(10, 9)
    """
    if after >= before:
        raise PolicyError(Problem("cost", f"went from {before} to {after}", "less after each movement"))


def money_is_conserved(balances: Iterable[int], on_the_way: Iterable[int] = ()) -> None:
    """What all have been paid, less what they have paid, and what is on its way, is nothing together.

    >>> money_is_conserved([-7, 4], [2])
    Traceback (most recent call last):
    australis.errors.PolicyError: money: -1 is too much; expected as much paid as received
    """
    over = sum(balances) + sum(on_the_way)
    if over:
        raise PolicyError(Problem("money", f"{over} is too much", "as much paid as received"))
