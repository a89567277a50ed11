"""Networks: loop-free graphs of boxes with typed arcs, frozen, and validated when they are made."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from australis.algebra.boxes import Box, NamedTexts
from australis.algebra.expr import nearest
from australis.algebra.guards import guard_texts
from australis.algebra.network.marks import endless_groups, guessed_slacks, mark_problems, marked_streams
from australis.algebra.network.parts import ConnectionPoint, Group, Input, Node, Output, Ref
from australis.algebra.network.weights import weights_of
from australis.algebra.quality import Held, ValueGraph
from australis.algebra.schema import NAME, NAME_EXPECTED, Schema, parse_schema
from australis.algebra.store import Pull
from australis.algebra.types import BOOLEAN, STRING
from australis.errors import AlgebraError, NetworkError, Problem

QUARANTINE = "quarantine"
"""The output that every network has implicitly: tuples that could not be processed, and why."""
QUARANTINE_SCHEMA = parse_schema("path string not null, reason string not null, tuple string not null")

NAME_PATTERN = NAME.pattern
PATH_PATTERN = rf"{NAME_PATTERN}(\.{NAME_PATTERN})*"
"""Patterns for names and box paths, shared with the JSON Schema."""
_PATH = re.compile(PATH_PATTERN)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Draft:
    """The parts of a possible network: nothing is refused, and all problems can be listed."""

    name: str
    inputs: Mapping[str, Input]
    boxes: Mapping[str, Node]
    outputs: Mapping[str, Output]
    connection_points: Mapping[str, ConnectionPoint] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    timezone: str = "UTC"
    unread: frozenset[str] = frozenset()
    """The ids of parts that exist but could not be read; others may refer to them."""
    doubtful: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Attributes of inputs and boxes that exist but could not be read."""

    def problems(self) -> list[Problem]:
        """All problems of the parts and their connections."""
        return [problem.under(self.name) for problem in _examine(self).problems]


