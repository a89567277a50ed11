"""Small worlds to place boxes in: a chain over a sensor, two servers and a desk."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from australis.algebra.builder import NetworkBuilder
from australis.algebra.network import Network
from australis.algebra.order import Order
from australis.policy.place.survey import Line, Placement, Site, Survey
from australis.rewrite.statistics import Measure, Statistics

SENSOR = Site(0.2, frozenset(["filter", "map"]))


def chain() -> Network:
    """Readings are thinned, counted by their sensor, and paired with zones, which makes more of them."""
    net = NetworkBuilder("chain")
    zones = net.table("zones", "sid int, zone string")
    thin = net.input("s", "sid int not null, at int not null, v int").filter("v > 0", as_="thin")
    order = Order("at", group_by=("sid",))
    thin.aggregate({"n": "count(*)"}, order, 10, align=True, as_="count").output("counts")
    thin.join(zones, "left.sid = right.sid", left=order, as_="pair").output("pairs")
    return net.build()


KNOWN = Statistics(
    {"thin": Measure(100.0, (0.1, 0.9)), "count": Measure(400.0, (0.1,)), "pair": Measure(100.0, (4.0,))}
)


def world(rate: float, bandwidth: float = 1e6, sites: dict[str, str] | None = None) -> Survey:
    """All boxes at server a, unless told otherwise; readings come from the sensor, the desk reads."""
    boxes = {"thin": "a", "count": "a", "pair": "a", **(sites or {})}
    at = Placement(boxes, {"s": "sensor", "zones": "desk"}, {"counts": "desk", "pairs": "desk"})
    names = ("sensor", "a", "b", "desk")
    lines = {(one, other): bandwidth for one in names for other in names if one != other}
    known = {"sensor": SENSOR, "a": Site(), "b": Site(), "desk": Site(0.5)}
    return Survey(chain(), at, known, lines, {"s": rate}, KNOWN)


def without(survey: Survey, *lines: Line) -> Survey:
    """The same with some lines cut."""
    return replace(survey, lines={line: width for line, width in survey.lines.items() if line not in lines})


def random_world(random: Random) -> Survey:
    """Boxes anywhere that they can be, with sites of any load and lines of any width."""
    network = chain()
    names = ["sensor", "a", "b", "c", "desk"]
    sites = {name: Site(random.choice([0.5, 1.0, 2.0])) for name in names} | {"sensor": SENSOR}
    servers = names[1:]
    boxes = {box_id: random.choice(servers) for box_id in network.boxes}
    at = Placement(boxes, {"s": "sensor", "zones": "desk"}, {"counts": "desk", "pairs": "desk"})
    lines = {(one, other): random.choice([2e4, 1e5, 1e6]) for one in names for other in names if one != other}
    known = {
        box_id: Measure(random.choice([20.0, 100.0, 500.0]), tuple(random.random() * 3 for _ in range(ports)))
        for box_id, ports in {"thin": 2, "count": 1, "pair": 1}.items()
    }
    states = {box_id: random.choice([0.0, 1e4, 1e6]) for box_id in boxes}
    return Survey(
        network,
        at,
        sites,
        lines,
        {"s": random.choice([100.0, 1000.0, 4000.0])},
        Statistics(known),
        states=states,
    )
