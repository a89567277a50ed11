"""Networks of servers: random, with branches and merges; and their output without any failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from australis.policy.recover import ServerArcs, gathered
from australis.sim.recover.boxes import Match, PathBox, PathTuple, Window, filtered, mapped

APPLICATION = "application"
KINDS = ("map", "filter", "window")


@dataclass(frozen=True)
class ServerArc:
    """The arc from one server to another."""

    id: str
    source: str
    target: str


@dataclass(frozen=True)
class Design:
    """What a server does: its chain of boxes, whether it pairs its two inputs, how it shares its outputs."""

    boxes: tuple[str, ...] = ("map",)
    window: int = 4
    matches: bool = False
    routes: bool = False
    """Whether a tuple is sent along one of the arcs, or along all."""


@dataclass(frozen=True)
class ServerNetwork:
    """Sources and servers in topological order, the last of which send to applications."""

    sources: tuple[str, ...]
    servers: dict[str, Design]
    arcs: tuple[ServerArc, ...]
    paths: dict[str, tuple[str, ...]] = field(init=False)
    """The paths of each arc."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", {})
        for name in (*self.sources, *self.servers):
            for arc in self.writes(name):
                self.paths[arc.id] = tuple(f"{path}>{arc.id}" for path in self._made(name))

    def _made(self, name: str) -> list[str]:
        if name in self.sources:
            return [name]
        if self.servers[name].matches:
            return [f"{name}:pairs"]
        return [path for arc in self.reads(name) for path in self.paths[arc.id]]

    def reads(self, name: str) -> list[ServerArc]:
        """The arcs into a server or application."""
        return [arc for arc in self.arcs if arc.target == name]

    def writes(self, name: str) -> list[ServerArc]:
        """The arcs out of a server or source."""
        return [arc for arc in self.arcs if arc.source == name]

    def plan(self, name: str, k: int, timeout_us: int) -> ServerArcs:
        """The arcs of a server, source or application; who a server reads from first guards it."""
        reads = {arc.id: arc.source for arc in self.reads(name)}
        writes = {arc.id: arc.target for arc in self.writes(name)}
        downstream = dict.fromkeys(target for target in writes.values() if target in self.servers)
        guards = tuple(each for each in downstream if self.reads(each)[0].source == name)
        return ServerArcs(name, reads, writes, guards, k, timeout_us)


class Work:
    """The boxes of one server."""

    def __init__(self, network: ServerNetwork, name: str) -> None:
        design = network.servers[name]
        self._arcs = {arc.id: network.paths[arc.id] for arc in network.reads(name)}
        self._pairs = f"{name}:pairs"
        inputs = [paths[0] for paths in self._arcs.values()]
        self._match = Match(self._pairs, *inputs) if design.matches else None
        self._boxes: list[PathBox] = [_box(kind, design.window) for kind in design.boxes]
        self._writes = [arc.id for arc in network.writes(name)]
        self._routes = design.routes
        self._processed: dict[str, int] = {}

    def take(self, tup: PathTuple) -> list[tuple[str, PathTuple]]:
        """What is sent along which arc because of a tuple."""
        self._processed[tup.path] = tup.number
        tup = PathTuple(tup.path, tup.number, tup.value, since=tup.number)
        found = self._match.take(tup) if self._match else [tup]
        for box in self._boxes:
            found = [made for each in found for made in box.take(each)]
        return [each for made in found for each in shared(made, self._writes, self._routes)]

    def done(self) -> dict[str, dict[str, int]]:
        """What none of the boxes depends on any more, by arc."""
        boxes = [*([self._match] if self._match else []), *self._boxes]
        return gathered([self._by_arc(self._processed), *(self._before(box.needs()) for box in boxes)])

    def _before(self, needs: dict[str, int]) -> dict[str, dict[str, int]]:
        """The positions before the tuples that a box needs; pairs have the numbers of both inputs."""
        pairs = needs.get(self._pairs)
        if pairs is not None:
            needs = {path: pairs for paths in self._arcs.values() for path in paths}
        return self._by_arc({path: number - 1 for path, number in needs.items()})

    def _by_arc(self, positions: dict[str, int]) -> dict[str, dict[str, int]]:
        return {
            arc: {path: positions[path] for path in paths if path in positions}
            for arc, paths in self._arcs.items()
        }


