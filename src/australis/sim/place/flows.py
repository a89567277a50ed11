"""Streams as flows: each step carries as much of every stream as sites and lines can handle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from australis.algebra.network import Ref
from australis.policy.place import Line, Survey

TRIES = 12
"""The iterations to find what a step can do: what one site does not pass on, another does not receive."""
TOLERANCE = 0.01
"""The tolerance for what a site or a line may do more or less than its capacity."""

Place = TypeVar("Place", bound=Hashable)


class Amount(NamedTuple):
    """A number of tuples, which need not be whole, and the sum of their arrival times at the inputs."""

    tuples: float = 0.0
    born: float = 0.0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.tuples + other.tuples, self.born + other.born)

    def times(self, factor: float) -> Amount:
        return Amount(self.tuples * factor, self.born * factor)


NOTHING = Amount()
Leg = tuple[Ref, str, str]
"""A stream on its way from one site to another."""


@dataclass(frozen=True)
class FlowStep:
    """The result of a step."""

    delivered: Mapping[str, Amount]
    """By output."""
    carried: Mapping[Line, float]
    """Bytes, by line."""
    work: Mapping[str, float]
    """Seconds of computing, by site."""


class Flows:
    """A network in which amounts of tuples flow through boxes on sites and over lines with a capacity.

    An overloaded site admits the same fraction of everything that waits, and an overloaded line carries the
    same fraction of everything that is sent; the rest waits. What a site admits passes through all its boxes,
    like a train; so without overload, a tuple is through in one step.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.policy.place.survey import Placement, Site
    >>> from australis.rewrite.statistics import Measure, Statistics
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").output("y")
    >>> at = Placement({"f": "one"}, {"x": "one"}, {"y": "one"})
    >>> known = Statistics({"f": Measure(1000.0, (0.5, 0.5))})
    >>> flows = Flows(Survey(net.build(), at, {"one": Site()}, {}, {}, known))
    >>> step = flows.step(now=0.0, seconds=1.0, rates={"x": 4000})
    >>> step.delivered["y"].tuples, flows.waiting["f"].tuples
    (500.0, 3000.0)
    """

    def __init__(self, survey: Survey) -> None:
        self.waiting: dict[str, Amount] = {}
        """At each box, what comes from another site or an input."""
        self.underway: dict[Leg, Amount] = {}
        """At each line."""
        self.brought: dict[str, Amount] = {}
        """What a change has brought to outputs, to be delivered in the next step."""
        self.held: frozenset[str] = frozenset()
        """Boxes that are stopped because they move."""
        self._set(survey)

    def _set(self, survey: Survey) -> None:
        self.survey = survey
        network = survey.network
        self._refs = [Ref(name) for name, given in network.inputs.items() if not given.table]
        self._costs = {box_id: survey.tuple_s(box_id) for box_id in network.order}
        self._shares = {b: survey.statistics.of(network, b).selectivity for b in network.order}
        self._routes = {ref: _Route(survey, ref) for ref in network.schemas}

    def step(self, now: float, seconds: float, rates: Mapping[str, float]) -> FlowStep:
        """Advance by a time in which tuples arrive at some rates."""
        sites = {name: site.capacity * seconds for name, site in self.survey.sites.items()}
        lines = {line: width * seconds for line, width in self.survey.lines.items()}
        done = self._pass(now, seconds, rates, {}, {})
        for _ in range(TRIES):
            parts = _fitted(done.sites, done.work, sites), _fitted(done.lines, done.carried, lines)
            if parts == (done.sites, done.lines):
                break
            done = self._pass(now, seconds, rates, *parts)
        self.waiting, self.underway, self.brought = done.waiting, done.underway, {}
        return FlowStep(done.delivered, done.carried, done.work)

    def _pass(
        self,
        now: float,
        seconds: float,
        rates: Mapping[str, float],
        sites: Mapping[str, float],
        lines: Mapping[Line, float],
    ) -> _Pass:
        found = _Pass(self, sites, lines)
        found.run(now, seconds, rates)
        return found

    @property
    def backlog(self) -> float:
        """All waiting tuples."""
        every = (*self.waiting.values(), *self.underway.values())
        return sum(amount.tuples for amount in every)

    def change(
        self,
        survey: Survey,
        copies: Mapping[str, tuple[str, float]],
        heirs: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Continue with another network or placement; `copies` get their share of what waits for a box.

        `heirs` are the boxes and outputs that get what waits at boxes that go.

        What is in transit to or from boxes that move is first brought to its readers.
        """
        touched = _touched(self.survey, survey)
        for leg in [leg for leg in self.underway if leg[0] in touched]:
            self._bring(leg, self.underway.pop(leg))
        self._set(survey)
        for gone, each in (heirs or {}).items():
            self._hand_over(self.waiting.pop(gone, NOTHING), each)
        for copy, (box_id, part) in copies.items():
            whole = self.waiting.get(box_id, NOTHING)
            self.waiting |= {copy: whole.times(part), box_id: whole.times(1 - part)}

    def _hand_over(self, amount: Amount, heirs: tuple[str, ...]) -> None:
        for heir in heirs:
            places = self.waiting if heir in self.survey.network.boxes else self.brought
            places[heir] = places.get(heir, NOTHING).plus(amount)

    def _bring(self, leg: Leg, amount: Amount) -> None:
        for box_id in _reached(self.survey, leg):
            self.waiting[box_id] = self.waiting.get(box_id, NOTHING).plus(amount)
        for name in _ended(self.survey, leg):
            self.brought[name] = self.brought.get(name, NOTHING).plus(amount)


