"""What placement knows: where boxes are, the capacity of machines and lines, and the measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, inf

from australis.algebra.expr import Value
from australis.algebra.network import Network, Ref
from australis.algebra.schema import Schema
from australis.errors import PolicyError, Problem
from australis.policy.place.parting import ALL_HERE, Beyond
from australis.rewrite.statistics import Statistics

Line = tuple[str, str]
"""The line from one site to another."""

_WIDTHS = {"int": 4, "long": 8, "double": 8, "string": 16, "boolean": 1, "timestamp": 8, "decimal": 16}


@dataclass(frozen=True)
class Site:
    """A machine that boxes run on."""

    capacity: float = 1.0
    """Its seconds of computing per second: its workers."""
    kinds: frozenset[str] | None = None
    """The kinds of boxes that it can run, None for all; a weak site, such as a sensor, may lack windows."""

    def __post_init__(self) -> None:
        if not 0 < self.capacity < inf:
            raise PolicyError(Problem("site", f"has the capacity {self.capacity:g}", "a number above 0"))

    def can(self, kind: str) -> bool:
        """Whether boxes of a kind run here."""
        return self.kinds is None or kind in self.kinds


@dataclass(frozen=True)
class Placement:
    """The sites of all boxes, and of inputs and outputs, which do not move.

    A connection point stays where its history is: its stream goes to that site first, whoever reads it
    (Aurora* 5.2).
    """

    boxes: Mapping[str, str]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    points: Mapping[str, str] = field(default_factory=dict)

    def with_boxes(self, sites: Mapping[str, str]) -> Placement:
        """The same with some boxes elsewhere."""
        return replace(self, boxes={**self.boxes, **sites})


@dataclass(frozen=True)
class Values:
    """How many tuples have which value of an attribute, as far as counted."""

    attribute: str
    counts: Mapping[Value, float]


@dataclass(frozen=True)
class Ends:
    """The readers of a stream: boxes, outputs, and the connection point on it, if there is one."""

    boxes: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    point: str | None = None

    def with_output(self, name: str) -> Ends:
        return replace(self, outputs=(*self.outputs, name))


@dataclass(frozen=True)
class Survey:
    """Everything that a decision may depend on; derived values are computed once."""

    network: Network
    placement: Placement
    sites: Mapping[str, Site]
    lines: Mapping[Line, float]
    """The bytes per second that a line carries; without a line, nothing can be sent."""
    rates: Mapping[str, float]
    """Tuples per second, by input."""
    statistics: Statistics = field(default_factory=Statistics)
    sizes: Mapping[Ref, float] = field(default_factory=dict)
    """Bytes of a tuple, by stream; an estimate from its schema if not measured."""
    states: Mapping[str, float] = field(default_factory=dict)
    """Bytes of a box's state."""
    values: Mapping[str, Values] = field(default_factory=dict)
    """Values counted at the input of a box."""
    fixed: frozenset[str] = frozenset()
    """Boxes that stay where they are, and whole."""
    pinned: frozenset[str] = frozenset()
    """Boxes that do not slide, because they are in two; they may be split once more."""
    other_work: Mapping[str, float] = field(default_factory=dict)
    """Seconds of computing per second that a site spends on anything but these boxes."""
    other_bytes: Mapping[Line, float] = field(default_factory=dict)
    """Bytes per second that a line carries besides these streams."""
    beyond: Beyond = ALL_HERE

    def __post_init__(self) -> None:
        for kind in ("boxes", "inputs", "outputs"):
            missing = getattr(self.network, kind).keys() - getattr(self.placement, kind).keys()
            if missing:
                raise PolicyError(Problem(f"placement.{kind}", f"has no {min(missing)}", "a site for each"))
        unknown = {*self.placement.boxes.values(), *self.placement.inputs.values()} - self.sites.keys()
        if unknown:
            raise PolicyError(Problem("placement", f"names {min(unknown)}", f"one of {sorted(self.sites)}"))

    @cached_property
    def flows(self) -> Mapping[Ref, float]:
        """Tuples per second, by stream, if nothing is overloaded; rows of stored tables do not flow."""
        found = {
            Ref(name): 0.0 if given.table else self.rates.get(name, 0.0)
            for name, given in self.network.inputs.items()
        }
        for box_id in self.network.order:
            taken = fsum(found[source] for source in self.network.boxes[box_id].sources)
            shares = self.statistics.of(self.network, box_id).selectivity
            found |= {Ref(box_id, port): taken * share for port, share in enumerate(shares)}
        return found

    @cached_property
    def work(self) -> Mapping[str, float]:
        """The seconds of computing per second that each box needs."""
        return {box_id: self.taken(box_id) * self.tuple_s(box_id) for box_id in self.network.boxes}

    @cached_property
    def loads(self) -> Mapping[str, float]:
        """The utilisation of each site; more than 1 is overload."""
        asked = {site: self.other_work.get(site, 0.0) for site in self.sites}
        for box_id, site in self.placement.boxes.items():
            asked[site] += self.work[box_id]
        return {site: work / self.sites[site].capacity for site, work in asked.items()}

    @cached_property
    def traffic(self) -> Mapping[Line, float]:
        """Bytes per second, by line, including lines that do not exist."""
        found: dict[Line, float] = defaultdict(float)
        for ref, rate in self.flows.items():
            for leg in self.legs(ref):
                found[leg] += rate * self.size(ref)
        return found

    @cached_property
    def uses(self) -> Mapping[Line, float]:
        """The utilisation of each line, in that direction."""
        others = self.other_bytes
        return {
            line: (self.traffic.get(line, 0.0) + others.get(line, 0.0)) / width
            for line, width in self.lines.items()
        }

    @cached_property
    def is_possible(self) -> bool:
        """Whether there is a line wherever something is sent, and every site can run its boxes."""
        boxes = self.placement.boxes.items()
        return all(line in self.lines for line in self.traffic) and all(
            self.sites[site].can(self.network.boxes[box_id].box.kind) for box_id, site in boxes
        )

    @cached_property
    def ends(self) -> Mapping[Ref, Ends]:
        """The readers of each stream, and its connection point."""
        found = {ref: Ends(tuple(box for box, _ in boxes)) for ref, boxes in self.network.consumers.items()}
        for name, output in self.network.outputs.items():
            found[output.source] = found[output.source].with_output(name)
        for name, point in self.network.connection_points.items():
            if name in self.placement.points:
                found[point.at] = replace(found[point.at], point=name)
        return found

    def with_boxes(self, sites: Mapping[str, str]) -> Survey:
        """The same with some boxes elsewhere."""
        found = replace(self, placement=self.placement.with_boxes(sites))
        # Values that do not depend on the placement need not be computed again.
        vars(found).update(flows=self.flows, work=self.work, ends=self.ends)
        return found

    def taken(self, box_id: str) -> float:
        """The tuples that arrive at a box per second."""
        return fsum(self.flows[source] for source in self.network.boxes[box_id].sources)

    def tuple_s(self, box_id: str) -> float:
        """The cost of a tuple at a box."""
        return self.statistics.of(self.network, box_id).tuple_us / 1e6

    def size(self, ref: Ref) -> float:
        """The bytes of a tuple of a stream."""
        return self.sizes.get(ref) or usual_size(self.network.schemas[ref])

    def maker(self, ref: Ref) -> str:
        """The site where a stream is produced."""
        return self.placement.inputs.get(ref.id) or self.placement.boxes[ref.id]

    def readers(self, ref: Ref) -> frozenset[str]:
        """The sites where a stream is read."""
        at, ends = self.placement, self.ends[ref]
        return frozenset(
            [at.boxes[each] for each in ends.boxes] + [at.outputs[each] for each in ends.outputs]
        )

    def legs(self, ref: Ref) -> frozenset[Line]:
        """The lines that a stream uses: once to each site, via its connection point."""
        made, point = self.maker(ref), self.ends[ref].point
        kept = made if point is None else self.placement.points[point]
        legs = {(made, kept), *((kept, site) for site in self.readers(ref))}
        return frozenset(leg for leg in legs if leg[0] != leg[1])


def usual_size(schema: Schema) -> float:
    """The estimated bytes of a tuple with its ts, from the types of its attributes.

    >>> from australis.algebra.schema import parse_schema
    >>> usual_size(parse_schema("sid int, name string"))
    28.0
    """
    return 8.0 + sum(_WIDTHS[attribute.type.name] for attribute in schema)
