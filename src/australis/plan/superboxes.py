"""From a network to superboxes: the boxes that one scheduling step pushes a train through, as one Spark job.

In: a network and a discipline. Out: a `Plan`: the superboxes in topological order, and the arcs between them,
which are queues. Each box is in exactly one superbox: it runs once per tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Input, Network, Node, Output, Ref
from australis.algebra.schema import Schema
from australis.plan.spread import Spread, SpreadKind, spread_of

QUARANTINE_ARC = f"={QUARANTINE}"
"""The arc for tuples that a superbox cannot process."""


class Discipline(StrEnum):
    """What one scheduling step runs (Aurora 4.3)."""

    BOX = "box"
    """One box, over a few tuples: box-at-a-time."""
    TRAIN = "train"
    """One box, over all that its queues hold."""
    SUPERBOX = "superbox"
    """All connected boxes, over all that their queues hold; nothing is queued between them."""
    BRANCH = "branch"
    """Connected boxes that lead to the same outputs; queues lie where paths to other outputs branch off."""


@dataclass(frozen=True)
class Arc:
    """A queue: a stream written by a superbox or source, and read by superboxes, outputs or history."""

    id: str
    schema: Schema
    writer: str | None
    """The superbox that writes it; None for an input."""
    readers: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    """The connection points that keep its history."""


@dataclass(frozen=True)
class Superbox:
    """Boxes that run as one job: a network of their own, whose inputs and outputs are arcs.

    `admits` names the inputs whose tuples are checked here, so that bad tuples are quarantined only once.
    """

    id: str
    network: Network
    reads: Mapping[str, str]
    """The arc of each input of the network, including stored tables."""
    writes: Mapping[str, str]
    """The arc of each output of the network."""
    spread: Spread
    """Its keys are listed under the names of the network's inputs."""
    admits: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()
    """The superboxes of the plan that are joined in it, the first one first; otherwise only itself."""

    writers: Mapping[str, str] = field(default_factory=dict)
    """The member that writes each arc."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", self.members or (self.id,))

    @property
    def boxes(self) -> tuple[str, ...]:
        return self.network.order

    @cached_property
    def streams(self) -> Mapping[str, str]:
        """The arcs that trains read tuples from, by input."""
        return {name: arc for name, arc in self.reads.items() if not self.network.inputs[name].table}

    @cached_property
    def tables(self) -> Mapping[str, str]:
        """The arcs of stored tables, by input."""
        return {name: arc for name, arc in self.reads.items() if self.network.inputs[name].table}

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The boxes that keep state."""
        return tuple(box_id for box_id in self.boxes if self.network.boxes[box_id].box.ordered)

    @cached_property
    def has_timeouts(self) -> bool:
        """Whether the passing of time alone can make a box emit."""
        return any(node.box.timeout_us is not None for node in self.network.boxes.values())


