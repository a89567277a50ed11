"""Box sliding: boxes at the edge of a site's part move to a neighbour (Aurora* 5.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from australis.algebra.network import Network, Ref
from australis.policy.place.survey import Survey


class Direction(Enum):
    """The direction of a move along the stream."""

    UP = "upstream"
    DOWN = "downstream"
    ASIDE = "sideways"


@dataclass(frozen=True)
class Sliding:
    """Boxes that move from one site to another, with their arcs and their state."""

    boxes: tuple[str, ...]
    source: str
    target: str
    way: Direction

    @property
    def touched(self) -> frozenset[str]:
        """The boxes that are stopped meanwhile."""
        return frozenset(self.boxes)

    def apply(self, survey: Survey) -> Survey:
        """The survey after it."""
        return survey.with_boxes(dict.fromkeys(self.boxes, self.target))

    def state_bytes(self, survey: Survey) -> float:
        """The bytes to transfer."""
        return sum(survey.states.get(box_id, 0.0) for box_id in self.boxes)

    def __str__(self) -> str:
        return f"{', '.join(self.boxes)} {self.way.value} from {self.source} to {self.target}"


def slides(survey: Survey, site: str) -> Iterator[Sliding]:
    """Everything that a site may give away, to each site that can run it and has the lines for it.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> from australis.policy.place.survey import Placement, Site
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").output("y")
    >>> weak, strong = Site(0.1, frozenset(["filter"])), Site()
    >>> at = Placement({"f": "server"}, {"x": "sensor"}, {"y": "server"})
    >>> lines = {("sensor", "server"): 1e3}
    >>> survey = Survey(net.build(), at, {"sensor": weak, "server": strong}, lines, {"x": 10})
    >>> [str(each) for each in slides(survey, "server")]
    ['f upstream from server to sensor']
    """
    for boxes in _pieces(survey, site):
        for target in sorted(survey.sites.keys() - {site}):
            found = Sliding(boxes, site, target, _way(survey, boxes, target))
            if _fits(survey, found):
                yield found


def _fits(survey: Survey, slide: Sliding) -> bool:
    """Whether the target can run the boxes, and there are lines for all that they read and emit."""
    network, after = survey.network, slide.apply(survey)
    if not all(survey.sites[slide.target].can(network.boxes[each].box.kind) for each in slide.boxes):
        return False
    refs = {source for each in slide.boxes for source in network.boxes[each].sources}
    refs.update(_made(network, slide.boxes))
    return all(leg in survey.lines for ref in refs for leg in after.legs(ref))


def _pieces(survey: Survey, site: str) -> list[tuple[str, ...]]:
    """Each box alone; with all upstream of it on the site; with all downstream of it on the site.

    A piece in the middle of a chain is cut off on both sides, which shows in its traffic cost.
    """
    network = survey.network
    here = [b for b in network.order if survey.placement.boxes[b] == site and not network.boxes[b].box.system]
    found: dict[tuple[str, ...], None] = {}
    for box_id in here:
        upstream, downstream = _linked(network, box_id, here, before=True), _linked(network, box_id, here)
        found |= dict.fromkeys([(box_id,), upstream, downstream])
    stay = survey.fixed | survey.pinned
    return [boxes for boxes in found if not stay.intersection(boxes)]


def _linked(network: Network, box_id: str, here: list[str], *, before: bool = False) -> tuple[str, ...]:
    """A box and those of some boxes that it reads from, or that read from it, directly or not."""
    found = {box_id}
    for each in reversed(here) if before else here:
        if before and any(each in _sources(network, reader) for reader in found):
            found.add(each)
        if not before and _sources(network, each) & found:
            found.add(each)
    return tuple(each for each in here if each in found)


def _sources(network: Network, box_id: str) -> set[str]:
    return {source.id for source in network.boxes[box_id].sources}


def _way(survey: Survey, boxes: tuple[str, ...], target: str) -> Direction:
    network = survey.network
    if any(survey.maker(source) == target for source in _inputs(network, boxes)):
        return Direction.UP
    down = any(target in survey.readers(ref) for ref in _made(network, boxes))
    return Direction.DOWN if down else Direction.ASIDE


def _made(network: Network, boxes: Iterable[str]) -> Iterator[Ref]:
    """The streams that some boxes emit."""
    return (Ref(box_id, port) for box_id in boxes for port in range(network.boxes[box_id].box.outputs))


def _inputs(network: Network, boxes: Iterable[str]) -> set[Ref]:
    """The streams that come to some boxes from others, except stored tables."""
    sources = {source for box_id in boxes for source in network.boxes[box_id].sources}
    return {source for source in sources if source.id not in boxes and not _is_table(network, source)}


@dataclass(frozen=True)
class Standstill:
    """How the network is stopped where it changes: streams to hold, boxes to drain."""

    held: tuple[Ref, ...]
    drained: tuple[str, ...]


def stop(network: Network, boxes: Iterable[str]) -> Standstill:
    """Where to hold the streams to some boxes: at connection points, or else at the inputs (Aurora* 5.1).

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").map({"b": "a"}, as_="m").output("y")
    >>> stop(net.build(), ["m"])
    Standstill(held=(Ref(id='x', port=0),), drained=('f', 'm'))
    """
    points = {point.at for point in network.connection_points.values()}
    held, drained, ahead = set[Ref](), set[str](), set(boxes)
    while ahead:
        drained |= ahead
        sources = {source for box_id in ahead for source in network.boxes[box_id].sources}
        ends = {source for source in sources if source in points or source.id in network.inputs}
        held |= {source for source in ends if not _is_table(network, source)}
        ahead = {source.id for source in sources - ends} - drained
    return Standstill(tuple(sorted(held, key=str)), tuple(each for each in network.order if each in drained))


def _is_table(network: Network, ref: Ref) -> bool:
    return ref.id in network.inputs and network.inputs[ref.id].table
