"""A box as several copies on one node, while it runs: a Filter by a hash before them, a Union after them.

The Union has the name of the box, so what reads the box reads on as before: outputs, links, connection
points and their history stay where they are. Unlike `part`, only splits are drawn that can be undone at any
time without waiting: those of boxes without a state, and of boxes whose groups stay whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from australis.algebra.boxes import Box, Filter, Join, Tumble, Union
from australis.algebra.expr import Attribute, text_of
from australis.algebra.network import Network, Node, Ref
from australis.algebra.schema import Field, Schema
from australis.algebra.types import INTERVAL, TEXTS
from australis.errors import PolicyError, Problem
from australis.policy.place.parting.group_keys import keys
from australis.policy.place.parting.split import Same
from australis.policy.place.parting.stream_order import first_ordered, tracks
from australis.rewrite.meaning import is_pure
from australis.rewrite.statistics import read_ports

COPIES_MOST = 64
"""Into how many copies a box may be split."""
_COPIES = f"a whole number from 2 to {COPIES_MOST}"


@dataclass(frozen=True)
class BoxSplit:
    """Which box runs as how many copies, and by what its tuples are divided.

    >>> BoxSplit("count", 3, ("sid",)).copies
    ('count_1', 'count_2', 'count_3')
    """

    box: str
    into: int
    by: tuple[str, ...] = ()
    """Attributes of its first stream, all that are fit for it if none are named."""
    any_order: bool = False
    """Whether boxes downstream may see the tuples of one moment in another sequence."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))
        if not 2 <= self.into <= COPIES_MOST:
            raise _refused(self.box, f"cannot be split into {self.into}", _COPIES)

    @property
    def copies(self) -> tuple[str, ...]:
        """The ids of the copies."""
        return tuple(f"{self.box}_{number}" for number in range(1, self.into + 1))

    def route(self, port: int) -> str:
        """The id of the Filter before an input of the copies."""
        return f"{self.box}_route{port + 1 if port else ''}"

    def merge(self, port: int) -> str:
        """The id of the Union after an output of the copies; that of the first has the name of the box."""
        return f"{self.box}_merge{port + 1}" if port else self.box

    def is_drawn(self, network: Network) -> bool:
        """Whether a network has the copies, or some of them, instead of the box."""
        node = network.boxes.get(self.box)
        has_parts = any(each in network.boxes for each in (*self.copies, self.route(0)))
        return has_parts and (node is None or isinstance(node.box, Union))

    def divided_by(self, network: Network) -> tuple[tuple[str, ...], ...]:
        """The attributes at each input of the box by which its tuples are divided."""
        box, schemas = network.boxes[self.box].box, network.input_schemas(self.box)
        return _by(self, box, schemas)


def split_up(network: Network, split: BoxSplit) -> Network:
    """A network with a box as copies; raises PolicyError with the reason if it cannot be split.

    >>> from australis.algebra.builder import NetworkBuilder
    >>> net = NetworkBuilder("n")
    >>> _ = net.input("x", "a int").filter("a > 0", as_="f").output("y")
    >>> split_up(net.build(), BoxSplit("f", 2)).order
    ('f_route', 'f_1', 'f_2', 'f')
    """
    _check(network, split)
    put = _drawn(network, split)
    moved = {
        Ref(split.box, port): Ref(split.merge(port))
        for port in range(1, network.boxes[split.box].box.outputs)
    }
    return _replaced(network, {split.box: put}, moved)


def made_whole(network: Network, split: BoxSplit) -> Network:
    """A network with the copies as one box again; all of them must be there."""
    first = network.boxes.get(split.copies[0])
    parts = {split.box, split.route(0), *split.copies}
    missing = sorted(parts - network.boxes.keys())
    if first is None or missing:
        what = f"cannot be made whole: {', '.join(missing)} cannot be found on this node"
        raise _refused(split.box, what, "all copies here; those that were moved have to come back first")
    _check_direct(network, split, len(first.sources))
    sources = tuple(network.boxes[split.route(port)].sources[0] for port in range(len(first.sources)))
    gone: dict[str, dict[str, Node]] = {each: {} for each in {*_ids(network, split)} - {split.box}}
    back = {Ref(split.merge(port)): Ref(split.box, port) for port in range(1, first.box.outputs)}
    return _replaced(network, {**gone, split.box: {split.box: replace(first, sources=sources)}}, back)