def _touched(before: Survey, after: Survey) -> set[Ref]:
    """The streams whose path or readers change."""
    every = before.network.schemas.keys() | after.network.schemas.keys()
    return {ref for ref in every if _way(before, ref) != _way(after, ref)}


def _way(survey: Survey, ref: Ref) -> object:
    """Where a stream comes from, and which readers it has where."""
    if ref not in survey.network.schemas:
        return None
    ends = survey.ends[ref]
    return survey.maker(ref), ends, [survey.placement.boxes[box_id] for box_id in ends.boxes]


class _Route:
    """The route of a stream: first to its connection point, then to the sites of its readers."""

    def __init__(self, survey: Survey, ref: Ref) -> None:
        network, legs = survey.network, survey.legs(ref)
        self.made = survey.maker(ref)
        kept = {a for a, b in legs if a != self.made}
        self.kept = next(iter(kept), self.made)
        self.size = survey.size(ref)
        self.boxes: dict[str, list[str]] = defaultdict(list)
        for box_id, _ in network.consumers[ref]:
            self.boxes[survey.placement.boxes[box_id]].append(box_id)
        self.outputs: dict[str, list[str]] = defaultdict(list)
        for name, output in network.outputs.items():
            if output.source == ref:
                self.outputs[survey.placement.outputs[name]].append(name)
        self.sites = sorted({*self.boxes, *self.outputs})
        self._is_input = ref.id in network.inputs

    def is_inside(self, site: str) -> bool:
        """Whether what a site reads comes from its own boxes."""
        return not self._is_input and self.made == self.kept == site


class _Pass:
    """One pass through the network, with the fraction of the demand that each site and line can handle."""

    def __init__(self, flows: Flows, sites: Mapping[str, float], lines: Mapping[Line, float]) -> None:
        self._flows, self.sites, self.lines = flows, sites, lines
        self.waiting = dict(flows.waiting)
        self.underway: dict[Leg, Amount] = {}
        self._let_in: dict[str, Amount] = {}
        """What a box receives from others on its site."""
        self.work: dict[str, float] = defaultdict(float)
        self.carried: dict[Line, float] = defaultdict(float)
        self.delivered = dict(flows.brought)

    def run(self, now: float, seconds: float, rates: Mapping[str, float]) -> None:
        for ref in self._flows._refs:
            tuples = rates.get(ref.id, 0.0) * seconds
            self._send(ref, Amount(tuples, tuples * now))
        for box_id in self._flows.survey.network.order:
            taken = self._take(box_id)
            for port, share in enumerate(self._flows._shares[box_id]):
                self._send(Ref(box_id, port), taken.times(share))

    def _take(self, box_id: str) -> Amount:
        """What a box processes: a fraction of what waits for it, and everything from its own site."""
        queue, inside = self.waiting.get(box_id, NOTHING), self._let_in.get(box_id, NOTHING)
        if box_id in self._flows.held:
            self.waiting[box_id] = queue.plus(inside)
            return NOTHING
        site = self._flows.survey.placement.boxes[box_id]
        part = self.sites.get(site, 1.0)
        taken = queue.times(part).plus(inside)
        self.work[site] += taken.tuples * self._flows._costs[box_id]
        self.waiting[box_id] = queue.times(1 - part)
        return taken

    def _send(self, ref: Ref, amount: Amount) -> None:
        route = self._flows._routes[ref]
        kept = self._over(ref, route.made, route.kept, route.size, amount)
        for site in route.sites:
            got = self._over(ref, route.kept, site, route.size, kept)
            places = self._let_in if route.is_inside(site) else self.waiting
            for box_id in route.boxes.get(site, ()):
                places[box_id] = places.get(box_id, NOTHING).plus(got)
            for name in route.outputs.get(site, ()):
                self.delivered[name] = self.delivered.get(name, NOTHING).plus(got)

    def _over(self, ref: Ref, source: str, target: str, size: float, amount: Amount) -> Amount:
        """What arrives at the end of a line, given what is at its beginning."""
        if source == target:
            return amount
        leg, line = (ref, source, target), (source, target)
        queue = self._flows.underway.get(leg, NOTHING).plus(amount)
        part = self.lines.get(line, 1.0)
        self.carried[line] += queue.tuples * size * part
        if part < 1.0:
            self.underway[leg] = queue.times(1 - part)
        return queue.times(part)


def _fitted(
    parts: Mapping[Place, float], done: Mapping[Place, float], able: Mapping[Place, float]
) -> Mapping[Place, float]:
    """Adjusted fractions where more or less was done than possible; the same ones if all is well."""
    found = dict(parts)
    for place, amount in done.items():
        part, off = parts.get(place, 1.0), able[place] / amount if amount else 2.0
        if off < 1 - TOLERANCE or (part < 1 and off > 1 + TOLERANCE):
            found[place] = min(1.0, part * off)
    return found


def _reached(survey: Survey, leg: Leg) -> Iterator[str]:
    """The boxes that a leg leads to: at its end, or at any site if it ends at the connection point."""
    for box_id, _ in survey.network.consumers[leg[0]]:
        if _is_at(survey, leg, survey.placement.boxes[box_id]):
            yield box_id


def _ended(survey: Survey, leg: Leg) -> Iterator[str]:
    """The outputs that a leg leads to."""
    for name, output in survey.network.outputs.items():
        if output.source == leg[0] and _is_at(survey, leg, survey.placement.outputs[name]):
            yield name


def _is_at(survey: Survey, leg: Leg, site: str) -> bool:
    ref, _, target = leg
    return site == target or any(source == target for source, _ in survey.legs(ref))
