"""Static analysis: is a network sized correctly for the rates that are expected of its inputs? (Aurora 4.4)

Derives, box by box, the rates inside the network and the computing time that it needs from the rate of every
input and the cost and selectivity of every box. Rates are in tuples per second, needs in cores: seconds of
computing per second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import fsum, inf

from australis.algebra.network import Network, Ref
from australis.qos.graphs import delta

Rates = Mapping[Ref, float]
"""The rate of every stream."""


@dataclass(frozen=True)
class Cost:
    """What a box does to a tuple: the time it takes, and how many tuples it emits for it on each port."""

    tuple_us: float
    """Aurora's c(b)."""
    selectivity: tuple[float, ...] = (1.0,)
    """Aurora's s(b), by output port."""


@dataclass(frozen=True)
class Costs:
    """What was measured of a network: its boxes, and the cost of reading an input and writing an output."""

    boxes: Mapping[str, Cost]
    inputs_us: Mapping[str, float] = field(default_factory=dict)
    outputs_us: Mapping[str, float] = field(default_factory=dict)
    train_us: float = 0.0
    """The fixed cost of a train, however few its tuples: no output can be earlier."""
    node_us: float = 0.0
    """What a node needs for a tuple of any input besides: queues, trains and commits."""


@dataclass(frozen=True)
class Hardware:
    """The hardware that a network is to run on."""

    capacity: float = 1.0
    """Its cores (Aurora's C)."""
    headroom: float = 1.0
    """The fraction of them that may be used in steady state; the rest is for ad hoc queries (Aurora's H)."""
    single: tuple[tuple[str, ...], ...] = ()
    """Boxes that can only run together in one partition, and so share one core."""

    @property
    def steady(self) -> float:
        """The cores that may be used in steady state."""
        return self.capacity * self.headroom

    def cores_of(self, box_id: str) -> float:
        """The most cores that a box can use at once."""
        alone = any(box_id in group for group in self.single)
        return min(1.0, self.capacity) if alone else self.capacity


class Verdict(StrEnum):
    """Whether the machine can handle the load."""

    FITS = "fits"
    TIGHT = "tight"
    """It can, but the headroom for ad hoc queries is gone."""
    OVERLOADED = "overloaded"


@dataclass(frozen=True)
class Load:
    """A box, input or output under load: what it would have to do, and what it can."""

    id: str
    tuple_us: float
    received: float
    """Tuples per second that arrive if every box upstream keeps up."""
    emitted: float
    received_possible: float
    """Tuples per second that arrive if every box upstream does what it can."""
    emitted_possible: float

    @property
    def cores(self) -> float:
        """The cores needed to keep up."""
        return self.received * self.tuple_us / 1e6

    @property
    def selectivity(self) -> float | None:
        """Tuples out per tuple in, on the ports that are read."""
        return self.emitted / self.received if self.received else None


@dataclass(frozen=True)
class Delay:
    """The good zone of an output's delay graph, and the least delay that is possible."""

    output: str
    delta_s: float
    """Where the good zone ends (Aurora's delta)."""
    least_s: float
    """The cost of a train, and of a tuple along the longest path from an input."""
    path: tuple[str, ...]

    @property
    def is_feasible(self) -> bool:
        return self.least_s <= self.delta_s


@dataclass(frozen=True)
class Analysis:
    """What a network needs at the expected rates, and whether the machine has it."""

    machine: Hardware
    inputs: Mapping[str, Load]
    boxes: Mapping[str, Load]
    outputs: Mapping[str, Load]
    node: Load
    """What the node needs besides."""
    delays: tuple[Delay, ...]

    @cached_property
    def min_cap(self) -> float:
        """The cores without which queues grow without bound."""
        parts = (self.inputs, self.boxes, self.outputs)
        return fsum([self.node.cores, *(load.cores for part in parts for load in part.values())])

    @cached_property
    def crowded(self) -> tuple[tuple[str, ...], ...]:
        """Boxes that share one core and need more."""
        return tuple(group for group in self.machine.single if self._need(group) > self._room)

    @property
    def verdict(self) -> Verdict:
        if self.min_cap > self.machine.capacity or self.crowded:
            return Verdict.OVERLOADED
        return Verdict.TIGHT if self.min_cap > self.machine.steady else Verdict.FITS

    @property
    def bottleneck(self) -> str | None:
        """The box closest to its limit: the one that needs the largest fraction of the cores it can have."""
        used = {box: load.cores / self.machine.cores_of(box) for box, load in self.boxes.items()}
        box = max(used, key=used.__getitem__, default=None)
        return box if box is not None and used[box] > 0 else None

    @property
    def excess(self) -> float:
        """The cores that are missing in steady state."""
        crowds = [self._need(group) - self._room for group in self.crowded]
        return max(0.0, self.min_cap - self.machine.steady, *crowds)

    @property
    def shed(self) -> float:
        """The fraction of every input to shed so that the rest fits; needs are proportional to the rates."""
        crowds = [1 - self._room / self._need(group) for group in self.crowded]
        whole = 1 - self.machine.steady / self.min_cap if self.min_cap else 0.0
        return max(0.0, whole, *crowds)

    @property
    def infeasible(self) -> tuple[Delay, ...]:
        """The outputs that can never be in the good zone of their delay graph."""
        return tuple(each for each in self.delays if not each.is_feasible)

    @property
    def _room(self) -> float:
        return min(1.0, self.machine.capacity)

    def _need(self, group: tuple[str, ...]) -> float:
        return fsum(self.boxes[box].cores for box in group)


