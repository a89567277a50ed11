"""What a piece uses, and whether that is more than its grant admits."""

from __future__ import annotations

from typing import NamedTuple

from australis.cluster.grants.budget import Budget
from australis.cluster.grants.grant import Grant


class Use(NamedTuple):
    """What a piece has used up to a moment."""

    tuples: int
    nanoseconds: int
    state: int


class Watched:
    """A piece that runs, as far as it was watched."""

    def __init__(self, grant: Grant | None, use: Use) -> None:
        limits = None if grant is None else grant.limits
        self._rate = None if limits is None or limits.rate is None else Budget(limits.rate)
        self._cores = None if limits is None or limits.cores is None else Budget(limits.cores)
        self._limits, self._use = limits, use
        self.rate = self.cores = 0.0
        self.state = use.state

    def compare(self, use: Use, seconds: float) -> str:
        """What is more than the grant admits, if anything."""
        tuples, cores = use.tuples - self._use.tuples, (use.nanoseconds - self._use.nanoseconds) / 1e9
        self.rate, self.cores, self.state, self._use = tuples / seconds, cores / seconds, use.state, use
        for budget, amount in ((self._rate, tuples), (self._cores, cores)):
            if budget is not None:
                budget.use(amount, seconds)
        limits = self._limits
        if limits is None:
            return ""
        if self._rate is not None and self._rate.is_overdrawn:
            return f"{self.rate:,.0f} tuples/s left it, and its grant admits {limits.rate:,.0f}"
        if self._cores is not None and self._cores.is_overdrawn:
            return f"it used {self.cores:.3g} of a core, and its grant admits {limits.cores:.3g}"
        if limits.state is not None and self.state > limits.state:
            return f"its state and what waits are {self.state:,} bytes, and its grant admits {limits.state:,}"
        return ""
