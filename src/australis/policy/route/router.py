"""A router: the machine of one node that says by which shares tuples visit which operators next.

A node measures its own operators and tells all others what it found. What was not heard of lately is visited
only where there is nothing else to visit: its node may be down, and tuples that wait there are late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import msgspec

from australis.errors import PolicyError, Problem
from australis.policy.machines import Machine, Refuse, Say, Started
from australis.policy.route import messages as m
from australis.policy.route.policies import POLICIES, shares
from australis.policy.route.statistics import OperatorStatistics, interval, together


@dataclass(frozen=True)
class RouterSetup:
    """How a node routes."""

    policy: str = "SCQ"
    overloaded: int = 10_000
    """The queue length at which an operator's tickets are void."""
    stale_us: int = 15_000_000
    """How long a report is believed: three intervals of the paper."""

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            known = f"one of {', '.join(POLICIES)}"
            raise PolicyError(Problem("policy", f"is {self.policy}", known))
        if not (self.overloaded > 0 and self.stale_us > 0):
            what = f"are {self.overloaded} and {self.stale_us}"
            raise PolicyError(Problem("overloaded, stale_us", what, "numbers above 0"))


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """The last report of a neighbour, and when it came."""

    report: m.Report
    at: int


class RouterState(msgspec.Struct, forbid_unknown_fields=True):
    """What it must not forget."""

    reports: int
    own: dict[str, m.Reported]
    told: dict[str, Told]
    neighbours: tuple[str, ...]
    last: m.Route | None