@dataclass(frozen=True)
class Plan:
    """A network cut into superboxes, each after those that it reads from."""

    network: Network
    discipline: Discipline
    superboxes: Mapping[str, Superbox]
    arcs: Mapping[str, Arc]
    queries: tuple[str, ...] = ()
    """The ad hoc queries in the network; their boxes have their own superboxes."""

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """The arc of every output, `quarantine` included."""
        return {name: arc.id for arc in self.arcs.values() for name in arc.outputs}

    def query_of(self, superbox: str) -> str | None:
        """The ad hoc query that a superbox belongs to, if any."""
        name = superbox.partition(".")[0]
        return name if name in self.queries else None

    def upstream(self, superbox: str) -> Iterator[str]:
        """The superboxes that a superbox reads from, without repetition, itself last."""
        found: dict[str, None] = {}
        self._climb(superbox, found)
        return iter(found)

    @cached_property
    def ways(self) -> Mapping[str, list[str]]:
        """For every output the superboxes that lead to it, nearest last; under "" those that lead to none."""
        ways = {
            output: list(self.upstream(arc.writer)) if arc.writer else []
            for arc in self.arcs.values()
            for output in arc.outputs
        }
        led = {superbox for way in ways.values() for superbox in way}
        return {**ways, "": [name for name in self.superboxes if name not in led]}

    @cached_property
    def views(self) -> Mapping[str, float]:
        """The superboxes that lead only to views, and the importance of the most important of these."""
        found: dict[str, float] = {}
        for name, superbox in reversed(tuple(self.superboxes.items())):
            arcs = [self.arcs[arc] for arc in superbox.writes.values()]
            readers = [reader for arc in arcs for reader in arc.readers]
            points = [
                self.network.connection_points[point].importance for arc in arcs for point in arc.points
            ]
            ends = [None for arc in arcs for _ in arc.outputs]
            leads_to = [*ends, *points, *(found.get(reader) for reader in readers)]
            known = [each for each in leads_to if each is not None]
            if superbox.boxes and known and len(known) == len(leads_to):
                found[name] = max(known)
        return found

    def joined(self, members: Sequence[str]) -> Superbox:
        """Superboxes of the plan as one, which a train passes through without queues between them."""
        if len(members) == 1:
            return self.superboxes[members[0]]
        return _joined(self, tuple(members))

    def outputs_downstream(self) -> dict[str, int]:
        """How many outputs each superbox leads to: a measure of how much its queues deserve memory."""
        found = dict.fromkeys(self.superboxes, 0)
        for arc in self.arcs.values():
            for superbox in self.upstream(arc.writer) if arc.writer else ():
                found[superbox] += len(arc.outputs)
        return found

    def _climb(self, superbox: str, found: dict[str, None]) -> None:
        for arc in self.superboxes[superbox].streams.values():
            writer = self.arcs[arc].writer
            if writer is not None and writer not in found:
                self._climb(writer, found)
        found.setdefault(superbox)


def plan(network: Network, discipline: Discipline = Discipline.SUPERBOX, queries: Iterable[str] = ()) -> Plan:
    """Cut a network into superboxes; the boxes of a query are those whose ids begin with its name.

    The rest of the network is cut as if there were no queries, so that queries can be added and removed.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> a = net.input("x", "a int").filter("a > 1", as_="some").map({"b": "a + 1"}, as_="more").output("y")
    >>> [superbox.boxes for superbox in plan(net.build()).superboxes.values()]
    [('some', 'more')]
    >>> list(plan(net.build(), Discipline.BOX).superboxes)
    ['some', 'more']
    """
    return _Planner(network, discipline, tuple(queries)).plan()


def _joined(made: Plan, members: tuple[str, ...]) -> Superbox:
    planner = _Planner(made.network, made.discipline, made.queries)
    own = {box for member in members for box in made.superboxes[member].boxes}
    part = tuple(box for box in made.network.order if box in own)
    others = [superbox.boxes for name, superbox in made.superboxes.items() if name not in members]
    joined = planner.superbox(part, [*others, part])
    admits = frozenset().union(*(made.superboxes[member].admits for member in members))
    writers = {arc: name for name in members for arc in made.superboxes[name].writes.values()}
    return replace(joined, id=">".join(members), admits=admits, members=members, writers=writers)


