"""What the load shedder would do at rates that a machine cannot handle (Aurora 4.5)."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.network import Network, Ref
from australis.plan.parts import outputs_of
from australis.plan.superboxes import Discipline, Plan, Superbox, plan
from australis.policy.analysis import Analysis, Costs, rates
from australis.policy.load import Goal, Situation, Stage
from australis.policy.shed import Flow, Shedding, shed

Rates = Mapping[Ref, float]


def shed_statically(network: Network, costs: Costs, found: Analysis) -> Shedding:
    """The drop boxes that recover the missing time, in a network whose queues are at its branch points."""
    made = plan(network, Discipline.BRANCH)
    inputs = {name: load.received for name, load in found.inputs.items()}
    streams = rates(network, inputs, costs.boxes)
    leads = outputs_of(network)
    stages = {name: _stage(made, each, found, streams, leads) for name, each in made.superboxes.items()}
    ways = made.ways
    goals = {
        name: Goal(name, output.quality, tuple(ways[name]))
        for name, output in network.outputs.items()
        if output.quality is not None
    }
    return shed(Flow(Situation(0, stages, goals)), found.excess)


def _stage(
    made: Plan, superbox: Superbox, found: Analysis, streams: Rates, leads: Mapping[str, frozenset[str]]
) -> Stage:
    """A superbox under the expected load; tuples dropped at its gate have already been read."""
    arcs = superbox.streams.values()
    rate = sum(streams[Ref.parse(arc)] for arc in arcs)
    direct = sum(streams[Ref.parse(arc)] for arc in arcs if made.arcs[arc].writer is None)
    written = [name for name, arc in made.outputs.items() if made.arcs[arc].writer == superbox.id]
    cores = sum(found.boxes[box].cores for box in superbox.boxes)
    cores += sum(found.outputs[name].cores for name in written if name in found.outputs)
    # Trains and commits are for those tuples, too.
    cores *= 1.0 + _part_of_node(found)
    return Stage(
        superbox.id,
        {name: fed / rate for name, fed in _fed(made, superbox, streams).items()} if rate else {},
        frozenset().union(*(leads[box] for box in superbox.boxes)),
        rate=rate,
        direct=direct,
        tuple_us=cores * 1e6 / rate if rate else 0.0,
    )


def _part_of_node(found: Analysis) -> float:
    """What the node needs besides, as a part of what boxes and outputs need."""
    own = sum(load.cores for part in (found.boxes, found.outputs) for load in part.values())
    return found.node.cores / own if own else 0.0


def _fed(made: Plan, superbox: Superbox, streams: Rates) -> dict[str, float]:
    """The tuples per second that other superboxes get from one."""
    fed: dict[str, float] = {}
    for reader in made.superboxes.values():
        for arc in reader.streams.values():
            if made.arcs[arc].writer == superbox.id:
                fed[reader.id] = fed.get(reader.id, 0.0) + streams[Ref.parse(arc)]
    return fed