class Router(Machine):
    """Reports the operators of its node, and routes by what all have reported.

    >>> router = Router("a")
    >>> found = router.handle(m.Measured({"f": m.Counted(10, 10, 5, 0.1, 2.0)}, ("b",)), now=0)
    >>> [type(each).__name__ for each in found], round(found[0].weights["f"].score, 2)
    (['Route', 'Send'], 7.14)
    """

    POLICY = "route"
    MESSAGES: ClassVar[Any] = m.Message
    EVENTS: ClassVar[Any] = m.Event | Started
    STATE = RouterState
    SETUP = RouterSetup

    def __init__(self, name: str, settings: RouterSetup | None = None, incarnation: int = 1) -> None:
        super().__init__(name, incarnation)
        self.settings = settings or RouterSetup()
        self._policy = POLICIES[self.settings.policy]
        self._reports = 0
        self._own: dict[str, m.Reported] = {}
        self._told: dict[str, Told] = {}
        self._neighbours: tuple[str, ...] = ()
        self._last: m.Route | None = None
        """What was commanded last: it is not said again."""

    # --- as a machine

    @classmethod
    def of(cls, name: str, setup: RouterSetup, incarnation: int) -> Self:
        """A router with a configuration."""
        return cls(name, setup, incarnation)

    def setup(self) -> RouterSetup:
        """How it routes."""
        return self.settings

    def state(self) -> RouterState:
        """What it measured and heard."""
        return RouterState(self._reports, self._own, self._told, self._neighbours, self._last)

    def resume(self, state: RouterState) -> None:
        """Continue from a state."""
        self._reports, self._own, self._told = state.reports, state.own, state.told
        self._neighbours, self._last = state.neighbours, state.last

    def partners(self) -> Iterable[str]:
        """The other nodes."""
        return self._neighbours

    def decide(self, event: Any, now: int) -> list[Any]:
        """What to do about an event of the host."""
        return _ABOUT[type(event)](self, event, now)

    def hear(self, sender: str, message: Any, now: int) -> list[Any]:
        """Note a report, unless a later one has come."""
        before = self._told.get(sender)
        if before is not None and message.at <= before.report.at:
            return [Refuse("overtaken")]
        self._told[sender] = Told(message, now)
        return self._routed(now)

    # --- events

    def _started(self, _: Started, now: int) -> list[Any]:
        """A host that restarts knows no weights."""
        self._last = None
        return self._routed(now)

    def _measured(self, measured: m.Measured, now: int) -> list[Any]:
        if self.name in measured.neighbours:
            return [Refuse("neighbour")]
        self._neighbours = measured.neighbours
        self._told = {name: told for name, told in self._told.items() if name in measured.neighbours}
        self._own = {op: self._after(op, each) for op, each in measured.operators.items()}
        self._reports += 1
        report = m.Report((self.incarnation, self._reports), self._own)
        return [*self._routed(now), *(Say(to, report) for to in measured.neighbours)]

    def _after(self, op: str, counted: m.Counted) -> m.Reported:
        """The statistics of an operator after one more interval."""
        before = self._own.get(op)
        old = _known(before, 1.0) if before is not None else OperatorStatistics()
        found = interval(old, counted.served, counted.emitted, counted.busy, counted.queue)
        ticket = max(0.0, old.ticket + counted.received - counted.emitted)
        if counted.queue > self.settings.overloaded:
            ticket = 0.0
        is_known = counted.served or (before is not None and before.cost is not None)
        cost = max(m.LEAST_COST, found.cost) if is_known else None
        return m.Reported(found.queue, ticket, found.selectivity, cost)

    def _gone(self, gone: m.Gone, now: int) -> list[Any]:
        self.lost(gone.partner)
        self._told.pop(gone.partner, None)
        self._neighbours = tuple(each for each in self._neighbours if each != gone.partner)
        return self._routed(now)

    # --- weights

    def _routed(self, now: int) -> list[Any]:
        """The weights, if they are others than before."""
        places = self._places()
        fresh = {name for name, told in self._told.items() if now - told.at <= self.settings.stale_us}
        weights = {op: self._weight(places[op], {self.name, *fresh}) for op in sorted(places)}
        route = m.Route(weights, self._policy.weighted)
        if route == self._last or not weights:
            return []
        self._last = route
        return [route]

    def _places(self) -> dict[str, dict[str, m.Reported]]:
        """The nodes of each operator, with what they reported of it; in one order at all nodes."""
        reports = {self.name: self._own, **{name: told.report.operators for name, told in self._told.items()}}
        found: dict[str, dict[str, m.Reported]] = {}
        for node in sorted(reports):
            for op, each in reports[node].items():
                found.setdefault(op, {})[node] = each
        return found

    def _weight(self, nodes: Mapping[str, m.Reported], fresh: set[str]) -> m.Weight:
        live = [node for node in nodes if node in fresh]
        costs = [each.cost for each in nodes.values() if each.cost is not None]
        # A copy that has processed nothing yet is taken to be like the others, or it never would.
        usual = sum(costs) / len(costs) if costs else 1.0
        used = {node: _known(each, usual) for node, each in nodes.items() if node in live or not live}
        speeds = {node: 1 / known.cost for node, known in used.items()}
        parts = {node: speed / sum(speeds.values()) for node, speed in speeds.items()}
        if not live:
            return m.Weight(0.0, 0.0, parts)
        known = together(list(used.values()))
        numbers = known.queue, known.ticket, known.selectivity, known.cost
        return m.Weight(self._policy.score(*numbers), self._policy.otherwise(*numbers), parts)


def _known(each: m.Reported, usual_cost: float) -> OperatorStatistics:
    cost = usual_cost if each.cost is None else each.cost
    return OperatorStatistics(each.queue, each.ticket, each.selectivity, cost)


def divided(ready: Sequence[str], route: m.Route) -> dict[str, float]:
    """How a train of tuples that may visit some operators is divided among those that are known.

    >>> weights = {"f": m.Weight(2.0, 0.1, {"a": 1.0}), "g": m.Weight(1.0, 0.5, {"b": 1.0})}
    >>> divided(["f", "g"], m.Route(weights, weighted=False))
    {'f': 1.0}
    """
    known = {op: route.weights[op] for op in ready if op in route.weights}
    scores, weighted = [each.score for each in known.values()], route.weighted
    if not any(scores):
        scores, weighted = [each.otherwise for each in known.values()], False
    found = shares(scores, weighted) if known else ()
    return {op: share for op, share in zip(known, found, strict=True) if share > 0}


_ABOUT: dict[type, Callable[[Router, Any, int], list[Any]]] = {
    Started: Router._started,
    m.Measured: Router._measured,
    m.Gone: Router._gone,
}
