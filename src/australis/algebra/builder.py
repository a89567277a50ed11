"""A fluent builder whose code reads like the network's picture: each call adds a box to a stream.

In: calls. Out: a `Network`. Nothing is validated across boxes before `build`, which reports every problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import NoneType
from typing import Any

from australis.algebra.boxes import (
    Aggregate,
    AsOf,
    Box,
    BSort,
    Changes,
    Distinct,
    Filter,
    Join,
    Lag,
    Map,
    Number,
    Resample,
    Slide,
    Top,
    Tumble,
    Union,
    Unnest,
    WSort,
    XSection,
)
from australis.algebra.guards import guard
from australis.algebra.network import (
    FOREVER,
    ConnectionPoint,
    Group,
    Input,
    Network,
    Node,
    Output,
    Ref,
    query_inputs,
)
from australis.algebra.order import Order
from australis.algebra.progress import Progress
from australis.algebra.quality import Quality
from australis.algebra.schema import TUP, Schema, parse_schema, schema_of
from australis.algebra.spans import Span
from australis.algebra.store import FileFormat, Store, file_format_of
from australis.errors import AlgebraError, NetworkError, Problem

SchemaLike = Schema | str | Mapping[str, str]
StoreLike = Store | str | None
FormatLike = FileFormat | str | Mapping[str, Any] | None


class NetworkBuilder:
    """Collects inputs, boxes and outputs, and makes a network of them.

    >>> net = NetworkBuilder("soldiers")
    >>> pos = net.input("pos", "sid int, time long, pos int")
    >>> across = pos.filter("pos >= 30", as_="across")
    >>> count = across.aggregate({"soldiers": "count(*)"}, Order("time", slack=1), size=1)
    >>> _ = count.filter("soldiers >= 3").output("alarm")
    >>> net.build().order
    ('across', 'aggregate1', 'filter1')
    """

    def __init__(self, name: str, *, timezone: str = "UTC", description: str = "") -> None:
        guard(name, str, "name", "a text")
        self._name, self._timezone, self._description = name, timezone, description
        self._inputs: dict[str, Input] = {}
        self._boxes: dict[str, Node] = {}
        self._outputs: dict[str, Output] = {}
        self._points: dict[str, ConnectionPoint] = {}
        self._groups: dict[str, Group] = {}
        self._prefix = ""

    def input(
        self,
        name: str,
        schema: SchemaLike,
        *,
        store: StoreLike = None,
        format: FormatLike = None,
        progress: Progress | None = None,
        source: str | None = None,
        before: Sequence[Box] = (),
        reads: SchemaLike | None = None,
        weight: str | None = None,
        description: str = "",
    ) -> Stream:
        """A stream that comes in from outside; with a store, its rows are pushed.

        A format says how its files are written, as in a document: `format={"csv": {"header": False}}`. A
        source is an output of another node, `participant/node/output`, which is `from` in a document. The
        boxes in `before` run there, and read the attributes `reads` of it. The `weight` is the attribute that
        says how many tuples a tuple stands for; sources may leave it out.
        """
        made = Input(
            _schema(schema),
            False,
            description,
            _store(store),
            progress,
            format=_format(format, name),
            source=source,
            before=tuple(before),
            reads=None if reads is None else _schema(reads),
            weight=weight,
        )
        return self._add_input(name, made)

    def table(
        self,
        name: str,
        schema: SchemaLike,
        *,
        store: StoreLike = None,
        format: FormatLike = None,
        description: str = "",
    ) -> Stream:
        """A stored table, for a side of a join; with a store, its rows are pulled."""
        made = Input(_schema(schema), True, description, _store(store), format=_format(format, name))
        return self._add_input(name, made)

    @contextmanager
    def group(self, name: str, *, tag: str = "", description: str = "") -> Iterator[None]:
        """Boxes added inside belong to a group; groups nest."""
        guard(name, str, "group", "a text as a name")
        outer, self._prefix = self._prefix, f"{self._prefix}{name}."
        self._new(self._groups, self._prefix[:-1], Group(tag, description), "group")
        try:
            yield
        finally:
            self._prefix = outer

    def add(
        self, box: Box, *sources: Stream, as_: str | None = None, tag: str = "", description: str = ""
    ) -> Stream:
        """Add a box that reads some streams; returns the stream of its first output."""
        guard(as_, (str, NoneType), "as_", "a text as the id of the box")
        guard(box, Box, as_ or "box", "a box")
        box_id = self._prefix + (as_ or self._free_id(box.kind))
        if box.system:
            raise NetworkError(
                Problem(box_id, f"a {box.kind} is a system box", "a box that users may put in")
            )
        refs = tuple(self._ref(source, f"{box_id}.from[{port}]") for port, source in enumerate(sources))
        self._new(self._boxes, box_id, Node(box, refs, tag, description), "box")
        return Stream(self, Ref(box_id))

    def build(self, *, query: bool = False) -> Network:
        """The network, validated as a whole.

        With `query` it is an ad hoc query, to be attached to a node: marks come with its connection points.
        """
        return Network(
            self._name,
            query_inputs(self._inputs, self._boxes) if query else self._inputs,
            self._boxes,
            self._outputs,
            self._points,
            self._groups,
            self._timezone,
            self._description,
        )

    def _add_input(self, name: str, given: Input) -> Stream:
        self._new(self._inputs, name, given, "input")
        return Stream(self, Ref(name))

    def _ref(self, source: Stream, path: str) -> Ref:
        guard(source, Stream, path, "a stream of this builder")
        if source._builder is not self:
            what = f"{str(source.ref)!r} is a stream of another builder"
            raise NetworkError(Problem(path, what, "a stream of this builder"))
        return source.ref

    def _free_id(self, kind: str) -> str:
        number = 1
        while f"{self._prefix}{kind}{number}" in self._boxes:
            number += 1
        return f"{kind}{number}"

    def _new(self, items: dict, key: str, item: object, kind: str) -> None:  # type: ignore[type-arg]
        guard(key, str, kind, "a text as a name")
        if key in items:
            raise NetworkError(
                Problem(f"{self._name}.{key}", f"the {kind} {key!r} already exists", "each id only once")
            )
        items[key] = item


class Stream:
    """A stream in a network that is being built; each method adds a box that reads it."""

    def __init__(self, builder: NetworkBuilder, ref: Ref) -> None:
        self._builder = builder
        self.ref = ref

    def filter(
        self, predicate: str, *, as_: str | None = None, tag: str = "", description: str = ""
    ) -> Stream:
        """The tuples that satisfy a predicate; `port(1)` of the result has the others."""
        return self._then(Filter((predicate,)), as_, tag, description)

    def route(
        self, *predicates: str, as_: str | None = None, tag: str = "", description: str = ""
    ) -> tuple[Stream, ...]:
        """A stream for each predicate, of the tuples that it is the first to accept, and one of the rest."""
        first = self._then(Filter(predicates), as_, tag, description)
        return tuple(first.port(port) for port in range(len(predicates) + 1))

    def port(self, port: int) -> Stream:
        """The stream of another output port of the same box."""
        guard(port, int, "port", "the number of an output port")
        if port < 0:
            raise NetworkError(Problem(str(self.ref), f"has no output port {port}", "0 or more"))
        return Stream(self._builder, Ref(self.ref.id, port))

    def map(
        self,
        attributes: Mapping[str, str | int | float],
        *,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Tuples with only the attributes named, each computed by its expression; a number is a constant."""
        return self._then(Map(attributes), as_, tag, description)  # type: ignore[arg-type]

    def unnest(
        self,
        array: str,
        attribute: str,
        *,
        position: str | None = None,
        keep_empty: bool = False,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """A tuple for each element of an array, which is one more attribute."""
        return self._then(Unnest(array, attribute, position, keep_empty), as_, tag, description)

    def union(self, *others: Stream, as_: str | None = None, tag: str = "", description: str = "") -> Stream:
        """This stream and others, merged as they arrive."""
        return self._then(Union(), as_, tag, description, *others)

    def bsort(
        self,
        order: Order,
        *,
        then: Sequence[str] = (),
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """The stream sorted as far as the order's slack allows, equal order values by more keys."""
        return self._then(BSort(order, tuple(then)), as_, tag, description)

    def wsort(
        self, *by: str, timeout: str, as_: str | None = None, tag: str = "", description: str = ""
    ) -> Stream:
        """The stream sorted as far as a waiting time allows."""
        return self._then(WSort(by, timeout), as_, tag, description)

    def aggregate(
        self,
        functions: Mapping[str, str],
        order: Order,
        size: Span | None = None,
        *,
        advance: Span | None = None,
        advance_when: str | None = None,
        timeout: str | None = None,
        align: bool = False,
        offset: Span | None = None,
        session: Span | None = None,
        empty: bool = False,
        forget: Span | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Window functions over windows of the stream."""
        shape = (size, advance, advance_when, timeout, align, offset, session, empty, forget)
        box = Aggregate(functions, order, *shape)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def tumble(
        self,
        functions: Mapping[str, str],
        group_by: Sequence[str],
        *,
        timeout: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Window functions over runs of equal attributes."""
        box = Tumble(functions, group_by, timeout)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def slide(
        self,
        functions: Mapping[str, str],
        size: Span,
        *,
        advance: Span = 1,
        order: Order = Order(TUP),
        timeout: str | None = None,
        forget: Span | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Window functions over overlapping windows, of tuples unless an order is given."""
        box = Slide(functions, size, advance, order, timeout, forget)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def top(
        self,
        n: int,
        by: Sequence[str],
        order: Order,
        size: Span | None = None,
        *,
        advance: Span | None = None,
        advance_when: str | None = None,
        timeout: str | None = None,
        align: bool = False,
        offset: Span | None = None,
        session: Span | None = None,
        forget: Span | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """The first n tuples of each window by some keys, such as `price DESC`, with their ranks."""
        shape = (size, advance, advance_when, timeout, align, offset, session, forget)
        box = Top(n, tuple(by), order, *shape)
        return self._then(box, as_, tag, description)

    def xsection(
        self,
        functions: Mapping[str, str],
        on: str,
        *,
        size: Span = 1,
        slack: int = 0,
        timeout: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Window functions across all groups, step by step."""
        box = XSection(functions, on, size, slack, timeout)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def changes(
        self,
        *of: str,
        group_by: Sequence[str] = (),
        previous: Mapping[str, str] | None = None,
        first: bool = True,
        forget: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """The tuples whose attributes differ from those of the tuple before in their group."""
        box = Changes(of, group_by, previous or (), first, forget)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def lag(
        self,
        attributes: Mapping[str, str],
        *,
        group_by: Sequence[str] = (),
        back: int = 1,
        forget: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Each tuple with attributes of an earlier tuple of its group."""
        box = Lag(attributes, group_by, back, forget)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description)

    def distinct(
        self,
        *of: str,
        order: Order,
        within: Span,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """The tuples without an equal one emitted near them."""
        return self._then(Distinct(of, order, within), as_, tag, description)

    def number(
        self,
        attribute: str,
        group_by: Sequence[str] = (),
        *,
        start: int = 0,
        forget: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """The stream with the number of each tuple in its group as one more attribute."""
        return self._then(Number(attribute, tuple(group_by), start, forget), as_, tag, description)

    def join(
        self,
        right_stream: Stream,
        predicate: str,
        *,
        size: Span | None = None,
        left: Order | None = None,
        right: Order | None = None,
        how: str = "inner",
        table: str | None = None,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Pairs of this stream's tuples and another's; `how` also asks for the tuples without a partner.

        A stored table is the side without an order, or the one that `table` names.
        """
        box = Join(predicate, size, left, right, how, table)
        return self._then(box, as_, tag, description, right_stream)

    def asof(
        self,
        right_stream: Stream,
        predicate: str | None = None,
        *,
        left: Order,
        right: Order,
        within: Span | None = None,
        how: str = "left",
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """Each of this stream's tuples with the latest of the other's at or before it."""
        box = AsOf(left, right, predicate, within, how)
        return self._then(box, as_, tag, description, right_stream)

    def resample(
        self,
        right_stream: Stream,
        functions: Mapping[str, str],
        size: Span,
        *,
        left: Order,
        right: Order,
        predicate: str | None = None,
        keep: Sequence[str] = (),
        extrapolate: bool = True,
        as_: str | None = None,
        tag: str = "",
        description: str = "",
    ) -> Stream:
        """For each of this stream's tuples, functions over the other stream's tuples near it.

        With a predicate, only over those of the group with its key.
        """
        box = Resample(functions, size, left, right, predicate, keep, extrapolate)  # type: ignore[arg-type]
        return self._then(box, as_, tag, description, right_stream)

    def point(
        self, name: str, *, history: str | int | None = None, key: str | None = None, description: str = ""
    ) -> Stream:
        """Make this arc a connection point, where history is kept and queries attach."""
        point = ConnectionPoint(self.ref, history, key, description)
        self._builder._new(self._builder._points, name, point, "connection point")
        return self

    def view(
        self,
        name: str,
        *,
        importance: float = 1.0,
        history: str | int = FOREVER,
        key: str | None = None,
        description: str = "",
    ) -> Stream:
        """Make this arc a view: computed when there is time, and kept for queries that attach later."""
        point = ConnectionPoint(self.ref, history, key, description, importance)
        self._builder._new(self._builder._points, name, point, "connection point")
        return self

    def output(self, name: str, quality: Quality | None = None, *, description: str = "") -> Stream:
        """Deliver this stream to applications under a name."""
        self._builder._new(self._builder._outputs, name, Output(self.ref, quality, description), "output")
        return self

    def _then(self, box: Box, as_: str | None, tag: str, description: str, *others: Stream) -> Stream:
        return self._builder.add(box, self, *others, as_=as_, tag=tag, description=description)


def _schema(given: SchemaLike) -> Schema:
    guard(given, (Schema, str, Mapping), "schema", "a text such as 'sid int, pos double', or a mapping")
    if isinstance(given, Schema):
        return given
    return parse_schema(given) if isinstance(given, str) else schema_of(given)


def _store(given: StoreLike) -> Store | None:
    return Store(given) if isinstance(given, str) else given


def _format(given: FormatLike, name: str) -> FileFormat | None:
    try:
        return None if given is None else file_format_of(given)
    except AlgebraError as error:
        raise error.under(f"{name}.format") from None
