"""When to switch to another form of the running network: it must be better by a margin, and prove it.

In: the running network and its cost, an alternative and its expected cost. Out: the network to switch to, or
none. A switch that turns out to cost more is undone, and not tried again for a while.
"""

from __future__ import annotations

from dataclasses import dataclass

from australis.algebra.network import Network

GAIN_LEAST = 0.05
"""The fraction of the cost that a switch must save to be worth it."""
LOSS_MOST = 0.05
"""The fraction by which the measured cost may grow before a switch is undone."""
TUPLES_JUDGED = 100_000
"""The tuples needed to judge a switch; fewer say more about the machine than about the network."""
SURPRISE = 0.1
"""How far the selectivity of a box may differ from what was expected."""
REFUSED_LOOKS = 20
"""For how many cycles a network that disappointed is not tried again: streams change."""


@dataclass(frozen=True)
class Seen:
    """One observation: costs in any one unit; `spent` is what the running network really took per tuple."""

    running: Network
    better: Network
    cost_now: float
    cost_then: float
    spent: float
    tuples: float = TUPLES_JUDGED
    """How many tuples `spent` is based on."""


@dataclass
class _Trial:
    """What ran before a switch and what it cost, and what its replacement has cost since."""

    before: Network
    spent: float
    looks: int = 0
    tuples: float = 0.0
    total: float = 0.0

    def add(self, seen: Seen) -> None:
        self.looks += 1
        # The first trains load code.
        if self.looks > 1:
            self.tuples += seen.tuples
            self.total += seen.spent * seen.tuples

    @property
    def is_over(self) -> bool:
        return self.tuples >= TUPLES_JUDGED

    @property
    def was_bad(self) -> bool:
        return self.total / self.tuples > self.spent * (1 + LOSS_MOST)


class Adaptation:
    """Decides at each observation.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> def net(size):
    ...     made = NetworkBuilder("n")
    ...     made.input("x", "a int").filter(f"a > {size}", as_="f").output("y")
    ...     return made.build()
    >>> slow, fast, adaptation = net(1), net(2), Adaptation()
    >>> adaptation.decide(Seen(slow, fast, cost_now=10, cost_then=5, spent=10)) == fast
    True
    >>> adaptation.decide(Seen(fast, fast, 5, 5, spent=90)) is None
    True
    >>> adaptation.decide(Seen(fast, fast, 5, 5, spent=12)) == slow
    True
    >>> adaptation.decide(Seen(slow, fast, 10, 5, spent=10)) is None
    True
    """

    def __init__(self) -> None:
        self._trial: _Trial | None = None
        self._refused: dict[Network, int] = {}
        """Networks that disappointed, and for how many more observations they are not tried."""

    def decide(self, seen: Seen) -> Network | None:
        """The network to switch to."""
        self._refused = {network: left - 1 for network, left in self._refused.items() if left > 1}
        back = self._taken_back(seen)
        if back is not None:
            return back
        saves = seen.cost_now - seen.cost_then
        if seen.better == seen.running or seen.better in self._refused or saves < GAIN_LEAST * seen.cost_now:
            return None
        self._trial = _Trial(seen.running, seen.spent)
        return seen.better

    def _taken_back(self, seen: Seen) -> Network | None:
        """The network that ran before, if the last switch made it worse; a switch is judged once."""
        trial = self._trial
        if trial is None:
            return None
        trial.add(seen)
        if not trial.is_over:
            return None
        self._trial = None
        if not trial.was_bad:
            return None
        self._refused[seen.running] = REFUSED_LOOKS
        return trial.before


def surprises(passed: float, expected: float) -> bool:
    """Whether a combined box has an unexpected selectivity, so that its parts must have changed.

    >>> surprises(0.3, 0.35), surprises(0.6, 0.05)
    (False, True)
    """
    return abs(passed - expected) > SURPRISE
