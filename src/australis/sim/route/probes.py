"""How much a world can take: the highest rate at which no node is overloaded, found with few short runs.

A short run is enough to predict overload: a queue that grows in its second half keeps growing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from australis.policy.route import Policy
from australis.sim.route.run import Outcome, simulate
from australis.sim.route.world import OVERLOADED, World

LIFE = 1000.0
"""How long a world must run without an overloaded node for its rate to be acceptable."""
PRECISION = 1.05
RAMP = 1 / 3
"""The fraction of a run in which the rate rises, so that load can be shared before there is too much."""


def lasts(found: Outcome, until: float, life: float = LIFE) -> bool:
    """Whether no node would be overloaded within a life, if queues continue as in a run's second half."""
    ahead = 2 * (life - until) / until
    both = zip(*found.queues, strict=True)
    return not found.full and all(end + (end - half) * ahead <= OVERLOADED for half, end in both)


class Search:
    """Finds the maximum data rate of a policy in a world, using what is known from other runs."""

    def __init__(self, world: World, policy: Policy, *, until: float, seed: int = 0) -> None:
        self._world, self._policy, self._until, self._seed = world, policy, until, seed
        self._lasts: dict[float, bool] = {}
        self.events = 0

    def run(self, rate: float) -> Outcome:
        """A whole run at a rate, which also informs the search."""
        return self._ran(rate, stop_overloaded=False)

    def maximum(self, start: float) -> float:
        """The highest rate, to a few per cent, that lasts, searched from an initial rate."""
        low, high = self._bounds(start)
        while high / low > PRECISION:
            middle = sqrt(low * high)
            low, high = (middle, high) if self._is_fine(middle) else (low, middle)
        return sqrt(low * high)

    @property
    def known(self) -> Mapping[float, bool]:
        """The rates that were tried, and whether they would last."""
        return self._lasts

    def _bounds(self, start: float) -> tuple[float, float]:
        """A rate that lasts and a higher one that does not, as close as known."""
        high = min((rate for rate, fine in self._lasts.items() if not fine), default=0.0)
        low = max(
            (rate for rate, fine in self._lasts.items() if fine and rate < (high or rate + 1)), default=0.0
        )
        if not (low or high):
            low, high = (start, 0.0) if self._is_fine(start) else (0.0, start)
        while not low:
            low, high = (high / 2, high) if self._is_fine(high / 2) else (0.0, high / 2)
        while not high:
            low, high = (low, 2 * low) if not self._is_fine(2 * low) else (2 * low, 0.0)
        return low, high

    def _is_fine(self, rate: float) -> bool:
        if rate not in self._lasts:
            # If nodes share load, they may still recover from an overload.
            self._ran(rate, stop_overloaded=self._world.sharing is None)
        return self._lasts[rate]

    def _ran(self, rate: float, stop_overloaded: bool) -> Outcome:
        found = simulate(
            self._world,
            self._policy,
            rate,
            until=self._until,
            ramp=self._until * RAMP,
            seed=self._seed,
            stop_overloaded=stop_overloaded,
            may_fill=True,
        )
        self.events += found.events
        stopped = stop_overloaded and found.overloaded is not None
        self._lasts[rate] = not stopped and lasts(found, self._until)
        return found
