"""Small random networks over a few sites, for unreliable worlds."""

from __future__ import annotations

from random import Random

from australis.algebra.builder import NetworkBuilder, Stream
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.policy.place import Placement, Site, Survey
from australis.rewrite.statistics import Measure, Statistics

SCHEMA = "k int not null, at int not null, v int"
SERVERS = ("a", "b", "c", "d")
EDGE = "edge"
"""Where streams come in; it can run no windows."""
WEAK = frozenset(["filter", "map", "union"])
WIDTH = 1e6


def random_network(draw: Random) -> Network:
    """Filters, Maps and Unions over one or two streams, with counts by key at the ends; all is read."""
    net = NetworkBuilder("small")
    streams = [net.input(name, SCHEMA) for name in ("s", "t")[: draw.choice((1, 2))]]
    ends = dict(enumerate(streams))
    for number in range(draw.randrange(1, 5)):
        taken = sorted({draw.randrange(len(streams)) for _ in range(draw.choice((1, 1, 2)))})
        for each in taken:
            ends.pop(each, None)
        ends[len(streams)] = _step(draw, [streams[each] for each in taken], number)
        streams.append(ends[len(streams)])
    for number, stream in ends.items():
        if draw.random() < 0.7:
            order = Order("at", group_by=("k",))
            stream = stream.aggregate({"n": "count(*)"}, order, 10, align=True, as_=f"count{number}")
        stream.output(f"out{number}")
    return net.build()


def _step(draw: Random, streams: list[Stream], number: int) -> Stream:
    if len(streams) > 1:
        return streams[0].union(*streams[1:], as_=f"union{number}")
    if draw.random() < 0.7:
        return streams[0].filter(f"v > {draw.randrange(4)}", as_=f"filter{number}")
    return streams[0].map({"k": "k", "at": "at", "v": "v + 1"}, as_=f"map{number}")


def random_survey(draw: Random) -> Survey:
    """A network over three or four sites, with costs that make some of them too small."""
    network = random_network(draw)
    sites = {name: Site(draw.choice((0.5, 1.0, 2.0))) for name in SERVERS[: draw.choice((2, 3, 4))]}
    names = sorted(sites)
    at = Placement(
        {box_id: draw.choice(names) for box_id in network.boxes},
        dict.fromkeys(network.inputs, EDGE),
        {name: draw.choice(names) for name in network.outputs},
    )
    sites[EDGE] = Site(draw.choice((0.2, 1.0)), WEAK)
    width = draw.choice((WIDTH, WIDTH, WIDTH / 20))
    lines = {(one, other): width for one in sites for other in sites if one != other}
    known = {
        box_id: Measure(
            draw.choice((50.0, 200.0, 400.0)), tuple(draw.random() for _ in range(node.box.outputs))
        )
        for box_id, node in network.boxes.items()
    }
    states = {box_id: draw.choice((0.0, 1e5)) for box_id in network.boxes}
    rates = dict.fromkeys(network.inputs, 1000.0)
    return Survey(network, at, sites, lines, rates, Statistics(known), states=states)
