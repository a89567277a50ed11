"""A world as arrays, for the compiled loop."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from australis.errors import Problem, SimulationError
from australis.policy.route import RoutedStream, Rules
from australis.sim.route.compiled.heap import EVENT
from australis.sim.route.world import World

NONE = -1
ARRIVAL, SERVED, TELL, FLUSH, PAGE, LOOK = range(6)
"""The kinds of events: about a stream, a copy, an operator, a link, the first tuple of a page, or none."""
MOST_VISITS = 62
"""The bits of a history."""

OPERATOR = np.dtype(
    [
        ("work", "f8"),  # the resources that a tuple takes
        ("copy", "i8"),  # the first copy; at first the only one
        ("copies", "i8"),
        ("queued", "i8"),  # at all of them, including those in progress
        ("ticket", "i8"),
        ("served", "i8"),  # tuples since its last report, as below
        ("emitted", "i8"),
        ("worked", "f8"),
        ("area", "f8"),  # the integral of its queue over time
        ("changed", "f8"),  # when the queue last changed
        ("told", "f8"),  # the time of its last report
        ("queue", "f8"),  # as last reported, as below
        ("selectivity", "f8"),
        ("cost", "f8"),
        ("score", "f8"),
        ("otherwise", "f8"),
    ],
    align=True,
)
COPY = np.dtype(
    [
        ("operator", "i8"),  # the operator that this is a copy of
        ("node", "i8"),
        ("first", "i8"),  # of the chain of tuples that are queued here
        ("last", "i8"),
        ("queued", "i8"),  # including the one in progress
        ("service", "f8"),  # the mean time per tuple
        ("taking", "f8"),  # the time that the first tuple takes
        ("sibling", "i8"),  # the next copy of the same operator
        ("alive", "i8"),
        ("heir", "i8"),  # where tuples go that arrive at a removed copy
        ("coming", "i8"),  # tuples on their way to it
        ("asked", "i8"),  # tuples that arrived since nodes last checked their loads
        ("wanted", "f8"),  # resources per unit of time, as of then
        ("moved", "f8"),  # when the operator was last slid, split or merged
    ],
    align=True,
)
TUPLE = np.dtype(
    [
        ("born", "f8"),
        ("visited", "i8"),
        ("next", "i4"),
        ("visit", "i4"),
        ("to", "i4"),  # where it is, or is going
        ("stream", "i2"),
        ("there", "i2"),  # the node that it is sent to
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("queued", "i8"),
        ("hosted", "i8"),  # copies, which share the resources equally
        ("capacity", "f8"),
    ],
    align=True,
)
STREAM = np.dtype([("node", "i8"), ("first", "i8"), ("last", "i8"), ("gap", "f8")], align=True)
VISIT = np.dtype([("operator", "i8"), ("before", "i8"), ("selectivity", "f8")], align=True)
LINK = np.dtype(
    [("head", "i8"), ("tail", "i8"), ("filled", "i8"), ("due", "f8"), ("free", "f8"), ("page_time", "f8")],
    align=True,
)
COUNTS = np.dtype(
    [
        ("spare", "i8"),  # the chain of free tuples
        ("fresh", "i8"),  # tuples from here on were never used
        ("copies", "i8"),  # copies from here on were never used
        ("planned", "i8"),  # events in the heap
        ("serial", "i8"),
        ("entered", "i8"),
        ("left", "i8"),  # those that reached the sink
        ("eaten", "i8"),
        ("made", "i8"),  # by selectivities above 1
        ("events", "i8"),
        ("now", "f8"),
        ("response", "f8"),  # the sum of response times
        ("stay", "f8"),  # the same for those that were eliminated
        ("overloaded", "f8"),  # when a node first was; -1 if never
        ("full", "i8"),  # whether there was no room for another tuple
        ("slid", "i8"),
        ("split", "i8"),
        ("merged", "i8"),
        ("handed", "i8"),  # queued tuples that went from a copy to another
    ],
    align=True,
)
HEAP_ROOM = 1 << 14
COPIES_MOST = 10
"""The number of copies per operator that there is room for, on average."""


class Arrays(NamedTuple):
    """The whole world, as records."""

    operators: Any
    copies: Any
    homes: Any
    """By operator and node, the copy there."""
    tuples: Any
    nodes: Any
    streams: Any
    visits: Any
    links: Any
    heap: Any
    counts: Any
    ready: Any
    """Room for the visits that a tuple may choose from, and their scores."""
    scores: Any


class How(NamedTuple):
    """The other parameters of the loop."""

    score: int
    weighted: bool
    steady: bool
    instant: bool
    page_tuples: int
    wait: float
    latency: float
    tell_tuples: int
    tell_time: float
    ticket_limit: int
    limit: int
    stop_overloaded: bool
    ramp: float
    """The time until sources have reached their rates."""
    look: float
    """How often nodes check whether to share load; 0: never."""
    rules: Rules


def laid_out(world: World, rate: float, room: int) -> Arrays:
    """The initial world, with a total rate of its sources."""
    nodes = {node: place for place, node in enumerate(world.capacities)}
    operators = len(world.plan.operators)
    most = operators * (min(len(nodes), COPIES_MOST) if world.sharing else 1)
    made = Arrays(
        np.zeros(operators, OPERATOR),
        np.zeros(most, COPY),
        np.full((operators, len(nodes)), NONE),
        np.zeros(room, TUPLE),
        np.zeros(len(nodes), NODE),
        np.zeros(len(world.plan.streams), STREAM),
        np.zeros(sum(len(stream.visits) for stream in world.plan.streams), VISIT),
        np.zeros(len(nodes) ** 2, LINK),
        np.zeros(HEAP_ROOM, EVENT),
        np.zeros(1, COUNTS),
        np.zeros(MOST_VISITS, np.int64),
        np.zeros(MOST_VISITS, np.float64),
    )
    made.nodes["capacity"] = list(world.capacities.values())
    _place_operators(made, world, nodes)
    _place_streams(made, world, nodes, rate)
    for (one, other), time in world.links.page_times.items():
        made.links["page_time"][nodes[one] * len(nodes) + nodes[other]] = time
    made.counts["overloaded"] = made.counts["spare"] = NONE
    made.counts["copies"] = operators
    return made


def _place_operators(made: Arrays, world: World, nodes: dict[str, int]) -> None:
    """One copy of each operator, with an equal share of its node."""
    operators, every = made.operators, np.arange(len(made.operators))
    copies = made.copies[: len(every)]
    for name in ("sibling", "heir", "first", "last"):
        made.copies[name] = NONE
    copies["operator"] = operators["copy"] = every
    copies["node"] = hosts = [nodes[world.places[id_]] for id_ in world.plan.operators]
    copies["alive"] = operators["copies"] = 1
    made.homes[every, hosts] = every
    made.nodes["hosted"] = np.bincount(hosts, minlength=len(nodes))
    operators["work"] = [operator.work for operator in world.plan.operators.values()]
    copies["service"] = (operators["work"] * made.nodes["hosted"][hosts]) / made.nodes["capacity"][hosts]
    # An unknown operator is assumed to pass half of its tuples.
    operators["selectivity"] = 0.5
    operators["cost"] = copies["service"]
    # The first change need not wait.
    copies["moved"] = -inf


def _place_streams(made: Arrays, world: World, nodes: dict[str, int], rate: float) -> None:
    operators = {op: place for place, op in enumerate(world.plan.operators)}
    first = 0
    for place, stream in enumerate(world.plan.streams):
        last = first + len(stream.visits)
        node = nodes.get(world.places.get(stream.id, ""), NONE)
        made.streams[place] = (node, first, last, 1 / (rate * stream.share))
        made.visits[first:last] = _visits(world, stream, operators)
        first = last


def _visits(world: World, stream: RoutedStream, operators: dict[str, int]) -> list[tuple[int, int, float]]:
    """The operators that a stream's tuples must visit; an operator's bit in a history is its index here."""
    if len(stream.visits) > MOST_VISITS:
        raise SimulationError(
            Problem(stream.id, f"visits {len(stream.visits)} operators", f"at most {MOST_VISITS}")
        )
    bits = {op: 1 << place for place, op in enumerate(stream.visits)}
    return [
        (operators[op], sum(bits[each] for each in before), world.plan.operators[op].made_of(stream.id))
        for op, before in stream.visits.items()
    ]
