"""What is known of the boxes of a network: their cost, their selectivity, and which of them run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import fsum, inf

from australis.algebra.boxes import Box
from australis.algebra.network import Network, Ref

_USUAL_US = {
    **{"filter": 0.03, "map": 0.02, "union": 0.02, "unnest": 0.2, "drop": 0.02, "bsort": 0.2, "wsort": 0.2},
    **{
        "changes": 0.1,
        "lag": 0.1,
        "distinct": 0.2,
        "aggregate": 0.15,
        "tumble": 0.1,
        "slide": 0.3,
        "xsection": 0.15,
        "top": 0.2,
        "join": 0.5,
        "asof": 0.3,
        "resample": 0.5,
        "number": 0.05,
    },
}
_DEAREST_US = max(_USUAL_US.values())
"""The assumption for a box that is not in the table."""
_USUAL_SELECTIVITY = {"aggregate": 0.1, "tumble": 0.5, "unnest": 3.0, "xsection": 0.1, "top": 0.1}


@dataclass(frozen=True)
class Measure:
    """What a box does to a tuple: the time it takes, and how many tuples it emits for it on each port."""

    tuple_us: float
    """Aurora's c(b)."""
    selectivity: tuple[float, ...] = (1.0,)
    """Aurora's s(b), by output port."""


@dataclass(frozen=True)
class Statistics:
    """What was measured of some boxes, and the running boxes whose past has to be kept.

    The default, nothing measured and nothing running, applies to a network before its first tuple.
    """

    boxes: Mapping[str, Measure] = field(default_factory=dict)
    running: Collection[str] = ()
    """Boxes with a state, or with emitted tuples that a consumer has not read yet."""
    lean_quarantine: bool = False
    """Whether the quarantine may omit attributes that no box needs."""

    def knows(self, *box_ids: str) -> bool:
        """Whether boxes were measured."""
        return all(box_id in self.boxes for box_id in box_ids)

    def of(self, network: Network, box_id: str) -> Measure:
        """What was measured of a box, or else the estimate for its kind."""
        return self.boxes.get(box_id) or _usual(network.boxes[box_id].box)

    def passed(self, network: Network, box_id: str) -> float:
        """The tuples that are read downstream per tuple in."""
        read = read_ports(network, box_id)
        return fsum(share for port, share in enumerate(self.of(network, box_id).selectivity) if port in read)

    def rank(self, network: Network, box_id: str) -> float:
        """(1 - s(b)) / c(b): how much a box thins the stream for its cost. The greatest goes first."""
        thinned, price = 1 - self.passed(network, box_id), self.of(network, box_id).tuple_us
        return thinned / price if price > 0 else inf * thinned if thinned else 0.0


def _usual(box: Box) -> Measure:
    share = 1.0 / box.outputs if box.kind == "filter" else _USUAL_SELECTIVITY.get(box.kind, 1.0)
    return Measure(_USUAL_US.get(box.kind, _DEAREST_US), (share,) * box.outputs)


def read_ports(network: Network, box_id: str) -> frozenset[int]:
    """The output ports of a box that a box, an output or a connection point reads."""
    ends = {o.source for o in network.outputs.values()} | {p.at for p in network.connection_points.values()}
    refs = [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]
    return frozenset(ref.port for ref in refs if ref in ends or network.consumers[ref])


def cost(network: Network, statistics: Statistics, rates: Mapping[str, float]) -> float:
    """The microseconds of computing per second that a network needs, for some rates of its inputs.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").map({"b": "a + 1"}, as_="m").output("y")
    >>> known = Statistics({"f": Measure(0.5, (0.1, 0.9)), "m": Measure(2.0)})
    >>> cost(net.build(), known, {"x": 1000})
    700.0
    """
    flow = {Ref(name): rates.get(name, 0.0) for name in network.inputs}
    needed = []
    for box_id in network.order:
        # The rows of a stored table were read once, and are not part of the stream.
        sources = network.boxes[box_id].sources
        received = fsum(0.0 if _is_table(network, source) else flow[source] for source in sources)
        measure = statistics.of(network, box_id)
        needed.append(received * measure.tuple_us)
        flow |= {Ref(box_id, port): received * share for port, share in enumerate(measure.selectivity)}
    return fsum(needed)


def _is_table(network: Network, ref: Ref) -> bool:
    return ref.id in network.inputs and network.inputs[ref.id].table
