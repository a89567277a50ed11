"""How finely a server is backed up: virtual machines trade recovery time for messages (section 6.4).

A server's boxes form a chain, cut into K virtual machines. At each boundary between two of them is a queue
whose entries are also sent to a backup machine, one message each. When the server fails, each virtual machine
continues from its own queue, so only what is still in it has to be redone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum

from australis.errors import PolicyError, Problem


@dataclass(frozen=True)
class Granularity:
    """The boxes of a server on some virtual machines.

    >>> Granularity((1.0, 1.0, 2.0), machines=2).parts
    ((1.0, 1.0), (2.0,))
    """

    costs_s: tuple[float, ...]
    """How long each box works on a tuple."""
    machines: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.machines <= len(self.costs_s):
            most = f"1 to {len(self.costs_s)}, a box each"
            raise PolicyError(Problem("granularity.machines", f"is {self.machines}", most))

    @property
    def parts(self) -> tuple[tuple[float, ...], ...]:
        """The costs of the boxes of each virtual machine: cut where their sums are nearest to equal parts."""
        sums = [0.0, *accumulate(self.costs_s)]
        cuts = [0]
        for number in range(1, self.machines):
            aim = sums[-1] * number / self.machines
            # Each part has a box, including the remaining parts.
            places = range(cuts[-1] + 1, len(self.costs_s) - (self.machines - number) + 1)
            cuts.append(min(places, key=lambda place: abs(sums[place] - aim)))
        ends = [*cuts[1:], len(self.costs_s)]
        return tuple(self.costs_s[begin:end] for begin, end in zip(cuts, ends, strict=True))

    @property
    def messages(self) -> int:
        """The messages to the backup machine per tuple that passes all boxes."""
        return self.machines - 1

    def redone_s(self, queues: Sequence[int]) -> float:
        """How long it takes to redo what is in the queue of each virtual machine.

        >>> Granularity((1.0, 1.0), 1).redone_s([50]), Granularity((1.0, 1.0), 2).redone_s([1, 50])
        (100.0, 51.0)
        """
        return fsum(length * fsum(part) for length, part in zip(queues, self.parts, strict=True))

    def foreseen_s(self, rate: float, kept_s: float) -> float:
        """The estimated recovery time, if entries are kept for a time at the end of the server.

        Only the last queue waits for a report from the next server; the others hold what is being processed.
        """
        return self.redone_s([*(1 for _ in range(self.machines - 1)), round(rate * kept_s)])


def coarsest(costs_s: tuple[float, ...], rate: float, kept_s: float, within_s: float) -> Granularity:
    """The fewest virtual machines that recover within a time; one per box, if no number does.

    >>> coarsest((0.01,) * 4, rate=100, kept_s=1.0, within_s=2.5).machines
    2
    """
    choices = [Granularity(costs_s, machines) for machines in range(1, len(costs_s) + 1)]
    return next((each for each in choices if each.foreseen_s(rate, kept_s) <= within_s), choices[-1])