class _Planner:
    def __init__(self, network: Network, discipline: Discipline, queries: tuple[str, ...]) -> None:
        self._network, self._discipline, self._queries = network, discipline, queries
        self._for_views = _for_views(network, queries)
        self._components = list(_components(network, lambda s, r: self._owner(s) == self._owner(r)))
        self._admitted: set[str] = set()

    def _owner(self, box_id: str) -> str:
        """The query that a box belongs to; boxes that lead only to views are separate as well."""
        first = box_id.partition(".")[0]
        return first if first in self._queries else "=" if box_id in self._for_views else ""

    def plan(self) -> Plan:
        parts = sorted(self._parts(), key=lambda part: self._owner(part[0]) != "")
        own = [part for part in parts if self._owner(part[0]) not in self._queries]
        made = [self.superbox(part, parts) for part in own]
        made += [*self._passages(), *self._gates()]
        # A query reads what others have checked.
        made += [replace(self.superbox(p, parts), admits=frozenset()) for p in parts if p not in own]
        superboxes = {each.id: each for each in made}
        arcs = dict(self._arcs(superboxes))
        return Plan(self._network, self._discipline, superboxes, arcs, self._queries)

    def _parts(self) -> Iterator[tuple[str, ...]]:
        if self._discipline is Discipline.SUPERBOX:
            yield from self._components
        elif self._discipline is Discipline.BRANCH:
            yield from _branches(self._network, self._owner)
        else:
            yield from ((box_id,) for box_id in self._network.order)

    def _leaving(self, part: tuple[str, ...], parts: list[tuple[str, ...]]) -> list[Ref]:
        """The streams of a part that are read outside of it."""
        network = self._network
        wanted = {output.source for output in network.outputs.values()}
        wanted |= {point.at for point in network.connection_points.values()}
        wanted |= {s for other in parts if other != part for b in other for s in network.boxes[b].sources}
        return [
            Ref(b, port)
            for b in part
            for port in range(network.boxes[b].box.outputs)
            if Ref(b, port) in wanted
        ]

    def superbox(self, part: tuple[str, ...], parts: list[tuple[str, ...]]) -> Superbox:
        """The boxes of a part as a superbox; the other parts may read what it emits."""
        network, leaving = self._network, self._leaving(part, parts)
        sources = dict.fromkeys(s for b in part for s in network.boxes[b].sources if s.id not in part)
        names = {ref: _input_name(network, ref, index) for index, ref in enumerate(sources)}
        inputs = {name: self._input(ref) for ref, name in names.items()}
        boxes = {b: Node(network.boxes[b].box, _renamed(network.boxes[b].sources, names)) for b in part}
        outputs = {f"out_{index}": Output(ref) for index, ref in enumerate(leaving)}
        own = Network(network.name, inputs, boxes, outputs or _nothing(part), timezone=network.timezone)
        writes = {name: str(output.source) for name, output in outputs.items()}
        reads = {name: str(ref) for ref, name in names.items()}
        return Superbox(_id(part), own, reads, writes, self._spread(part, names), self._admits(names))

    def _spread(self, part: tuple[str, ...], names: Mapping[Ref, str]) -> Spread:
        if not any(self._network.boxes[b].box.ordered for b in part):
            return Spread(SpreadKind.ROWS)
        component = next(each for each in self._components if part[0] in each)
        spread = spread_of(self._network, component)
        return Spread(
            spread.kind, {Ref(names[ref]): keys for ref, keys in spread.keys.items() if ref in names}
        )

    def _input(self, ref: Ref) -> Input:
        given = self._network.inputs.get(ref.id)
        return given if given is not None else Input(self._network.schemas[ref])

    def _admits(self, names: Iterable[Ref]) -> frozenset[str]:
        """The inputs that no earlier superbox has checked."""
        fresh = {ref.id for ref in names if ref.id in self._network.inputs} - self._admitted
        self._admitted |= fresh
        return frozenset(fresh)

    def _passages(self) -> Iterator[Superbox]:
        """A superbox without boxes for every output that reads directly from an input."""
        for name, output in self._network.outputs.items():
            if output.source.id in self._network.inputs:
                yield self._boxless(f"={name}", output.source, {"out_0": f"={name}"})

    def _gates(self) -> Iterator[Superbox]:
        """A superbox without boxes for every unread input, to quarantine bad tuples."""
        for name in self._network.inputs:
            if name not in self._admitted:
                yield self._boxless(f"~{name}", Ref(name), {})

    def _boxless(self, superbox: str, ref: Ref, writes: Mapping[str, str]) -> Superbox:
        # A stored table that nothing joins is passed through as a stream.
        inputs = {ref.id: replace(self._network.inputs[ref.id], table=False, store=None)}
        own = Network(self._network.name, inputs, {}, {"out_0": Output(ref)}, timezone=self._network.timezone)
        return Superbox(superbox, own, {ref.id: ref.id}, writes, Spread(SpreadKind.ROWS), self._admits([ref]))

    def _arcs(self, superboxes: Mapping[str, Superbox]) -> Iterator[tuple[str, Arc]]:
        network = self._network
        writers = {arc: each.id for each in superboxes.values() for arc in each.writes.values()}
        schemas = {arc: network.schemas[Ref.parse(arc)] for arc in writers if not arc.startswith("=")}
        schemas |= {f"={name}": network.output_schema(name) for name in network.outputs}
        for arc in (*network.inputs, *writers):
            schema = network.inputs[arc].schema if arc in network.inputs else schemas[arc]
            readers = tuple(each.id for each in superboxes.values() if arc in each.reads.values())
            outputs = tuple(
                name for name, out in network.outputs.items() if _arc_of(name, out, network) == arc
            )
            points = tuple(name for name, at in network.connection_points.items() if str(at.at) == arc)
            yield arc, Arc(arc, schema, writers.get(arc), readers, outputs, points)
        yield QUARANTINE_ARC, Arc(QUARANTINE_ARC, QUARANTINE_SCHEMA, None, (), (QUARANTINE,))


