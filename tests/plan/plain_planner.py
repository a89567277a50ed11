"""The plainest planner: every question about a network is answered by a look at all of it. For comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Input, Network, Node, Output, Ref
from australis.plan.spread import Spread, SpreadKind, keeps_order, spread_of
from australis.plan.superboxes import QUARANTINE_ARC, Arc, Discipline, Plan, Superbox


def plain_plan(network: Network, discipline: Discipline, queries: Iterable[str] = ()) -> Plan:
    """The plan of a network."""
    return _Planner(network, discipline, tuple(queries)).plan()


def plain_upstream(made: Plan, superbox: str) -> list[str]:
    """The superboxes that a superbox reads from, itself last."""
    found: dict[str, None] = {}
    _climb(made, superbox, found)
    return list(found)


def _climb(made: Plan, superbox: str, found: dict[str, None]) -> None:
    for arc in made.superboxes[superbox].streams.values():
        writer = made.arcs[arc].writer
        if writer is not None and writer not in found:
            _climb(made, writer, found)
    found.setdefault(superbox)


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
        return Plan(self._network, self._discipline, superboxes, arcs, self._queries, self)

    def joined(self, plan: Plan, members: tuple[str, ...]) -> Superbox:
        raise NotImplementedError

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
        if not any(keeps_order(self._network.boxes[b].box) for b in part):
            return Spread(SpreadKind.ROWS)
        component = next(each for each in self._components if part[0] in each)
        spread = spread_of(self._network, component)
        return Spread(
            spread.kind,
            {Ref(names[ref]): keys for ref, keys in spread.keys.items() if ref in names},
            {box: keys for box, keys in spread.groups.items() if box in part},
        )

    def _input(self, ref: Ref) -> Input:
        """A stream as an input of a superbox; its marks are made elsewhere, and come with each train."""
        given, marked = self._network.inputs.get(ref.id), self._network.marked[ref]
        if given is None:
            return Input(self._network.schemas[ref], marked=marked)
        # How the files of a source are written matters to who reads them, not to a plan.
        file_format = None if given.store is None else given.format
        return replace(given, progress=None, marked=marked, format=file_format)

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
        given = self._network.inputs[ref.id]
        inputs = {ref.id: replace(given, table=False, store=None, format=None, progress=None)}
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


def plain_outputs_of(
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
    leads = plain_outputs_of(network, owner)
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