def _check_direct(network: Network, split: BoxSplit, ports: int) -> None:
    """Refuse to undo a split whose parts are joined by links, as after a move: tuples may be on their way."""
    wanted = {
        copy: tuple(Ref(split.route(port), way) for port in range(ports))
        for way, copy in enumerate(split.copies)
    }
    wanted[split.box] = tuple(Ref(copy) for copy in split.copies)
    for box, sources in wanted.items():
        if network.boxes[box].sources != sources:
            what = f"cannot be made whole: {box} reads {', '.join(map(str, network.boxes[box].sources))}"
            raise _refused(split.box, what, f"{', '.join(map(str, sources))}, without a link between")


def with_splits(network: Network, splits: Iterable[BoxSplit]) -> Network:
    """A network with some boxes as copies, in this order; those that are drawn in it already stay as they
    are."""
    for each in splits:
        network = network if each.is_drawn(network) else split_up(network, each)
    return network


def still_there(network: Network, splits: Iterable[BoxSplit]) -> tuple[BoxSplit, ...]:
    """The splits that a network can have: of boxes that it has, or whose copies it has."""
    found: list[BoxSplit] = []
    for each in splits:
        whole = with_splits(network, found)
        if each.is_drawn(whole) or each.box in whole.boxes:
            found.append(each)
    return tuple(found)


def same_after(network: Network, box: str) -> Same:
    """How far the stream of a box that is split equals what it was.

    Groups that emit together at one moment, as at a timeout, come copy by copy.
    """
    is_same = not network.boxes[box].box.ordered and tracks(network, Ref(box)) is not None
    return Same.ALL if is_same else Same.MOMENTS


# --- what can be split


def _check(network: Network, split: BoxSplit) -> None:
    if split.box not in network.boxes:
        expected = f"one of {', '.join(network.boxes) or 'none'}"
        raise _refused(split.box, "there is no such box", expected)
    box, schemas = network.boxes[split.box].box, network.input_schemas(split.box)
    _check_kind(split.box, box)
    if not is_pure(network, split.box):
        what = "calls a user function, whose state is unknown"
        raise _refused(split.box, what, "only built-in functions")
    if box.ordered and not keys(box, schemas):
        what = f"{box.kind}: it has no groups that copies could share out, and depends on all its tuples"
        raise _refused(split.box, what, "a box without state, or one that groups by attributes but doubles")
    _by(split, box, schemas)
    _check_names(network, split)
    ordered = first_ordered(network, frozenset(Ref(split.box, port) for port in range(box.outputs)))
    if ordered is not None and same_after(network, split.box) is not Same.ALL and not split.any_order:
        what = f"{ordered} downstream depends on the order of tuples: there would be {Same.MOMENTS.value}"
        expected = "no order-sensitive box downstream, or permission to change it (any_order)"
        raise _refused(split.box, what, expected)


def _check_kind(box_id: str, box: Box) -> None:
    if isinstance(box.core, Tumble):
        what = "a tumble takes the runs of its whole stream, and a sort that merges copies would hold tuples"
        raise _refused(box_id, what, "an aggregate, which groups without runs")
    if box.table_side is not None:
        what = "looks up a stored table, whose rows would be read again for every copy"
        raise _refused(box_id, what, "a box that reads streams only")


def _check_names(network: Network, split: BoxSplit) -> None:
    taken = {*network.boxes, *network.inputs} - {split.box}
    if clash := sorted(taken & set(_ids(network, split))):
        what = f"the network has {clash[0]!r} already, which would be the name of a new box"
        raise _refused(split.box, what, "another name for that part")
    points = [name for name, point in network.connection_points.items() if point.at in _later(network, split)]
    if points:
        what = (
            f"has the connection point {points[0]} at a further output, whose stream would get another name"
        )
        raise _refused(split.box, what, "connection points at its first output only")


def _later(network: Network, split: BoxSplit) -> set[Ref]:
    return {Ref(split.box, port) for port in range(1, network.boxes[split.box].box.outputs)}


