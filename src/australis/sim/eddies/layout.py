"""A world as arrays: what the compiled loop works on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from australis.errors import Problem, SimulationError
from australis.policy.route.plan import Stream
from australis.sim.eddies.heap import EVENT
from australis.sim.eddies.world import World

NONE = -1
ARRIVAL, SERVED, TELL, FLUSH, PAGE = range(5)
"""The kinds of events: about a stream, a node, an operator, a link, the first tuple of a page."""
MOST_VISITS = 62
"""The bits of a history."""

OPERATOR = np.dtype(
    [
        ("node", "i8"),
        ("head", "i8"),  # of its queue, a chain of tuples
        ("tail", "i8"),
        ("queued", "i8"),  # the one that is worked on included
        ("following", "i8"),  # of those whose turn is later at the node
        ("ticket", "i8"),
        ("served", "i8"),  # since it last told of itself, as what is below
        ("emitted", "i8"),
        ("worked", "f8"),
        ("taking", "f8"),  # the time that the tuple takes which is worked on
        ("area", "f8"),  # the integral of its queue over time
        ("changed", "f8"),  # when the queue last changed
        ("told", "f8"),  # when it last told of itself
        ("service", "f8"),  # the mean time for a tuple
        ("selectivity", "f8"),  # as it last told
        ("cost", "f8"),
        ("score", "f8"),  # by what it last told
        ("otherwise", "f8"),
    ],
    align=True,
)
TUPLE = np.dtype(
    [("born", "f8"), ("visited", "i8"), ("stream", "i8"), ("visit", "i8"), ("next", "i8")], align=True
)
NODE = np.dtype([("first", "i8"), ("last", "i8"), ("queued", "i8")], align=True)
STREAM = np.dtype([("node", "i8"), ("first", "i8"), ("last", "i8"), ("gap", "f8")], align=True)
VISIT = np.dtype([("operator", "i8"), ("before", "i8"), ("selectivity", "f8")], align=True)
LINK = np.dtype(
    [("head", "i8"), ("tail", "i8"), ("filled", "i8"), ("due", "f8"), ("free", "f8"), ("page_time", "f8")],
    align=True,
)
COUNTS = np.dtype(
    [
        ("spare", "i8"),  # the chain of tuples that are nowhere
        ("planned", "i8"),  # events in the heap
        ("serial", "i8"),
        ("entered", "i8"),
        ("left", "i8"),  # those that reached the sink
        ("eaten", "i8"),
        ("made", "i8"),  # by selectivities above 1
        ("events", "i8"),
        ("now", "f8"),
        ("response", "f8"),  # the sum of response times
        ("overloaded", "f8"),  # when a node first was; -1 if never
        ("full", "i8"),  # whether there was no room for one more tuple
    ],
    align=True,
)
HEAP_ROOM = 1 << 14


class Arrays(NamedTuple):
    """All that there is, as records."""

    operators: Any
    tuples: Any
    nodes: Any
    streams: Any
    visits: Any
    links: Any
    heap: Any
    counts: Any
    ready: Any
    """Room for the visits that a tuple may choose from, and for their scores."""
    scores: Any


class How(NamedTuple):
    """What the loop is told besides."""

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


def laid_out(world: World, rate: float, room: int) -> Arrays:
    """The world before anything has happened, its sources having a rate together."""
    nodes = {node: place for place, node in enumerate(world.capacities)}
    made = Arrays(
        np.zeros(len(world.plan.operators), OPERATOR),
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
    _place_operators(made, world, nodes)
    _place_streams(made, world, nodes, rate)
    made.tuples["next"] = np.arange(1, room + 1)
    made.tuples["next"][-1] = NONE
    made.nodes["first"] = made.nodes["last"] = NONE
    for (one, other), time in world.links.page_times.items():
        made.links["page_time"][nodes[one] * len(nodes) + nodes[other]] = time
    made.counts["overloaded"] = NONE
    return made


def _place_operators(made: Arrays, world: World, nodes: dict[str, int]) -> None:
    given = made.operators
    for name in ("head", "tail", "following"):
        given[name] = NONE
    for place, (id_, operator) in enumerate(world.plan.operators.items()):
        node = world.places[id_]
        given["node"][place] = nodes[node]
        given["service"][place] = operator.work / world.capacities[node]
    # Before anything is known of an operator, it is taken for one that lets half of the tuples through.
    given["selectivity"] = 0.5
    given["cost"] = given["service"]


def _place_streams(made: Arrays, world: World, nodes: dict[str, int], rate: float) -> None:
    operators = {op: place for place, op in enumerate(world.plan.operators)}
    first = 0
    for place, stream in enumerate(world.plan.streams):
        last = first + len(stream.visits)
        node = nodes.get(world.places.get(stream.id, ""), NONE)
        made.streams[place] = (node, first, last, 1 / (rate * stream.share))
        made.visits[first:last] = _visits(world, stream, operators)
        first = last


def _visits(world: World, stream: Stream, operators: dict[str, int]) -> list[tuple[int, int, float]]:
    """What a stream's tuples must visit; the bit of an operator in a history is its place here."""
    if len(stream.visits) > MOST_VISITS:
        raise SimulationError(
            Problem(stream.id, f"visits {len(stream.visits)} operators", f"at most {MOST_VISITS}")
        )
    bits = {op: 1 << place for place, op in enumerate(stream.visits)}
    return [
        (operators[op], sum(bits[each] for each in before), world.plan.operators[op].made_of(stream.id))
        for op, before in stream.visits.items()
    ]