def analyse(network: Network, inputs: Mapping[str, float], costs: Costs, machine: Hardware) -> Analysis:
    """Analyse a network at the rates of its inputs.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("soldiers")
    >>> _ = net.input("pos", "pos int").filter("pos >= 30", as_="across").output("alarms")
    >>> costs = Costs({"across": Cost(tuple_us=20, selectivity=(0.25, 0.75))})
    >>> found = analyse(net.build(), {"pos": 100_000}, costs, Hardware(capacity=1))
    >>> found.min_cap, str(found.verdict), found.outputs["alarms"].received, found.shed
    (2.0, 'overloaded', 25000.0, 0.5)
    >>> found.outputs["alarms"].received_possible
    12500.0
    """
    demanded = rates(network, inputs, costs.boxes)
    possible = rates(network, inputs, costs.boxes, lambda box: _throughput(costs.boxes[box], machine, box))
    return Analysis(
        machine,
        {name: _end(name, costs.inputs_us.get(name, 0.0), Ref(name), demanded, possible) for name in inputs},
        {box: _box(network, box, costs.boxes[box].tuple_us, demanded, possible) for box in network.order},
        {
            name: _end(name, costs.outputs_us.get(name, 0.0), output.source, demanded, possible)
            for name, output in network.outputs.items()
        },
        _node(costs, fsum(inputs.values())),
        _delays(network, costs),
    )


def rates(
    network: Network,
    inputs: Mapping[str, float],
    costs: Mapping[str, Cost],
    throughput: Callable[[str], float] = lambda box: inf,
) -> dict[Ref, float]:
    """The rate of every stream: min(throughput, arrival rate) x selectivity, from the inputs on."""
    found = {Ref(name): inputs.get(name, 0.0) for name in network.inputs}
    for box_id in network.order:
        taken = min(throughput(box_id), _coming(network, box_id, found))
        for port, selectivity in enumerate(costs[box_id].selectivity):
            found[Ref(box_id, port)] = taken * selectivity
    return found


def _throughput(cost: Cost, machine: Hardware, box_id: str) -> float:
    """The tuples per second that a box can take: 1 / c(b) on each core."""
    return machine.cores_of(box_id) * 1e6 / cost.tuple_us if cost.tuple_us else inf


def _coming(network: Network, box_id: str, found: Rates) -> float:
    return fsum(found[source] for source in network.boxes[box_id].sources)


def _box(network: Network, box_id: str, tuple_us: float, demanded: Rates, possible: Rates) -> Load:
    received = (_coming(network, box_id, each) for each in (demanded, possible))
    emitted = (_emitted(network, box_id, each) for each in (demanded, possible))
    (in_all, in_possible), (out_all, out_possible) = received, emitted
    return Load(box_id, tuple_us, in_all, out_all, in_possible, out_possible)


def _emitted(network: Network, box_id: str, found: Rates) -> float:
    """What a box emits on the ports that are read."""
    read = {output.source for output in network.outputs.values()}
    read |= {point.at for point in network.connection_points.values()}
    ports = (Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs))
    return fsum(found[ref] for ref in ports if ref in read or network.consumers[ref])


def _end(name: str, tuple_us: float, ref: Ref, demanded: Rates, possible: Rates) -> Load:
    return Load(name, tuple_us, demanded[ref], demanded[ref], possible[ref], possible[ref])


def _node(costs: Costs, rate: float) -> Load:
    return Load("node", costs.node_us, rate, rate, rate, rate)


def _delays(network: Network, costs: Costs) -> tuple[Delay, ...]:
    """The outputs whose delay graph has a good zone, each with its longest path."""
    longest = _longest(network, costs)
    found = []
    for name, output in network.outputs.items():
        good = delta(output.quality.delay) if output.quality else inf
        if good < inf:
            path_us, path = longest[output.source]
            path_us += costs.outputs_us.get(name, 0.0) + costs.train_us
            found.append(Delay(name, good, path_us / 1e6, path))
    return tuple(found)


def _longest(network: Network, costs: Costs) -> dict[Ref, tuple[float, tuple[str, ...]]]:
    """For each stream the most expensive path from an input, and the cost of a tuple along it."""
    found: dict[Ref, tuple[float, tuple[str, ...]]] = {
        Ref(name): (costs.inputs_us.get(name, 0.0), (name,)) for name in network.inputs
    }
    for box_id in network.order:
        node = network.boxes[box_id]
        streams = [source for source in node.sources if not _is_table(network, source)]
        before_us, path = max((found[source] for source in streams), key=lambda each: each[0])
        here = (before_us + costs.boxes[box_id].tuple_us, (*path, box_id))
        found.update({Ref(box_id, port): here for port in range(node.box.outputs)})
    return found


def _is_table(network: Network, source: Ref) -> bool:
    return source.id in network.inputs and network.inputs[source.id].table
