"""Aggregate and its relatives: window functions over windows of a stream (Aurora 5.2.2.2, Aurora* 2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from australis.algebra.boxes.box import (
    Box,
    Composed,
    NamedTexts,
    Names,
    Passings,
    at,
    call_fields,
    check_syntax,
    forgets_after,
    named_texts,
    predicate,
    window_calls,
)
from australis.algebra.expr import Attribute, Expr, WindowCall, WindowFunctions, parse, parse_window
from australis.algebra.guards import Gathering, guard
from australis.algebra.order import Order, Slack, distinct_names, lookup
from australis.algebra.progress import Passing, Shift, Starts
from australis.algebra.schema import TUP, Field, Schema
from australis.algebra.spans import Span, microseconds, units
from australis.algebra.types import TIMESTAMP, DataType
from australis.errors import AlgebraError, Problem

WINDOWS_MAX = 100_000
"""The most windows of a group that one tuple may be in."""
EMPTY_MOST = 100_000
"""The most empty windows of a group that are emitted in a row."""


@dataclass(frozen=True)
class BoundAggregate:
    """An Aggregate with its types: sizes are in the units of the order's type, times in microseconds."""

    order_type: DataType
    functions: WindowFunctions
    size: int | float
    """With sessions, the gap that ends one."""
    advance: int | float | None
    advance_when: Expr | None
    timeout: int | None
    slack: int | float | None = None
    """How late a tuple may be, if the order has a slack by length."""
    origin: int | float = 0
    """Aligned windows start at this value plus multiples of the advance."""
    is_session: bool = False
    forget: int | float | None = None
    """How far after its last tuple a group is forgotten, if the order is by progress."""
    forget_us: int | None = None
    """After how long without a tuple a group is forgotten, if it is not."""

    @property
    def resolution(self) -> int | float | None:
        """What is added to order values to get others, which doubles must be near enough to 0 for."""
        return self.size if self.is_session else self.advance