def _arc_of(name: str, output: Output, network: Network) -> str:
    return f"={name}" if output.source.id in network.inputs else str(output.source)


def _id(part: tuple[str, ...]) -> str:
    return part[0] if len(part) == 1 else f"{part[0]}+{len(part) - 1}"


def _input_name(network: Network, ref: Ref, index: int) -> str:
    """The name of a stream as an input of a superbox: its own if it is an input of the network."""
    if ref.id in network.inputs:
        return ref.id
    name = f"arc_{index}"
    while name in network.inputs or name in network.boxes:
        name += "_"
    return name


def _renamed(sources: tuple[Ref, ...], names: Mapping[Ref, str]) -> tuple[Ref, ...]:
    return tuple(Ref(names[source]) if source in names else source for source in sources)


def _nothing(part: tuple[str, ...]) -> dict[str, Output]:
    """A network needs an output, even if nothing reads its boxes."""
    return {"out_0": Output(Ref(part[-1]))}


def outputs_of(
    network: Network, owner: Callable[[str], str] = lambda box_id: ""
) -> dict[str, frozenset[str]]:
    """The outputs that each box leads to, through boxes of the same owner."""
    found: dict[str, frozenset[str]] = {}
    for box_id in reversed(network.order):
        refs = [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]
        own = {name for name, output in network.outputs.items() if output.source in refs}
        readers = (reader for ref in refs for reader, _ in network.consumers[ref])
        downstream = (found[reader] for reader in readers if owner(reader) == owner(box_id))
        found[box_id] = frozenset(own).union(*downstream)
    return found


def _for_views(network: Network, queries: Sequence[str]) -> frozenset[str]:
    """The boxes that lead only to views, as long as no query reads these."""
    found: dict[str, bool] = {}
    for box_id in reversed(network.order):
        refs = [Ref(box_id, port) for port in range(network.boxes[box_id].box.outputs)]
        ends = [False for output in network.outputs.values() if output.source in refs]
        points = [p.importance is not None for p in network.connection_points.values() if p.at in refs]
        readers = {reader for ref in refs for reader, _ in network.consumers[ref]}
        own = [found[reader] for reader in readers if reader.partition(".")[0] not in queries]
        leads_to = [*ends, *points, *own]
        found[box_id] = bool(leads_to) and all(leads_to)
    return frozenset(box_id for box_id, alone in found.items() if alone)


def _branches(network: Network, owner: Callable[[str], str]) -> list[tuple[str, ...]]:
    """Connected boxes that lead to the same outputs; each branch comes after those that feed it.

    A box that feeds a branch leads to all of its outputs and to others, so sorting by their number puts it
    first.
    """
    leads = outputs_of(network, owner)
    branches = _components(network, lambda s, r: owner(s) == owner(r) and leads[s] == leads[r])
    return sorted(branches, key=lambda branch: -len(leads[branch[0]]))


def _components(network: Network, joined: Callable[[str, str], bool]) -> Iterator[tuple[str, ...]]:
    """The boxes that are connected by arcs among them, by component; only `joined` arcs count."""
    leader = {box_id: box_id for box_id in network.order}

    def find(box_id: str) -> str:
        while leader[box_id] != box_id:
            box_id = leader[box_id]
        return box_id

    for box_id in network.order:
        for source in network.boxes[box_id].sources:
            if source.id in leader and joined(source.id, box_id):
                leader[find(source.id)] = find(box_id)
    groups: dict[str, list[str]] = {}
    for box_id in network.order:
        groups.setdefault(find(box_id), []).append(box_id)
    yield from (tuple(group) for group in groups.values())
