"""The virtual world of distributed eddies: nodes, links, and a plan that runs there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from australis.errors import Problem, SimulationError
from australis.policy.route import RULES, DistributedPlan, Rules

OVERLOADED = 10_000
"""The tuples queued at a node from which it counts as overloaded."""


@dataclass(frozen=True)
class Links:
    """How tuples get from node to node: in pages that leave when they are full or a tuple has waited."""

    page_tuples: int = 1
    wait: float = 0.0
    """The longest that a tuple waits for its page to fill."""
    latency: float = 0.0
    page_times: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """How long a link takes for a full page, by (from, to); a partial page takes proportionally less."""

    def __post_init__(self) -> None:
        if self.page_tuples < 1:
            raise SimulationError(Problem("links.page_tuples", f"is {self.page_tuples}", "1 or more"))
        for time in (self.wait, self.latency, *self.page_times.values()):
            if not 0 <= time < inf:
                raise SimulationError(Problem("links", f"have the time {time}", "0 or more"))

    @property
    def are_instant(self) -> bool:
        """Whether tuples arrive at once."""
        return self.page_tuples == 1 and not any((self.latency, *self.page_times.values()))


@dataclass(frozen=True)
class Exchange:
    """When an operator reports to the others: after a number of tuples, or after a time."""

    tuples: int = 40
    time: float = 5.0

    def __post_init__(self) -> None:
        if self.tuples < 1 or not self.time > 0:
            raise SimulationError(Problem("exchange", f"is {self}", "at least 1 tuple, and a time above 0"))


@dataclass(frozen=True)
class Sharing:
    """Nodes that move operators among them: how often they check, and by which rules."""

    every: float = 1.0
    rules: Rules = RULES

    def __post_init__(self) -> None:
        if not 0 < self.every < inf:
            raise SimulationError(Problem("sharing.every", f"is {self.every}", "a time above 0"))


@dataclass(frozen=True)
class World:
    """A plan whose operators run on nodes.

    Every operator has its own queue, and an equal share of the resources of its node, whether it is busy or
    not; the resources in the plan are ignored.
    """

    plan: DistributedPlan
    capacities: Mapping[str, float]
    """The resources of each node per unit of time."""
    places: Mapping[str, str]
    """The node of each operator and source; tuples of a source without a node arrive at once."""
    links: Links = Links()
    exchange: Exchange = Exchange()
    steady: bool = True
    """Whether a tuple takes a constant time, or an exponential one with that mean."""
    ticket_limit: int = OVERLOADED
    """The queue length at which an operator's tickets are void."""
    sharing: Sharing | None = None
    """How operators are slid, split and merged; none: they stay where they are."""

    def __post_init__(self) -> None:
        sources = [stream.id for stream in self.plan.streams if stream.id in self.places]
        for id_ in (*self.plan.operators, *sources):
            if self.places.get(id_) not in self.capacities:
                known = ", ".join(self.capacities)
                raise SimulationError(Problem(id_, f"is on {self.places.get(id_)}", f"one of {known}"))
        for node, capacity in self.capacities.items():
            if not 0 < capacity < inf:
                raise SimulationError(Problem(node, f"has the capacity {capacity}", "a number above 0"))


def alone(plan: DistributedPlan, *, steady: bool = True) -> World:
    """Each operator on its own node with its resources, and tuples that arrive at once."""
    capacities = {id_: operator.resources for id_, operator in plan.operators.items()}
    return World(plan, capacities, {id_: id_ for id_ in plan.operators}, steady=steady)