def _by(split: BoxSplit, box: Box, schemas: tuple[Schema, ...]) -> tuple[tuple[str, ...], ...]:
    """The attributes at each input by which tuples are divided."""
    fit = _fit(box, schemas)
    if unfit := [name for name in split.by if name not in fit]:
        expected = f"some of {', '.join(fit)}" if fit else "a box with attributes that can be hashed"
        raise _refused(split.box, f"cannot be divided by {unfit[0]}", expected)
    chosen = split.by or tuple(fit)
    if not chosen:
        what = "has no attribute by which its tuples could be divided"
        raise _refused(split.box, what, "attributes that can be hashed, and for groups are no doubles")
    others = tuple(fit[name] for name in chosen)
    return (chosen, *(others for _ in schemas[1:]))


def _fit(box: Box, schemas: tuple[Schema, ...]) -> dict[str, str]:
    """The attributes by which tuples may be divided, with their names at the other input."""
    first, last = schemas[0], schemas[-1]
    if not box.ordered:
        return {each.name: each.name for each in first if _can_hash(each)}
    is_pair = isinstance(box.core, Join)
    return {
        name: other
        for name, other in keys(box, schemas).items()
        if _can_hash(first[name]) and (not is_pair or first[name].type == last[other].type)
    }


def _can_hash(field: Field) -> bool:
    return field.type not in (INTERVAL, TEXTS)


def _refused(box_id: str, what: str, expected: str) -> PolicyError:
    return PolicyError(Problem(box_id, what, expected))


# --- how it is drawn


def predicates(schema: Schema, names: tuple[str, ...], into: int) -> tuple[str, ...]:
    """Which tuples go to each copy but the last, which gets the rest.

    >>> from australis.algebra.schema import parse_schema
    >>> predicates(parse_schema("sid int not null, d double"), ("sid",), 3)
    ('pmod(xxhash64(sid), 3) = 0', 'pmod(xxhash64(sid), 3) = 1')
    """
    hashed = ", ".join(_hashable(schema[name]) for name in names)
    return tuple(f"pmod(xxhash64({hashed}), {into}) = {number}" for number in range(into - 1))


def _hashable(field: Field) -> str:
    name = text_of(Attribute(field.name, field.type, field.nullable))
    return f"CAST({name} AS string)" if field.type.is_decimal else name


def _drawn(network: Network, split: BoxSplit) -> Mapping[str, Node]:
    """The new boxes, each after those that it reads from."""
    node, schemas = network.boxes[split.box], network.input_schemas(split.box)
    put: dict[str, Node] = {}
    ways: list[list[Ref]] = []
    for port, (source, names) in enumerate(zip(node.sources, split.divided_by(network), strict=True)):
        put[split.route(port)] = Node(Filter(predicates(schemas[port], names, split.into)), (source,))
        ways.append([Ref(split.route(port), way) for way in range(split.into)])
    for way, copy in enumerate(split.copies):
        put[copy] = replace(node, sources=tuple(each[way] for each in ways))
    for port in sorted({0, *read_ports(network, split.box)}):
        put[split.merge(port)] = Node(Union(), tuple(Ref(copy, port) for copy in split.copies))
    return put


def _ids(network: Network, split: BoxSplit) -> Iterator[str]:
    """The ids of all boxes that a split may have, drawn or not."""
    own = [network.boxes[each] for each in (*split.copies, split.box) if each in network.boxes]
    yield from (split.route(port) for port in range(len(own[0].sources)))
    yield from split.copies
    yield from (split.merge(port) for port in range(own[0].box.outputs))


def _replaced(network: Network, put: Mapping[str, Mapping[str, Node]], moved: Mapping[Ref, Ref]) -> Network:
    """A network with other boxes in place of some, and streams that have moved."""

    def now(ref: Ref) -> Ref:
        return moved.get(ref, ref)

    boxes: dict[str, Node] = {}
    for box_id, node in network.boxes.items():
        given = put.get(box_id)
        rewired = replace(node, sources=tuple(map(now, node.sources)))
        boxes |= {box_id: rewired} if given is None else given
    outputs = {name: replace(each, source=now(each.source)) for name, each in network.outputs.items()}
    return replace(network, boxes=boxes, outputs=outputs)
