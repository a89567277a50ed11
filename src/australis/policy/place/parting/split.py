"""Box splitting: a box becomes two, with a Filter before them and a merge after them (Aurora* 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from australis.algebra.boxes import Aggregate, Box, BSort, Filter, Join, Map, NamedTexts, Tumble, Union, WSort
from australis.algebra.expr import Attribute, text_of
from australis.algebra.network import Network, Node, Ref
from australis.algebra.schema import TUP, Schema
from australis.algebra.types import DOUBLE
from australis.errors import PolicyError, Problem
from australis.policy.place.parting.group_keys import at_inputs, keeps_groups, keys, stream_side
from australis.policy.place.parting.parts import parted
from australis.policy.place.parting.stream_order import ALL_HERE, Beyond, ascends, first_ordered, tracks
from australis.rewrite.meaning import is_pure
from australis.rewrite.statistics import Measure, Statistics, read_ports
from australis.rewrite.streams import new_id


class Same(Enum):
    """How far the streams after a split equal those before it."""

    ALL = "the same tuples at the same moments in the same sequence"
    MOMENTS = "the same tuples at the same moments; those of one moment may change places"
    SEQUENCE = "the same tuples in the same sequence, though later"
    TUPLES = "the same tuples, though later, and sorted by their windows"


@dataclass(frozen=True)
class Assumed:
    """Properties of a stream that are known or accepted, though its network does not imply them."""

    ascending: bool = False
    """It arrives sorted, by what a Tumble groups by or by the order of windows, as after a WSort."""
    rounding: bool = False
    """Sums of doubles may differ in the last digits."""
    any_order: bool = False
    """Nothing downstream depends on the sequence or the time of its tuples."""
    wait: str = "1 min"
    """How long a merge that sorts waits for what the other copy still has; later tuples are lost."""


NOTHING = Assumed()


@dataclass(frozen=True)
class Parting:
    """A box split in two: the new boxes, and where its streams are now."""

    box: str
    was: Node
    """The original box."""
    keeps: str
    """The predicate of the tuples that stay with the box; all others go to its copy."""
    same: Same
    put: Mapping[str, Node]
    """The box and the new ones, each after those that it reads from."""
    routes: tuple[str, ...]
    copy: str
    merges: tuple[str, ...]
    moved: Mapping[Ref, Ref]
    divides: bool
    """Whether the state of the box must be split too; otherwise it stays where it is."""

    def fits(self, network: Network) -> bool:
        """Whether a network that may have changed still has the original box, and no box with the new
        names."""
        new = self.put.keys() - {self.box}
        return network.boxes.get(self.box) == self.was and new.isdisjoint(network.boxes)

    def apply(self, network: Network) -> Network:
        """The network with the box in two; connection points follow their streams."""
        boxes: dict[str, Node] = {}
        for box_id, node in network.boxes.items():
            boxes |= self.put if box_id == self.box else {box_id: self._rewired(node)}
        outputs = {name: replace(o, source=self._now(o.source)) for name, o in network.outputs.items()}
        points = {name: replace(p, at=self._now(p.at)) for name, p in network.connection_points.items()}
        return replace(network, boxes=boxes, outputs=outputs, connection_points=points)

    def undo(self, network: Network) -> Network:
        """The network with the box whole again, unless it was split once more since."""
        found = self.put[self.box].sources
        now = [self._source(network, port, ref) for port, ref in enumerate(found)]
        back = {merge: ref for ref, merge in self.moved.items()}

        def rewired(ref: Ref) -> Ref:
            return back.get(ref, ref)

        boxes: dict[str, Node] = {}
        for box_id, node in network.boxes.items():
            if box_id == self.box:
                boxes[box_id] = replace(self.was, sources=tuple(now))
            elif box_id not in self.put:
                boxes[box_id] = replace(node, sources=tuple(map(rewired, node.sources)))
        outputs = {name: replace(o, source=rewired(o.source)) for name, o in network.outputs.items()}
        points = {name: replace(p, at=rewired(p.at)) for name, p in network.connection_points.items()}
        return replace(network, boxes=boxes, outputs=outputs, connection_points=points)

    def _source(self, network: Network, port: int, ref: Ref) -> Ref:
        """Where the box reads now, past its own Filter; boxes upstream may have been split since."""
        if ref.id in self.routes:
            return network.boxes[ref.id].sources[0]
        return network.boxes[self.box].sources[port]

    def _rewired(self, node: Node) -> Node:
        return replace(node, sources=tuple(map(self._now, node.sources)))

    def _now(self, ref: Ref) -> Ref:
        return self.moved.get(ref, ref)

    def learned(self, after: Network, statistics: Statistics, kept: float) -> Statistics:
        """What is known of the new boxes if a fraction of the tuples is kept; merges pass everything."""
        known = statistics.of(after, self.box)
        routing = statistics.of(after, self.routes[0]).tuple_us
        found = {**statistics.boxes, self.box: known, self.copy: known}
        found |= dict.fromkeys(self.routes, Measure(routing, (kept, 1 - kept)))
        found |= {each: Measure(statistics.of(after, each).tuple_us) for each in self.merges}
        return replace(statistics, boxes=found)


def part(
    network: Network, box_id: str, keeps: str, assumed: Assumed = NOTHING, beyond: Beyond = ALL_HERE
) -> Parting:
    """A box as two equivalent copies; raises PolicyError with the reason if it cannot be split.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").output("y")
    >>> parting = part(net.build(), "f", "a < 10")
    >>> parting.same.name, parting.apply(net.build()).order
    ('ALL', ('f_route', 'f', 'f_copy', 'f_merge'))
    """
    _check(network, box_id)
    box, schemas = network.boxes[box_id].box, network.input_schemas(box_id)
    if not box.ordered:
        found = _united(network, box_id, keeps, _of_stateless(network, box_id, beyond))
    elif isinstance(box, Tumble):
        found = _tumble(network, box_id, keeps, assumed)
    elif keeps_groups(box, schemas, keeps):
        found = replace(_united(network, box_id, keeps, Same.MOMENTS), divides=True)
    elif isinstance(box.core, Aggregate):
        found = _windows(network, box_id, keeps, assumed)
    else:
        what = f"{box.kind} depends on tuples that {keeps!r} separates"
        raise _refused(box_id, what, "a predicate on attributes it groups by that are not doubles")
    _check_downstream(network, found, assumed, beyond)
    return found


def _of_stateless(network: Network, box_id: str, beyond: Beyond) -> Same:
    return Same.MOMENTS if tracks(network, Ref(box_id), beyond) is None else Same.ALL


def _check(network: Network, box_id: str) -> None:
    if box_id not in network.boxes:
        raise _refused(box_id, "there is no such box", f"one of {', '.join(network.boxes) or 'none'}")
    box = network.boxes[box_id].box
    if not _is_known(box, network.input_schemas(box_id)):
        what = f"a {box.kind} depends on all tuples that it gets"
        raise _refused(box_id, what, "filter, map, union, bsort, aggregate, tumble, slide, xsection or join")
    if not is_pure(network, box_id):
        what = "calls a user function, whose state is unknown"
        raise _refused(box_id, what, "only built-in functions")


def _is_known(box: Box, schemas: tuple[Schema, ...]) -> bool:
    """Whether there is a way to split a box.

    Other boxes are refused: a copy would quarantine tuples under its own name, and inputs may differ.
    """
    if isinstance(box.core, (Union, Aggregate, Tumble, BSort, Join)):
        return True
    divisible = not box.ordered or bool(keys(box, schemas))
    return divisible and len(schemas) == 1 and not box.rejects(*schemas)


def _check_downstream(network: Network, found: Parting, assumed: Assumed, beyond: Beyond) -> None:
    ordered = first_ordered(network, frozenset(found.moved), beyond)
    if found.same is not Same.ALL and ordered is not None and not assumed.any_order:
        what = f"{ordered} downstream depends on the order of tuples: there would be {found.same.value}"
        expected = "no order-sensitive box downstream, or permission to change it (any_order)"
        raise _refused(found.box, what, expected)


def _refused(box_id: str, what: str, expected: str) -> PolicyError:
    return PolicyError(Problem(box_id, what, expected))


# --- the Filters before the copies, and the Union after them


@dataclass
class _Draft:
    """A split under construction."""

    network: Network
    box_id: str
    put: dict[str, Node]
    routes: list[str]
    copy: str

    def named(self, what: str) -> str:
        """An id for one more box, derived from the box that is split."""
        wish, number = f"{self.box_id}_{what}", 1
        while (found := new_id(self.network, wish if number == 1 else f"{wish}{number}")) in self.put:
            number += 1
        return found

    def then(self, what: str, box: Box, *sources: Ref) -> Ref:
        """Add one more box."""
        box_id = self.named(what)
        self.put[box_id] = Node(box, sources)
        return Ref(box_id)

    def done(self, keeps: str, same: Same, moved: Mapping[Ref, Ref]) -> Parting:
        copies = {self.box_id, self.copy}
        merges = tuple(each for each in self.put if each not in copies and each not in self.routes)
        was, routes = self.network.boxes[self.box_id], tuple(self.routes)
        return Parting(
            self.box_id, was, keeps, same, self.put, routes, self.copy, merges, moved, divides=False
        )


def _copied(network: Network, box_id: str, keeps: str, functions: NamedTexts | None = None) -> _Draft:
    """The box and its copy after Filters; with other functions, if they compute parts."""
    node, schemas = network.boxes[box_id], network.input_schemas(box_id)
    box = node.box if functions is None else replace(node.box, functions=functions)  # type: ignore[type-var]
    draft = _Draft(network, box_id, {}, [], new_id(network, f"{box_id}_copy"))
    ways = []
    for source, text in zip(node.sources, at_inputs(node.box, schemas, keeps), strict=True):
        ways.append((source, source) if text is None else _routed(draft, source, text))
    draft.put[box_id] = replace(node, box=box, sources=tuple(way[0] for way in ways))
    draft.put[draft.copy] = replace(node, box=box, sources=tuple(way[1] for way in ways))
    return draft


def _routed(draft: _Draft, source: Ref, text: str) -> tuple[Ref, Ref]:
    route = draft.then("route", Filter((text,)), source)
    draft.routes.append(route.id)
    return route, Ref(route.id, 1)


def _united(network: Network, box_id: str, keeps: str, same: Same) -> Parting:
    """Figure 5: a Union for each output that is read."""
    draft = _copied(network, box_id, keeps)
    ports = sorted(read_ports(network, box_id))
    moved = {Ref(box_id, port): _union(draft, port) for port in ports}
    return draft.done(keeps, same, moved)


def _union(draft: _Draft, port: int = 0, what: str = "merge") -> Ref:
    return draft.then(what, Union(), Ref(draft.box_id, port), Ref(draft.copy, port))


# --- windows in parts


def _tumble(network: Network, box_id: str, keeps: str, assumed: Assumed) -> Parting:
    """Figure 6: Union, WSort and, if groups are split, a Tumble that combines."""
    node, schemas = network.boxes[box_id], network.input_schemas(box_id)
    box = node.box
    assert isinstance(box, Tumble)
    _check_sorted(network, box_id, box.group_by, assumed)
    nullable = [name for name in box.group_by if schemas[0][name].nullable]
    if nullable:
        raise _refused(box_id, f"groups by {nullable[0]}, which WSort rejects if it is NULL", "not null")
    if keeps_groups(box, schemas, keeps):
        draft = _copied(network, box_id, keeps)
        sort = draft.then("merge", WSort(box.group_by, assumed.wait), _union(draft, what="union"))
        return replace(draft.done(keeps, Same.SEQUENCE, {Ref(box_id): sort}), divides=True)
    _check_timeout(box_id, box.timeout)
    found = parted(box.functions, box.bind(schemas[0]), rounding=assumed.rounding)
    draft = _copied(network, box_id, keeps, found.copies)
    sort = draft.then("sort", WSort(box.group_by, assumed.wait), _union(draft, what="union"))
    combine = draft.then("combine", Tumble(found.combined, box.group_by), sort)
    return _shown(draft, combine, keeps, Same.SEQUENCE, found.shown)


def _windows(network: Network, box_id: str, keeps: str, assumed: Assumed) -> Parting:
    """The same for windows whose position does not depend on the tuples: a sort, and windows of windows."""
    node, schema = network.boxes[box_id], network.input_schemas(box_id)[0]
    core = node.box.core
    assert isinstance(core, Aggregate)
    _check_windows(network, box_id, core, schema)
    _check_sorted(network, box_id, (core.order.on,), assumed)
    _check_timeout(box_id, core.timeout)
    _check_forget(box_id, core)
    found = parted(core.functions, core.bind(schema).functions, rounding=assumed.rounding)
    draft = _copied(network, box_id, keeps, found.copies)
    sort = draft.then("sort", WSort((core.order.on,), assumed.wait), _union(draft, what="union"))
    order = replace(core.order, slack=0)
    windows = Aggregate(found.combined, order, core.step, align=True, offset=core.offset)
    combine = draft.then("combine", windows, sort)
    return _shown(draft, combine, keeps, Same.TUPLES, found.shown)


def _check_windows(network: Network, box_id: str, core: Aggregate, schema: Schema) -> None:
    if core.order.by_progress:
        what = "goes by progress, and the sort that merges the copies passes no marks on"
        raise _refused(box_id, what, "an order by slack, or a predicate on attributes it groups by")
    if core.order.late:
        what = "has a late output, which would lack the late tuples of the copy"
        raise _refused(box_id, what, "no late output, or a predicate on attributes it groups by")
    if not core.align:
        what = "has windows that start at a group's first tuple, which differs between the copies"
        raise _refused(box_id, what, "aligned windows, or a predicate on attributes it groups by")
    if core.order.on == TUP or schema[core.order.on].type == DOUBLE:
        what = f"has windows on {core.order.on}, whose starts may differ between the copies"
        raise _refused(box_id, what, "whole steps")
    if core.empty:
        what = "emits empty windows, which a copy cannot tell from those of the other"
        raise _refused(box_id, what, "no empty windows, or a predicate on attributes it groups by")
    if core.is_local(schema) and network.timezone != "UTC" and core.advance is not None:
        what = f"has windows by the clocks of {network.timezone}, of which two may have one start"
        raise _refused(box_id, what, "windows that do not overlap, or the time zone UTC")


def _check_sorted(network: Network, box_id: str, names: tuple[str, ...], assumed: Assumed) -> None:
    source = network.boxes[box_id].sources[0]
    if not assumed.ascending and not ascends(network, source, names):
        what = f"nothing says that {source} is sorted by {', '.join(names)}: the copies would see other runs"
        raise _refused(box_id, what, "a WSort before it, or the assumption that it is (ascending)")


def _check_timeout(box_id: str, timeout: str | None) -> None:
    if timeout is not None:
        what = "has a timeout, which would end each part at a different time"
        raise _refused(box_id, what, "no timeout, or a predicate on attributes it groups by")


def _check_forget(box_id: str, core: Aggregate) -> None:
    if core.forget is not None:
        what = "forgets groups, each part at a different time"
        raise _refused(box_id, what, "no forget, or a predicate on attributes it groups by")


def _shown(draft: _Draft, combine: Ref, keeps: str, same: Same, shown: NamedTexts) -> Parting:
    """With a Map that restores the original names and types of the attributes."""
    schema = draft.network.schemas[Ref(draft.box_id)]
    results = dict(shown)
    texts = tuple((f.name, results.get(f.name) or text_of(Attribute(f.name, f.type))) for f in schema)
    merge = draft.then("merge", Map(texts), combine)
    return draft.done(keeps, same, {Ref(draft.box_id): merge})


def stream_of(network: Network, box_id: str) -> Schema:
    """The attributes that the predicate of a split may read."""
    return network.input_schemas(box_id)[stream_side(network.boxes[box_id].box)]