@dataclass(frozen=True)
class Network:
    """A validated network. Making one runs nothing; a bad one raises NetworkError with every problem found.

    Ids are paths: box `count` of group `detect` is `detect.count`, its second output `detect.count.1`.
    """

    name: str
    inputs: Mapping[str, Input]
    boxes: Mapping[str, Node]
    outputs: Mapping[str, Output]
    connection_points: Mapping[str, ConnectionPoint] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    timezone: str = "UTC"
    description: str = ""
    known: InitVar[Network | None] = None
    """A network that shares parts with this one: these were already examined."""

    def __post_init__(self, known: Network | None) -> None:
        for name in ("inputs", "boxes", "outputs", "connection_points", "groups"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        guard_texts(self, "name", "timezone", "description")
        parts = (self.inputs, self.boxes, self.outputs, self.connection_points, self.groups)
        found = _examine(Draft(self.name, *parts, self.timezone), known)
        if found.problems:
            raise NetworkError(problem.under(self.name) for problem in found.problems)
        object.__setattr__(self, "_found", found)

    def __hash__(self) -> int:
        # Equal networks may list their parts in another order.
        return hash((self.name, *(frozenset(part) for part in (self.inputs, self.boxes, self.outputs))))

    def __reduce__(self) -> tuple[type[Network], tuple[object, ...]]:
        """Copy and pickle a network by its arguments, since its read-only mappings cannot be pickled."""
        values = (getattr(self, f.name) for f in fields(self))
        return type(self), tuple(dict(v) if isinstance(v, Mapping) else v for v in values)

    @property
    def order(self) -> tuple[str, ...]:
        """The ids of the boxes, each after all that it reads from; otherwise in the order written."""
        return self._examined.order

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each box in the order."""
        return {box_id: place for place, box_id in enumerate(self.order)}

    @property
    def schemas(self) -> Mapping[Ref, Schema]:
        """The schema of every stream: of each input and of each output port of each box."""
        return self._examined.schemas

    @property
    def _examined(self) -> _Examined:
        """What was found out when the network was made."""
        found: _Examined = self.__dict__["_found"]
        return found

    @cached_property
    def firsts(self) -> frozenset[str]:
        """The first names in the ids of inputs and boxes."""
        return frozenset(each.partition(".")[0] for each in (*self.inputs, *self.boxes))

    @cached_property
    def consumers(self) -> Mapping[Ref, tuple[tuple[str, int], ...]]:
        """For every stream, the (box id, input port) pairs that read it."""
        readers: dict[Ref, list[tuple[str, int]]] = {ref: [] for ref in self.schemas}
        for box_id in self.order:
            for port, source in enumerate(self.boxes[box_id].sources):
                readers[source].append((box_id, port))
        return MappingProxyType({ref: tuple(found) for ref, found in readers.items()})

    @cached_property
    def marked(self) -> Mapping[Ref, frozenset[str]]:
        """The attributes of every stream that have marks."""
        return MappingProxyType(marked_streams(self.inputs, self.boxes, self.order, self.schemas))

    @cached_property
    def weights(self) -> Mapping[Ref, str]:
        """The attribute of a stream that says how many tuples a tuple stands for, where it has one."""
        return MappingProxyType(weights_of(self))

    def input_schemas(self, box_id: str) -> tuple[Schema, ...]:
        """The schemas at the input ports of a box."""
        return tuple(self.schemas[source] for source in self.boxes[box_id].sources)

    def output_schema(self, name: str) -> Schema:
        """The schema of an output; every network has `quarantine`."""
        return QUARANTINE_SCHEMA if name == QUARANTINE else self.schemas[self.outputs[name].source]

    def located(self, folder: str) -> Network:
        """The same network, with the relative paths of its stores resolved against a folder."""
        moved = {
            name: replace(given, store=given.store.located(folder))
            for name, given in self.inputs.items()
            if given.store is not None
        }
        if all(moved[name] == self.inputs[name] for name in moved):
            return self
        return replace(self, inputs={**self.inputs, **moved})

    def warnings(self) -> tuple[Problem, ...]:
        """What is allowed but probably a mistake: unread streams, boxes that never forget, odd graphs."""
        read = _read_ids(self)
        found = [p.under(box_id) for box_id in self.order for p in _box_warnings(self, box_id, read)]
        found += guessed_slacks(self)
        found += endless_groups(self)
        found += [
            Problem(name, "no box or output reads this input") for name in self.inputs if name not in read
        ]
        held = _held(self)
        found += [
            warning.under(f"outputs.{name}.quality")
            for name, output in self.outputs.items()
            if output.quality is not None
            for warning in output.quality.warnings(held.get(output.source.id))
        ]
        return tuple(problem.under(self.name) for problem in found)


def _box_warnings(network: Network, box_id: str, read: Collection[str]) -> Iterator[Problem]:
    yield from network.boxes[box_id].box.warnings(*network.input_schemas(box_id))
    if box_id not in read:
        yield Problem("", "no box or output reads this box", "an output or a connection point after it")


def _held(network: Network) -> dict[str, Held]:
    """For each box, the boxes up to it that hold the oldest tuple of its results.

    A result that needs a tuple of each input has the one that was held longest; others may come from the
    input that was held least.
    """
    found: dict[str, Held] = {}
    for box_id in network.order:
        node = network.boxes[box_id]
        inputs = [found.get(source.id, {}) for source in node.sources]
        pick = max if node.box.pairs_inputs else min
        before = pick(inputs, key=lambda held: sum(held.values()), default={})
        own = node.box.holds_us(*network.input_schemas(box_id))
        found[box_id] = {**before, box_id: own} if own else before
    return found


def _read_ids(network: Network) -> set[str]:
    """The inputs and boxes that a box, an output or a connection point reads."""
    ends = (output.source.id for output in network.outputs.values())
    points = (point.at.id for point in network.connection_points.values())
    return {*ends, *points, *(source.id for node in network.boxes.values() for source in node.sources)}


def _examine(draft: Draft, known: Network | None = None) -> _Examined:
    """Everything wrong with a network, and its streams as far as the graph is sound."""
    sure = _examined_boxes(draft, known)
    boxes = {
        box_id: [] if box_id in sure else list(_box_source_problems(draft, box_id)) for box_id in draft.boxes
    }
    problems = [*_name_problems(draft), *chain.from_iterable(boxes.values()), *_end_source_problems(draft)]
    # A box with the id of an input is refused by name; its arcs could belong to either.
    graph = {box_id: node for box_id, node in draft.boxes.items() if box_id not in draft.inputs}
    order, loop = _topological(graph)
    while loop:
        problems.append(Problem(loop[0], f"is in a loop: {' -> '.join(loop)}", "a network without loops"))
        graph = {box_id: node for box_id, node in graph.items() if box_id not in loop}
        order, loop = _topological(graph)
    sound = {box_id: node for box_id, node in graph.items() if not boxes[box_id]}
    if len(sound) < len(graph):
        order = _topological(sound)[0]
    inferred = _infer(draft.inputs, sound, order, draft.doubtful, sure)
    problems += [*inferred.problems, *_attribute_problems(draft, inferred)]
    problems += mark_problems(draft.inputs, sound, order, inferred.schemas)
    problems += _lookup_problems(draft.inputs, sound, inferred.schemas)
    return _Examined(problems, order, MappingProxyType(inferred.schemas))


def _examined_boxes(draft: Draft, known: Network | None) -> Mapping[str, tuple[Schema, ...]]:
    """The boxes that a sound network has in common with a draft, all that they read included.

    With each come the schemas of its outputs.
    """
    found: dict[str, tuple[Schema, ...]] = {}
    if known is None or known.inputs != draft.inputs:
        return found
    for box_id in known.order:
        node, mine = known.boxes[box_id], draft.boxes.get(box_id)
        is_same = mine is node or mine == node
        if is_same and all(each.id in found or each.id in draft.inputs for each in node.sources):
            found[box_id] = tuple(known.schemas[Ref(box_id, port)] for port in range(node.box.outputs))
    return found


def _name_problems(network: Draft) -> Iterator[Problem]:
    if not NAME.fullmatch(network.name):
        yield Problem("name", f"{network.name!r} is not a valid name", NAME_EXPECTED)
    for kind in ("inputs", "outputs", "connection_points"):
        yield from (_bad_name(kind, name) for name in getattr(network, kind) if not NAME.fullmatch(name))
    for kind in ("boxes", "groups"):
        yield from (_bad_name(kind, path) for path in getattr(network, kind) if not _PATH.fullmatch(path))
    yield from (
        Problem(n, "is both an input and a box", "each id only once")
        for n in network.inputs
        if n in network.boxes
    )
    if QUARANTINE in network.outputs:
        yield Problem(f"outputs.{QUARANTINE}", "is the output that every network has", "another name")
    if not network.outputs and not network.connection_points and not network.unread:
        yield Problem("outputs", "is empty", "at least one output or connection point")
    yield from _timezone_problems(network.timezone)
    for group in network.groups:
        if not any(box_id.startswith(f"{group}.") for box_id in (*network.boxes, *network.unread)):
            yield Problem(f"groups.{group}", "has no boxes", f"boxes whose id begins with '{group}.'")


def _bad_name(kind: str, name: str) -> Problem:
    parts = "; parts joined by '.'" if kind in ("boxes", "groups") else ""
    return Problem(kind, f"{name!r} is not a valid name", NAME_EXPECTED + parts)


def _timezone_problems(name: str) -> Iterator[Problem]:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # The problem already says all that these errors would.
        yield Problem("timezone", f"unknown time zone {name!r}", "a name such as 'UTC' or 'Europe/Berlin'")


def _box_source_problems(network: Draft, box_id: str) -> Iterator[Problem]:
    """The problems of the streams at the input ports of a box."""
    node = network.boxes[box_id]
    least, most = node.box.arity
    count = len(node.sources)
    if count < least:
        yield Problem(box_id, f"input port {count} of {least} is not connected", f"{least} sources in 'from'")
    if most is not None and count > most:
        yield Problem(box_id, f"has {count} sources", f"{most} in 'from'")
    for port, source in enumerate(node.sources):
        yield from _ref_problems(network, source, f"{box_id}.from[{port}]")
        yield from _table_problems(network, node.box, port, source, box_id)


def _end_source_problems(network: Draft) -> Iterator[Problem]:
    """The problems of the streams of outputs and connection points; a stored table emits no tuples."""
    ends = [(output.source, f"outputs.{name}.from") for name, output in network.outputs.items()]
    ends += [(point.at, f"connection_points.{name}.at") for name, point in network.connection_points.items()]
    for ref, path in ends:
        yield from _ref_problems(network, ref, path)
        if _is_table(network, ref):
            yield _reads_table(path, ref)


def _ref_problems(network: Draft, ref: Ref, path: str) -> Iterator[Problem]:
    if ref.id in network.unread:
        return
    ports = (
        1 if ref.id in network.inputs else network.boxes[ref.id].box.outputs if ref.id in network.boxes else 0
    )
    box_id, _, port = ref.id.rpartition(".")
    if not ports and box_id in network.boxes:
        most = network.boxes[box_id].box.outputs - 1
        yield Problem(path, f"{box_id!r} has no output port {port!r}", f"a port from 0 to {most}")
    elif not ports:
        known = [*network.inputs, *network.boxes, *sorted(filter(_is_stream, network.unread))]
        meant = nearest(ref.id, known)
        perhaps = f" (perhaps {meant!r})" if meant else ""
        what = f"there is no input or box {ref.id!r}{perhaps}"
        yield Problem(path, what, f"one of {', '.join(known) or 'none'}")
    elif ref.port >= ports:
        yield Problem(path, f"{ref.id!r} has no output port {ref.port}", f"a port from 0 to {ports - 1}")


def _is_stream(part: str) -> bool:
    """Whether a part that could not be read is an input or a box."""
    return not part.startswith(("outputs.", "connection_points.", "groups."))


def _table_problems(network: Draft, box: Box, port: int, source: Ref, box_id: str) -> Iterator[Problem]:
    is_table = _is_table(network, source)
    wants_table = box.table_side == port
    if is_table and not wants_table:
        yield _reads_table(f"{box_id}.from[{port}]", source)
    if wants_table and not is_table and source.id not in network.unread:
        side = ("left", "right")[port]
        yield Problem(
            f"{box_id}.{side}",
            f"has no order, but {source} is a stream",
            "an order, or an input with table: true",
        )


def _is_table(network: Draft, ref: Ref) -> bool:
    return ref.id in network.inputs and network.inputs[ref.id].table


def _reads_table(path: str, ref: Ref) -> Problem:
    return Problem(path, f"{ref.id!r} is a stored table", "a stream; only Join reads a table")


def _topological(boxes: Mapping[str, Node]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The boxes in an order that respects the arcs, and a loop if there is one; not recursive."""
    done: dict[str, bool] = {}
    ordered: list[str] = []
    for root in boxes:
        stack = [root]
        while stack:
            box_id = stack[-1]
            if done.get(box_id) is None:
                done[box_id] = False
                parents = [s.id for s in boxes[box_id].sources if s.id in boxes]
                open_parents = [p for p in parents if done.get(p) is False]
                if open_parents:
                    return (), _loop([b for b in stack if done.get(b) is False], open_parents[0])
                stack.extend(reversed([p for p in parents if p not in done]))
            else:
                stack.pop()
                if not done[box_id]:
                    done[box_id] = True
                    ordered.append(box_id)
    return tuple(ordered), ()


def _loop(path: list[str], start: str) -> tuple[str, ...]:
    """The loop at the end of a path of boxes that each read from the next, in the direction of the arcs."""
    return (start, *reversed(path[path.index(start) + 1 :]), start)


@dataclass(frozen=True)
class _Examined:
    """What is wrong with a network, and what is known of it."""

    problems: list[Problem]
    order: tuple[str, ...]
    """The sound boxes, each after all that it reads from."""
    schemas: Mapping[Ref, Schema]


@dataclass
class _Inferred:
    """What is known of the streams of a network in which some boxes may be faulty."""

    schemas: dict[Ref, Schema]
    problems: list[Problem]
    doubtful: dict[Ref, frozenset[str]]
    """The attributes of streams that a faulty box would compute, whose types are unknown."""


def _infer(
    inputs: Mapping[str, Input],
    boxes: Mapping[str, Node],
    order: Sequence[str],
    doubtful: Mapping[str, frozenset[str]],
    known: Mapping[str, tuple[Schema, ...]],
) -> _Inferred:
    """The schemas of all streams, and the problems of the boxes whose inputs have known schemas.

    After a box with faults, others are checked with what is known of its result. What follows only from a
    fault that was reported is not reported.
    """
    found = _Inferred({Ref(name): given.schema for name, given in inputs.items()}, [], {})
    found.doubtful |= {Ref(name): doubtful.get(name, _NONE) for name in inputs}
    for box_id in order:
        node = boxes[box_id]
        if all(source in found.schemas for source in node.sources):
            sure = known.get(box_id)
            outputs, unknown = _outputs(box_id, node, found) if sure is None else (sure, _NONE)
            unknown |= doubtful.get(box_id, _NONE)
            refs = [Ref(box_id, port) for port in range(len(outputs))]
            found.schemas |= dict(zip(refs, outputs, strict=True))
            found.doubtful |= dict.fromkeys(refs, unknown)
    return found


def _outputs(box_id: str, node: Node, found: _Inferred) -> tuple[tuple[Schema, ...], frozenset[str]]:
    """The schemas of a box's outputs, and the attributes that they lack because of faults; notes problems."""
    given = [found.schemas[source] for source in node.sources]
    doubtful = _NONE.union(*(found.doubtful[source] for source in node.sources))
    try:
        return node.box.output_schemas(*given), doubtful if node.box.copies_tuples else _NONE
    except AlgebraError as error:
        found.problems += _sure(error.under(box_id).problems, doubtful)
        return _known_outputs(node.box, given, error, doubtful)


def _follows(problem: Problem, doubtful: frozenset[str]) -> bool:
    """Whether a problem is only a missing attribute that a faulty box would have computed."""
    pairs = {f"{side}{joint}{name}" for side in ("left", "right") for joint in "._" for name in doubtful}
    return any(problem.what == f"unknown attribute {name!r}" for name in doubtful | pairs)


def _known_outputs(
    box: Box, given: Sequence[Schema], error: AlgebraError, doubtful: frozenset[str]
) -> tuple[tuple[Schema, ...], frozenset[str]]:
    """The outputs of a faulty box as far as known, and the names of the unknown attributes.

    A box that passes its input on still does so; one that computes attributes still has the sound ones.
    """
    if box.keeps_schema:
        return (given[0],) * box.outputs, doubtful
    for part in ("attributes", "functions"):
        texts: NamedTexts = getattr(box, part, ())
        faulty = {name for name, _ in texts if any(p.path == f"{part}.{name}" for p in error.problems)}
        rest = tuple(pair for pair in texts if pair[0] not in faulty)
        if faulty and rest:
            # The box's problems are already reported.
            with suppress(AlgebraError):
                return replace(box, **{part: rest}).output_schemas(*given), frozenset(faulty)  # type: ignore[type-var]
    return (), _NONE


def _attribute_problems(network: Draft, inferred: _Inferred) -> Iterator[Problem]:
    """Attributes that outputs' graphs and connection points name, but their streams lack."""
    schemas = inferred.schemas
    for name, output in network.outputs.items():
        value = output.quality.value if output.quality else None
        if value and output.source in schemas:
            yield from _sure(
                _value_problems(value, schemas[output.source], f"outputs.{name}.quality.value"),
                inferred.doubtful[output.source],
            )
    for name, point in network.connection_points.items():
        if point.key is not None and point.at in schemas and point.key not in schemas[point.at]:
            missing = _unknown(f"connection_points.{name}.key", point.key, schemas[point.at])
            yield from _sure([missing], inferred.doubtful[point.at])


def _sure(problems: Iterable[Problem], doubtful: frozenset[str]) -> Iterator[Problem]:
    return (problem for problem in problems if not _follows(problem, doubtful))


def _lookup_problems(
    inputs: Mapping[str, Input], boxes: Mapping[str, Node], schemas: Mapping[Ref, Schema]
) -> Iterator[Problem]:
    """Joins that should look up rows, but have no equality to look up by."""
    for box_id, node in boxes.items():
        if node.box.table_side is None or not all(source in schemas for source in node.sources):
            continue
        source = node.sources[node.box.table_side].id
        store = inputs[source].store
        if store is None or store.pull != Pull.LOOKUP:
            continue
        # Problems of the predicate itself are already reported.
        with suppress(AlgebraError):
            if not node.box.lookup_keys(*(schemas[each] for each in node.sources)):
                what = f"equates no attribute of {source!r}, so there is nothing to look up by"
                yield Problem(f"{box_id}.predicate", what, f"an equality, or {source}.store.pull: load")


def _value_problems(value: ValueGraph, schema: Schema, path: str) -> Iterator[Problem]:
    if value.attribute not in schema:
        yield _unknown(f"{path}.attribute", value.attribute, schema)
        return
    found = schema[value.attribute].type
    if value.points and found in (STRING, BOOLEAN):
        yield Problem(f"{path}.points", f"{value.attribute!r} is a {found}", "a number or a timestamp")
    if value.categories and found != STRING:
        yield Problem(f"{path}.categories", f"{value.attribute!r} is a {found}", "a string, or points")


def _unknown(path: str, name: str, schema: Schema) -> Problem:
    return Problem(path, f"unknown attribute {name!r}", f"one of {', '.join(schema.names)}")
