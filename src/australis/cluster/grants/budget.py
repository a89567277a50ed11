"""Budgets: what a piece may use for longer than a moment."""

from __future__ import annotations

BURST_S = 30.0
"""For how many seconds' worth of its limit a piece may go ahead of it, as after a restart."""


class Budget:
    """Fills at the rate of a limit, up to a burst; what is used comes out of it.

    >>> budget = Budget(100.0)
    >>> budget.use(2_000, seconds=5), budget.use(2_000, seconds=5), budget.is_overdrawn
    (400.0, 400.0, True)
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._left = limit * BURST_S

    def use(self, amount: float, seconds: float) -> float:
        """Use an amount within some seconds; returns how much that is in each."""
        self._left = min(self._left + self._limit * seconds, self._limit * BURST_S) - amount
        return amount / seconds

    @property
    def is_overdrawn(self) -> bool:
        """Whether more was used than there was."""
        return self._left < 0
