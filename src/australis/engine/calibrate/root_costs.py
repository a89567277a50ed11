"""Costs and selectivities measured by a node, from the statistics of its root."""

from __future__ import annotations

from australis.algebra.network import Network, Ref
from australis.engine.calibrate.calibration import Calibration, ends_us
from australis.engine.observe import Statistics, SuperboxStatistics
from australis.errors import EngineError, Problem
from australis.policy.analysis import Cost, Costs


def known_costs(network: Network, statistics: Statistics) -> Calibration:
    """The costs that a node has measured for a network; reading and writing are measured here."""
    if set(statistics.boxes) != set(network.boxes):
        what = f"the root holds {statistics.network!r} with the boxes {', '.join(statistics.boxes) or 'none'}"
        raise EngineError(Problem(network.name, what, "the root of this very network"))
    boxes = {box: _cost(network, statistics, box) for box in network.order}
    costs = Costs(boxes, *ends_us(network), _train_us(statistics))
    idle = [box for box in network.order if not statistics.boxes[box].received]
    note = f"the node had no tuple for {', '.join(idle)}: nothing is known of their costs, and 0 is assumed"
    tuples = sum(each.received for each in statistics.boxes.values())
    return Calibration(costs, tuples, (note,) if idle else ())


def _cost(network: Network, statistics: Statistics, box: str) -> Cost:
    found, ports = statistics.boxes[box], range(network.boxes[box].box.outputs)
    if not found.received:
        return Cost(0.0, (0.0,) * len(ports))
    emitted = (statistics.ports.get(str(Ref(box, port)), 0) for port in ports)
    return Cost(found.cost_us or 0.0, tuple(tuples / found.received for tuples in emitted))


def _train_us(statistics: Statistics) -> float:
    return max((_fixed_us(statistics, each) for each in statistics.superboxes.values()), default=0.0)


def _fixed_us(statistics: Statistics, superbox: SuperboxStatistics) -> float:
    """The time that the median train took besides its boxes."""
    if superbox.train_ms_p50 is None or not superbox.trains:
        return 0.0
    spent_us = sum(statistics.boxes[box].nanoseconds for box in superbox.boxes) / 1000
    return max(0.0, superbox.train_ms_p50 * 1000 - spent_us / superbox.trains)