def _box(kind: str, window: int) -> PathBox:
    makers: dict[str, Callable[[], PathBox]] = {
        "map": mapped,
        "filter": filtered,
        "window": lambda: Window(window),
    }
    return makers[kind]()


def shared(tup: PathTuple, arcs: list[str], routes: bool) -> list[tuple[str, PathTuple]]:
    """The arcs of a tuple: all, or one that its number chooses."""
    chosen = [arcs[tup.number % len(arcs)]] if routes else arcs
    return [(arc, PathTuple(f"{tup.path}>{arc}", tup.number, tup.value)) for arc in chosen]


def computed(network: ServerNetwork, count: int) -> dict[str, dict[tuple[str, int], int]]:
    """What the applications receive for the first tuples of each source, by arc, path and number."""
    queued: dict[str, list[PathTuple]] = {arc.id: [] for arc in network.arcs}
    for source in network.sources:
        arcs = [arc.id for arc in network.writes(source)]
        for number in range(1, count + 1):
            for arc, tup in shared(PathTuple(source, number, number), arcs, routes=False):
                queued[arc].append(tup)
    for name in network.servers:
        work = Work(network, name)
        for tup in (tup for arc in network.reads(name) for tup in queued[arc.id]):
            for arc, made in work.take(tup):
                queued[arc].append(made)
    ends = [arc.id for arc in network.arcs if arc.target.startswith(APPLICATION)]
    return {arc: {(tup.path, tup.number): tup.value for tup in queued[arc]} for arc in ends}


def straight(servers: int, *boxes: str, window: int = 4) -> ServerNetwork:
    """A chain of servers."""
    names = [f"s{number}" for number in range(1, servers + 1)]
    stops = ["source", *names, APPLICATION]
    arcs = tuple(ServerArc(f"a{place}", *ends) for place, ends in enumerate(pairwise(stops)))
    return ServerNetwork(("source",), {name: Design(boxes or ("map",), window) for name in names}, arcs)


def drawn(chance: Random) -> ServerNetwork:
    """Servers that read from one or two upstream servers, and send to one or more downstream."""
    sources = tuple(f"source{number}" for number in range(chance.choice((1, 1, 2))))
    before, servers = list(sources), {}
    arcs: list[ServerArc] = []
    for number in range(1, chance.randint(3, 6) + 1):
        name = f"s{number}"
        # Mostly the latest, so that there are long paths; sometimes two, so that branches merge.
        found = {before[-1] if chance.random() < 0.7 else chance.choice(before)}
        if chance.random() < 0.4:
            found.add(chance.choice(before))
        arcs += [ServerArc(f"a{len(arcs) + place}", each, name) for place, each in enumerate(sorted(found))]
        servers[name] = Design(
            tuple(chance.choice(KINDS) for _ in range(chance.randint(1, 2))),
            chance.randint(1, 5),
            routes=chance.random() < 0.3,
        )
        before.append(name)
    ends = [name for name in before if not any(arc.source == name for arc in arcs)]
    arcs += [
        ServerArc(f"a{len(arcs) + place}", name, f"{APPLICATION}{place}") for place, name in enumerate(ends)
    ]
    network = ServerNetwork(sources, servers, tuple(arcs))
    designs = {name: _matching(network, name, chance) for name in servers}
    if any(design.matches for design in designs.values()):
        # Tuples on different paths never pair, and those that wait for them would be kept for ever.
        designs = {name: replace(design, routes=False) for name, design in designs.items()}
    return ServerNetwork(sources, designs, tuple(arcs))


def _matching(network: ServerNetwork, name: str, chance: Random) -> Design:
    """Let some servers with two inputs of one path each pair them."""
    design = network.servers[name]
    reads = [network.paths[arc.id] for arc in network.reads(name)]
    pairs = len(reads) == 2 and all(len(paths) == 1 for paths in reads) and chance.random() < 0.5
    return replace(design, matches=pairs)
