"""Plans of a distributed eddy: operators, and streams whose tuples visit them in an open order.

A tuple carries its execution history: the operators that it has visited. What it may visit next follows from
that. (Distributed eddies, section 3.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, inf

from australis.errors import PolicyError, Problem

SINK = "sink"
"""The destination of tuples that have visited all their operators."""

Visited = frozenset[str]
"""The operators that a tuple has visited."""


@dataclass(frozen=True)
class Operator:
    """An operator with its own queue and resources."""

    id: str
    work: float
    """The resources that a tuple takes (the paper's r)."""
    selectivity: float | Mapping[str, float] = 1.0
    """The tuples that it emits per tuple, by stream if that matters (the paper's σ)."""
    resources: float = inf
    """Its resources per unit of time (the paper's R)."""

    def __post_init__(self) -> None:
        for name, value in (("work", self.work), ("resources", self.resources)):
            if not value > 0:
                raise PolicyError(Problem(f"{self.id}.{name}", f"is {value}", "a number above 0"))
        values = self.selectivity.values() if isinstance(self.selectivity, Mapping) else [self.selectivity]
        if not all(0 < value < inf for value in values):
            raise PolicyError(Problem(f"{self.id}.selectivity", f"is {self.selectivity}", "above 0"))

    @property
    def service_time(self) -> float:
        """How long a tuple is processed (the paper's Ts)."""
        return self.work / self.resources

    def made_of(self, stream: str) -> float:
        """The tuples that it emits per tuple of a stream."""
        return self.selectivity[stream] if isinstance(self.selectivity, Mapping) else self.selectivity


@dataclass(frozen=True)
class RoutedStream:
    """The tuples of one source, and the operators they have to visit."""

    id: str
    visits: Mapping[str, frozenset[str]]
    """The operators, each with those that must be visited before it."""
    share: float = 1.0
    """The fraction of all tuples entering the plan that belong to this stream."""

    def ready(self, visited: Visited) -> tuple[str, ...]:
        """The operators that a tuple may visit next; none if it has visited all.

        >>> stream = RoutedStream("a", {"join": frozenset(), "filter": frozenset({"join"})})
        >>> stream.ready(frozenset()), stream.ready(frozenset({"join"}))
        (('join',), ('filter',))
        """
        return tuple(op for op, before in self.visits.items() if op not in visited and before <= visited)


def any_order(*operators: str) -> dict[str, frozenset[str]]:
    """The operators of a tuple that may visit them in any order."""
    return dict.fromkeys(operators, frozenset())


def in_order(*operators: str) -> dict[str, frozenset[str]]:
    """The operators of a tuple that must visit them one after the other."""
    return {op: frozenset(operators[:index]) for index, op in enumerate(operators)}


@dataclass(frozen=True)
class DistributedPlan:
    """A distributed plan: its operators, and the streams that go through them."""

    operators: Mapping[str, Operator] = field(repr=False)
    streams: tuple[RoutedStream, ...]

    def __post_init__(self) -> None:
        if abs(fsum(stream.share for stream in self.streams) - 1) > 1e-9:
            raise PolicyError(Problem("streams", "their shares do not add up to 1", "parts of one whole"))
        for stream in self.streams:
            self._check(stream)

    def _check(self, stream: RoutedStream) -> None:
        if not stream.share > 0:
            raise PolicyError(Problem(f"{stream.id}.share", f"is {stream.share}", "a number above 0"))
        unknown = {op for op, before in stream.visits.items() for op in (op, *before)} - set(self.operators)
        if unknown:
            known = ", ".join(self.operators)
            raise PolicyError(Problem(stream.id, f"visits {', '.join(sorted(unknown))}", f"some of {known}"))
        done: Visited = frozenset()
        while ready := stream.ready(done):
            done |= set(ready)
        if len(done) < len(stream.visits):
            stuck = ", ".join(sorted(set(stream.visits) - done))
            raise PolicyError(Problem(stream.id, f"can never visit {stuck}", "operators that can come first"))

    @cached_property
    def visitors(self) -> Mapping[str, float]:
        """For each operator, the fraction of the tuples reaching the sink that have visited it."""
        reached = {stream.id: self.yielded(stream) * stream.share for stream in self.streams}
        whole = fsum(reached.values())
        return {
            op: fsum(reached[stream.id] for stream in self.streams if op in stream.visits) / whole
            for op in self.operators
        }

    def yielded(self, stream: RoutedStream) -> float:
        """The tuples that reach the sink per tuple of a stream, whatever path they take."""
        found = 1.0
        for op in stream.visits:
            found *= self.operators[op].made_of(stream.id)
        return found

    def with_resources(self, resources: Mapping[str, float]) -> DistributedPlan:
        """The same plan with other resources for its operators."""
        given = {id_: replace(op, resources=resources[id_]) for id_, op in self.operators.items()}
        return DistributedPlan(given, self.streams)


def plan_of(operators: tuple[Operator, ...], streams: tuple[RoutedStream, ...]) -> DistributedPlan:
    """A plan of operators, indexed by their ids."""
    return DistributedPlan({operator.id: operator for operator in operators}, streams)