@dataclass(frozen=True)
class Aggregate(Box):
    """`Aggregate(F.., Assuming O, Size s, Advance i, Timeout t)`: functions over windows of each group.

    Windows are half open, [a, a + s). Those of a group start at its first in-order tuple's value and every
    `advance` from there; with `align` at `offset` plus multiples of `advance`, which for timestamps are read
    on the clocks of the network's time zone. With `advance_when` they start at the first in-order tuple and
    at each one on which the predicate holds. If neither is given, `advance` is `size`. With `session` instead
    of `size`, a window lasts until that much passes without an in-order tuple of its group. A window is
    emitted by the first in-order tuple past its end, or when `timeout` has passed since its first tuple.
    Windows without tuples are emitted only with `empty`, if they lie after a tuple of their group. After
    `forget` without tuples, a group of which nothing is open begins anew: a length of the order if that is by
    progress, else local time.

    >>> Aggregate({"average": "avg(price)"}, Order("time", group_by=("sid",)), size="1 hour").advance is None
    True
    """

    functions: NamedTexts
    order: Order
    size: Span | None = None
    advance: Span | None = None
    advance_when: str | None = None
    timeout: str | None = None
    align: bool = False
    offset: Span | None = None
    session: Span | None = None
    empty: bool = False
    forget: Span | None = None
    kind: ClassVar[str] = "aggregate"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False

    @property
    def copies_tuples(self) -> bool:
        return self.order.late

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        guard(self.order, Order, "order", "an Order")
        guard(self.align, bool, "align", "True or False")
        guard(self.empty, bool, "empty", "True or False")
        with Gathering() as found:
            with found.at():
                check_syntax(self.functions, "functions", parse_window)
            with found.at():
                _check_timeout(self.timeout)
            with found.at():
                self._check_shape()
            with found.at():
                self._check_forget()
            if self.advance_when is not None:
                with found.at("advance_when"):
                    parse(self.advance_when)

    def _check_shape(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.session is not None:
            self._refuse("session", "size", "advance", "advance_when", "align", "offset")
            if self.order.on == TUP:
                raise AlgebraError(Problem("session", f"{TUP} has no gaps", "an order on an attribute"))
        elif self.size is None:
            raise AlgebraError(Problem("size", "is missing", "a size, or session"))
        if self.advance_when is not None:
            self._refuse("advance_when", "advance", "align")
        if self.empty:
            self._refuse("empty", "advance_when", "session")
            if self.order.on == TUP:
                raise AlgebraError(Problem("empty", f"no window of {TUP} is empty", "no empty"))
        if self.offset is not None and not self.align:
            raise AlgebraError(Problem("offset", "is given without align", "align: true, or no offset"))

    def _check_forget(self) -> None:
        if not self.order.by_progress:
            forgets_after(self.forget, self.order.group_by)
        elif self.forget is not None:
            if not self.order.group_by:
                what = "is given, but there are no groups"
                raise AlgebraError(Problem("forget", what, "an order with group_by"))
            # A window that times out on waiting tuples settles where the windows of its group begin.
            self._refuse("forget", "timeout")

    def _refuse(self, given: str, *others: str) -> None:
        for other in others:
            if getattr(self, other) is not None and getattr(self, other) is not False:
                raise AlgebraError(Problem(given, f"is given together with {other}", "only one of the two"))

    def bind(self, schema: Schema) -> BoundAggregate:
        """The box with types, for inputs of a schema."""
        with Gathering() as found:
            with found.at():
                order_type, size, advance = self._extent(schema)
                origin = self._origin(order_type, advance)
            with found.at():
                functions = window_calls(self.functions, schema)
            when = None if self.advance_when is None else predicate(self.advance_when, schema, "advance_when")
        timeout = None if self.timeout is None else microseconds(self.timeout)
        with at("order"):
            slack = self.order.length(schema)
        is_session = self.session is not None
        step = None if when or is_session else advance
        return BoundAggregate(
            order_type,
            functions,
            size,
            step,
            when,
            timeout,
            slack,
            origin,
            is_session,
            self._forget(order_type, size),
            self.forget_us,
        )

    def _forget(self, order_type: DataType, size: float) -> int | float | None:
        """How far after its last tuple a group is forgotten, in the units of the order's type."""
        if self.forget is None or not self.order.by_progress:
            return None
        with at("forget"):
            found = units(self.forget, order_type)
            if found < size:
                what = f"{self.forget!r} is less than a window, {self._length!r}"
                raise AlgebraError(Problem("", what, "at least that"))
        return found

    def is_local(self, schema: Schema) -> bool:
        """Whether its windows lie along the clocks of the network's time zone."""
        return self.align and self.order.on != TUP and schema[self.order.on].type.name == "timestamp"

    def _extent(self, schema: Schema) -> tuple[DataType, int | float, int | float]:
        """The type of the order, and size and advance in its units."""
        with at("order"):
            order_type = self.order.type(schema)
        with Gathering() as found:
            with found.at("size" if self.session is None else "session"):
                size = units(self._length, order_type)
            if self.advance is not None:
                with found.at("advance"):
                    advance = units(self.advance, order_type)
        advance = size if self.advance is None else advance
        self._check_overlap(size, advance)
        return order_type, size, advance

    @property
    def _length(self) -> Span:
        """The size, or the gap of sessions."""
        found = self.size if self.session is None else self.session
        assert found is not None, "one of the two is given"
        return found

    @property
    def step(self) -> Span:
        """The distance between windows."""
        return self._length if self.advance is None else self.advance

    def _origin(self, order_type: DataType, advance: float) -> int | float:
        """The offset in the units of the order's type."""
        none = 0.0 if order_type.name == "double" else 0
        if self.offset is None:
            return none
        with at("offset"):
            found = units(self.offset, order_type, zero=True)
            if found >= advance:
                raise AlgebraError(
                    Problem("", f"is {self.offset!r}", f"less than the advance, {self.step!r}")
                )
        return found

    def _check_overlap(self, size: float, advance: float) -> None:
        if size > WINDOWS_MAX * advance:
            what = f"with size {self.size!r} and advance {self.advance!r} a tuple is in too many windows"
            raise AlgebraError(Problem("advance", what, f"a size of at most {WINDOWS_MAX} advances"))

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        schema, bound = inputs[0], self.bind(inputs[0])
        start = () if self.order.on == TUP else (Field(self.order.on, bound.order_type, False),)
        groups = tuple(schema[name] for name in self.order.group_by)
        with at("functions"):
            results = Schema((*start, *groups, *call_fields(bound.functions)))
        return (results, schema) if self.order.late else (results,)

    @property
    def timeout_us(self) -> int | None:
        return None if self.timeout is None else microseconds(self.timeout)

    @property
    def forget_us(self) -> int | None:
        return None if self.order.by_progress else forgets_after(self.forget, self.order.group_by)

    @property
    def remembers_groups(self) -> bool:
        # By progress nothing is to be known of a closed window, if the next may begin anywhere.
        begins_anywhere = self.align or self.session is not None
        needs_none = self.order.by_progress and begins_anywhere and not self.empty
        return self.forget is None and bool(self.order.group_by) and not needs_none

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.order}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        if not self.order.by_progress:
            return ({},) * self.outputs
        return (self._marks(schemas[0]), {})[: self.outputs]

    def _marks(self, schema: Schema) -> Passings:
        """The marks of its results."""
        bound = self.bind(schema)
        if bound.is_session:
            return self._session_ends(bound)
        if self.align and bound.advance is not None and isinstance(bound.size, int):
            local = self.is_local(schema)
            starts: Starts | Shift = Starts(bound.size, bound.advance, bound.origin, local)
        else:
            starts = Shift(-bound.size)
        return {self.order.on: (Passing(0, self.order.on, starts),)}

    def _session_ends(self, bound: BoundAggregate) -> Passings:
        """The marks of a session's last value, where a function tells it: its start may be any time ago."""
        last = (Passing(0, self.order.on, Shift(-bound.size)),)
        functions = bound.functions
        names = [name for name in functions.values if _is_last(functions.call(name), self.order.on)]
        return dict.fromkeys(names, last)

    def holds_us(self, *schemas: Schema) -> int:
        order_type, size, _ = self._extent(schemas[0])
        length = int(size) + self.order.holds_us(schemas[0]) if order_type == TIMESTAMP else 0
        return length if self.timeout_us is None else min(length, self.timeout_us)

    def partition_keys(self, port: int) -> Sequence[str]:
        return self.order.group_by

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        when = self.bind(schemas[0]).advance_when
        return () if when is None else (when,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return self.bind(schemas[0]).functions.calls

    def rejects(self, *schemas: Schema) -> bool:
        return self.order.rejects(schemas[0])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        # Late tuples leave as they came.
        return (self._used(*schemas).union(self.order.reads, *wanted[1:]),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.order.group_by},)


