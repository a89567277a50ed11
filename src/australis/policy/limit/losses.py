"""What was lost against the bound, told apart: what the bound loses with the capacity that went somewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from australis.policy.limit.bound import Work, bound


@dataclass(frozen=True)
class Losses:
    """The bound, and what of it was lost to what; the measured utility is the rest."""

    bound: float
    scheduling: float
    """By time that was not spent on tuples: fixed costs of trains, commits, choices, idle workers."""
    shed_late: float
    """By time spent on tuples that no output got in the end: shed after a stage had processed them."""
    shares: float
    """By time spent on outputs for which it was worth less than for others."""
    lateness: float
    """What the delivered fractions could have had and did not: by delays, and by values that were shed.

    It is negative if more was measured than the load allows in the long run, since queues were filled.
    """

    @property
    def causes(self) -> dict[str, float]:
        """What was lost to each cause."""
        names = ("scheduling", "shed_late", "shares", "lateness")
        return {name: getattr(self, name) for name in names}


def losses(work: Work, capacity: float, processed: Mapping[str, float], utility: float) -> Losses:
    """What was lost, given the part of its work that each stage did, and the utility measured.

    >>> curves = {"a": ((0, 0), (1, 4)), "b": ((0, 0), (1, 1))}
    >>> ways = {"a": ("shared", "a"), "b": ("shared", "b")}
    >>> work = Work({"shared": 0.5, "a": 0.5, "b": 0.5}, ways, curves)
    >>> found = losses(work, 1.0, {"shared": 0.8, "a": 0.6, "b": 0.4}, 2.5)
    >>> {name: round(each, 3) for name, each in vars(found).items()}
    {'bound': 4.0, 'scheduling': 0.4, 'shed_late': 0.4, 'shares': 0.4, 'lateness': 0.3}
    """
    done = {stage: min(max(part, 0.0), 1.0) for stage, part in processed.items()}
    delivered = {name: min((done[stage] for stage in way), default=1.0) for name, way in work.ways.items()}
    spent = min(sum(done[stage] * each for stage, each in work.stages.items()), capacity)
    used = min(work.needs(delivered), spent)
    steps = [bound(work, each).utility for each in (capacity, spent, used)]
    # While queues fill, outputs have more than what was delivered meanwhile says.
    reached = min(max(work.utility(delivered), utility), steps[-1])
    return Losses(
        bound=steps[0],
        scheduling=steps[0] - steps[1],
        shed_late=steps[1] - steps[2],
        shares=steps[2] - reached,
        lateness=reached - utility,
    )
