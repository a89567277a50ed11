"""From a network to superboxes: the boxes that one scheduling step pushes a train through, as one Spark job.

In: a network and a discipline. Out: a `Plan`: the superboxes in topological order, and the arcs between them,
which are queues. Each box is in exactly one superbox: it runs once per tuple.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from australis.algebra.boxes import Box
from australis.algebra.network import QUARANTINE, QUARANTINE_SCHEMA, Input, Network, Node, Output, Ref
from australis.plan.parts import boxes_for_views, branches, connected
from australis.plan.plan import QUARANTINE_ARC, Arc, Cutter, Discipline, Plan, Superbox
from australis.plan.spread import Spread, SpreadKind, keeps_order, spread_of

__all__ = ["QUARANTINE_ARC", "Arc", "Discipline", "Plan", "Superbox", "plan"]


def plan(
    network: Network,
    discipline: Discipline = Discipline.SUPERBOX,
    queries: Iterable[str] = (),
    before: Plan | None = None,
    *,
    spreads_tables: bool = True,
    spreads_joins: bool = True,
) -> Plan:
    """Cut a network into superboxes; the boxes of a query are those whose ids begin with its name.

    The rest of the network is cut as if there were no queries, so that queries can be added and removed.
    Superboxes that are the same in the plan `before` are taken over as they are. Older plans did not spread
    what is connected with a join of a stored table, or of two streams.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> a = net.input("x", "a int").filter("a > 1", as_="some").map({"b": "a + 1"}, as_="more").output("y")
    >>> [superbox.boxes for superbox in plan(net.build()).superboxes.values()]
    [('some', 'more')]
    >>> list(plan(net.build(), Discipline.BOX).superboxes)
    ['some', 'more']
    """
    spreads = {"spreads_tables": spreads_tables, "spreads_joins": spreads_joins}
    return _Planner(network, discipline, tuple(queries), before, **spreads).plan()


class _Planner:
    def __init__(
        self,
        network: Network,
        discipline: Discipline,
        queries: tuple[str, ...],
        before: Plan | None,
        *,
        spreads_tables: bool,
        spreads_joins: bool,
    ) -> None:
        self._network, self._discipline, self._queries = network, discipline, queries
        self._spreads_tables, self._spreads_joins = spreads_tables, spreads_joins
        is_like = before is not None and (before.network.name, before.network.timezone) == (
            network.name,
            network.timezone,
        )
        self._before = before if is_like else None
        self._planner: Cutter | None = None if before is None else before.cutter
        self._kept_components: dict[int, bool] = {}
        self._for_views = boxes_for_views(network, queries)
        self._components = list(connected(network, lambda s, r: self._owner(s) == self._owner(r)))
        self._component = {box: index for index, part in enumerate(self._components) for box in part}
        self._spreads: dict[int, Spread] = {}
        self._ends = {output.source for output in network.outputs.values()}
        self._ends |= {point.at for point in network.connection_points.values()}

    def _owner(self, box_id: str) -> str:
        """The query that a box belongs to; boxes that lead only to views are separate as well."""
        first = box_id.partition(".")[0]
        return first if first in self._queries else "=" if box_id in self._for_views else ""

    def plan(self) -> Plan:
        parts = sorted(self._parts(), key=lambda part: self._owner(part[0]) != "")
        admitted: set[str] = set()
        made, asked = [], []
        for part in parts:
            if self._owner(part[0]) in self._queries:
                # A query reads what others have checked.
                asked.append(self.superbox(part, frozenset()))
            else:
                read = {source.id for box in part for source in self._network.boxes[box].sources}
                made.append(self.superbox(part, self._fresh(read, admitted)))
        made += [*self._passages(admitted), *self._gates(admitted), *asked]
        superboxes = {each.id: each for each in made}
        arcs = dict(self._arcs(superboxes))
        # The planner stays with the plan, which must not keep those before it.
        self._before = self._planner = None
        return Plan(self._network, self._discipline, superboxes, arcs, self._queries, self)

    def joined(self, plan: Plan, members: tuple[str, ...]) -> Superbox:
        """Superboxes of a plan as one."""
        own = [box for member in members for box in plan.superboxes[member].boxes]
        part = tuple(sorted(own, key=self._network.places.__getitem__))
        admits = frozenset().union(*(plan.superboxes[member].admits for member in members))
        writers = {arc: name for name in members for arc in plan.superboxes[name].writes.values()}
        joined = self.superbox(part, admits)
        return replace(joined, id=">".join(members), members=members, writers=writers)

    def _parts(self) -> Iterable[tuple[str, ...]]:
        if self._discipline is Discipline.SUPERBOX:
            return self._components
        if self._discipline is Discipline.BRANCH:
            return branches(self._network, self._owner)
        return [(box_id,) for box_id in self._network.order]

    def _leaving(self, part: tuple[str, ...]) -> list[Ref]:
        """The streams of a part that are read outside of it."""
        own, consumers = set(part), self._network.consumers
        refs = [Ref(b, port) for b in part for port in range(self._network.boxes[b].box.outputs)]
        return [
            ref for ref in refs if ref in self._ends or any(reader not in own for reader, _ in consumers[ref])
        ]

    def superbox(self, part: tuple[str, ...], admits: frozenset[str]) -> Superbox:
        """The boxes of a part as a superbox, which checks the tuples of some inputs."""
        network, leaving, own = self._network, self._leaving(part), set(part)
        sources = dict.fromkeys(s for b in part for s in network.boxes[b].sources if s.id not in own)
        names = {ref: _input_name(network, ref, index) for index, ref in enumerate(sources)}
        writes = {f"out_{index}": str(ref) for index, ref in enumerate(leaving)}
        reads = {name: str(ref) for ref, name in names.items()}
        known = self._known(_id(part), reads, writes, admits)
        if known is not None and known.boxes == part and self._is_kept(part, sources):
            return known
        inputs = {name: self._input(ref) for ref, name in names.items()}
        boxes = {b: Node(network.boxes[b].box, _renamed(network.boxes[b].sources, names)) for b in part}
        outputs = {f"out_{index}": Output(ref) for index, ref in enumerate(leaving)}
        inner = Network(network.name, inputs, boxes, outputs or _nothing(part), timezone=network.timezone)
        return Superbox(_id(part), inner, reads, writes, self._spread(part, names), admits)

    def _known(
        self, name: str, reads: Mapping[str, str], writes: Mapping[str, str], admits: frozenset[str]
    ) -> Superbox | None:
        """The superbox of a name in the plan before, if it reads, writes and admits the same."""
        known = self._before.superboxes.get(name) if self._before is not None else None
        is_same = known is not None and (known.reads, known.writes, known.admits) == (reads, writes, admits)
        return known if is_same else None

    def _is_kept(self, part: tuple[str, ...], sources: Iterable[Ref]) -> bool:
        """Whether boxes, and what they read, are the same in the plan before, also in how they are spread."""
        if not all(map(self._is_same_box, part)) or not all(map(self._is_same_stream, sources)):
            return False
        is_ordered = any(self._network.boxes[box].box.ordered for box in part)
        return not is_ordered or self._is_kept_component(part[0])

    def _is_kept_component(self, box_id: str) -> bool:
        """Whether the component of a box is the same in the plan before."""
        index, planner = self._component[box_id], self._planner
        if index not in self._kept_components:
            boxes = self._components[index]
            read = {source for box in boxes for source in self._network.boxes[box].sources}
            self._kept_components[index] = (
                isinstance(planner, _Planner)
                and boxes == planner._components[planner._component[box_id]]
                and all(map(self._is_same_box, boxes))
                and all(map(self._is_same_stream, read))
            )
        return self._kept_components[index]

    def _is_same_box(self, box_id: str) -> bool:
        assert self._before is not None
        mine, theirs = self._network.boxes[box_id], self._before.network.boxes.get(box_id)
        return mine is theirs or mine == theirs

    def _is_same_stream(self, ref: Ref) -> bool:
        assert self._before is not None
        mine, theirs = self._network, self._before.network
        return (
            ref in theirs.schemas
            and mine.inputs.get(ref.id) == theirs.inputs.get(ref.id)
            and mine.schemas[ref] == theirs.schemas[ref]
            and mine.marked[ref] == theirs.marked[ref]
        )

    def _spread(self, part: tuple[str, ...], names: Mapping[Ref, str]) -> Spread:
        index = self._component[part[0]]
        if not any(self._is_bound(self._network.boxes[box_id].box) for box_id in part):
            return Spread(SpreadKind.ROWS)
        if index not in self._spreads:
            self._spreads[index] = self._spread_of(self._components[index])
        spread = self._spreads[index]
        keys = {Ref(name): spread.keys[ref] for ref, name in names.items() if ref in spread.keys}
        groups = {box_id: spread.groups[box_id] for box_id in part if box_id in spread.groups}
        return Spread(spread.kind, keys, groups)

    def _is_bound(self, box: Box) -> bool:
        """Whether a box does not take rows anywhere."""
        return keeps_order(box) if self._spreads_tables else box.ordered

    def _spread_of(self, boxes: Collection[str]) -> Spread:
        reads_table = any(self._network.boxes[box_id].box.table_side is not None for box_id in boxes)
        if reads_table and not self._spreads_tables:
            return Spread(SpreadKind.ONE)
        return spread_of(self._network, boxes, spreads_joins=self._spreads_joins)

    def _input(self, ref: Ref) -> Input:
        """A stream as an input of a superbox; its marks are made elsewhere, and come with each train."""
        given, marked = self._network.inputs.get(ref.id), self._network.marked[ref]
        if given is None:
            return Input(self._network.schemas[ref], marked=marked)
        # How the files of a source are written, and what another node does first, matters not to a plan.
        file_format = None if given.store is None else given.format
        return replace(
            given, progress=None, marked=marked, format=file_format, source=None, before=(), reads=None
        )

    def _fresh(self, read: Collection[str], admitted: set[str]) -> frozenset[str]:
        """The inputs among what is read that no earlier superbox has checked."""
        fresh = frozenset(each for each in read if each in self._network.inputs) - admitted
        admitted |= fresh
        return fresh

    def _passages(self, admitted: set[str]) -> Iterator[Superbox]:
        """A superbox without boxes for every output that reads directly from an input."""
        for name, output in self._network.outputs.items():
            if output.source.id in self._network.inputs:
                admits = self._fresh([output.source.id], admitted)
                yield self._boxless(f"={name}", output.source, {"out_0": f"={name}"}, admits)

    def _gates(self, admitted: set[str]) -> Iterator[Superbox]:
        """A superbox without boxes for every unread input, to quarantine bad tuples."""
        for name in self._network.inputs:
            if name not in admitted:
                yield self._boxless(f"~{name}", Ref(name), {}, frozenset({name}))

    def _boxless(
        self, superbox: str, ref: Ref, writes: Mapping[str, str], admits: frozenset[str]
    ) -> Superbox:
        known = self._known(superbox, {ref.id: ref.id}, writes, admits)
        if known is not None and self._is_same_stream(ref):
            return known
        # A stored table that nothing joins is passed through as a stream.
        given = self._network.inputs[ref.id]
        own_input = replace(given, table=False, store=None, format=None, progress=None)
        inputs = {ref.id: replace(own_input, source=None, before=(), reads=None)}
        own = Network(self._network.name, inputs, {}, {"out_0": Output(ref)}, timezone=self._network.timezone)
        return Superbox(superbox, own, {ref.id: ref.id}, writes, Spread(SpreadKind.ROWS), admits)

    def _arcs(self, superboxes: Mapping[str, Superbox]) -> Iterator[tuple[str, Arc]]:
        network = self._network
        writers = {arc: each.id for each in superboxes.values() for arc in each.writes.values()}
        schemas = {arc: network.schemas[Ref.parse(arc)] for arc in writers if not arc.startswith("=")}
        schemas |= {f"={name}": network.output_schema(name) for name in network.outputs}
        readers, outputs, points = (defaultdict[str, list[str]](list) for _ in range(3))
        for each in superboxes.values():
            for arc in dict.fromkeys(each.reads.values()):
                readers[arc].append(each.id)
        for name, output in network.outputs.items():
            outputs[_arc_of(name, output, network)].append(name)
        for name, point in network.connection_points.items():
            points[str(point.at)].append(name)
        for arc in (*network.inputs, *writers):
            schema = network.inputs[arc].schema if arc in network.inputs else schemas[arc]
            ends = [tuple(found.get(arc, ())) for found in (readers, outputs, points)]
            made = Arc(arc, schema, writers.get(arc), *ends)
            known = None if self._before is None else self._before.arcs.get(arc)
            yield arc, known if known == made else made
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