@dataclass(frozen=True)
class Tumble(Box):
    """`Tumble(F.., GroupBy A..)`: functions over runs of consecutive tuples with equal `group_by` attributes.

    A run is emitted when a tuple with other values arrives (Aurora* 2.2), or `timeout` after its first tuple.
    """

    functions: NamedTexts
    group_by: tuple[str, ...]
    timeout: str | None = None
    kind: ClassVar[str] = "tumble"
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = False
    copies_tuples: ClassVar[bool] = False
    pairs_inputs: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        object.__setattr__(self, "group_by", distinct_names(self.group_by, "group_by"))
        check_syntax(self.functions, "functions", parse_window)
        _check_timeout(self.timeout)
        if not self.group_by:
            raise AlgebraError(Problem("group_by", "is empty", "at least one attribute"))

    def bind(self, schema: Schema) -> WindowFunctions:
        """The typed window functions."""
        with Gathering() as found:
            for index, name in enumerate(self.group_by):
                with found.at():
                    lookup(schema, name, f"group_by[{index}]")
            return window_calls(self.functions, schema)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        functions = self.bind(inputs[0])
        groups = tuple(inputs[0][name] for name in self.group_by)
        with at("functions"):
            return (Schema((*groups, *call_fields(functions))),)

    @property
    def timeout_us(self) -> int | None:
        return None if self.timeout is None else microseconds(self.timeout)

    def partition_keys(self, port: int) -> Sequence[str]:
        # None: without the tuples of one run, its two neighbours could merge into one.
        return ()

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return ()

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return self.bind(schemas[0]).calls

    def rejects(self, *schemas: Schema) -> bool:
        return False

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        return (self._used(*schemas) | Names(self.group_by),)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        return ({name: name for name in self.group_by},)


@dataclass(frozen=True)
class Slide(Composed):
    """`Slide(F.., Size s, Advance i)`: overlapping windows; of tuples, unless `order` says otherwise.

    Composed: an Aggregate whose advance is smaller than its size.
    """

    functions: NamedTexts
    size: Span
    advance: Span = 1
    order: Order = Order(TUP)
    timeout: str | None = None
    forget: Span | None = None
    kind: ClassVar[str] = "slide"

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        _ = self.core

    @cached_property
    def core(self) -> Aggregate:
        return Aggregate(
            self.functions,
            self.order,
            self.size,
            advance=self.advance,
            timeout=self.timeout,
            forget=self.forget,
        )

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        bound = self.core.bind(inputs[0])
        if bound.advance is None or bound.advance >= bound.size:
            raise AlgebraError(
                Problem("advance", f"{self.advance!r} is not smaller than size {self.size!r}", "overlap")
            )
        return self.core.output_schemas(*inputs)


@dataclass(frozen=True)
class XSection(Composed):
    """`XSection(F.., On A)`: a cross-section through all groups at once, one window for each step of `on`.

    Composed: an aligned Aggregate without GroupBy whose advance is its size.
    """

    functions: NamedTexts
    on: str
    size: Span = 1
    slack: Slack = 0
    timeout: str | None = None
    kind: ClassVar[str] = "xsection"

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", named_texts(self.functions, "functions"))
        _ = self.core

    @cached_property
    def core(self) -> Aggregate:
        return Aggregate(
            self.functions, Order(self.on, self.slack), self.size, timeout=self.timeout, align=True
        )


def _is_last(call: WindowCall | None, on: str) -> bool:
    """Whether a function gives the last value of the ordered attribute."""
    if call is None or call.where is not None or call.function not in ("last", "max"):
        return False
    return isinstance(call.args[0], Attribute) and call.args[0].name == on


def _check_timeout(timeout: str | None) -> None:
    if timeout is not None:
        with at("timeout"):
            microseconds(timeout)
