"""Join: pairs of two streams, or of a stream and a stored table (Aurora 5.2.2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at, predicate
from australis.algebra.boxes.two_inputs.sides import (
    ANTI,
    INNER,
    SEMI,
    SIDES,
    UNMATCHED,
    Slacks,
    check_decidable,
    check_side,
    check_word,
    equalities,
    names_of_pair,
    open_ended,
    order_types,
    pair_name,
    pair_schema,
    read_of_pair,
    slacks,
    used_of,
)
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.guards import Gathering
from australis.algebra.order import Order, common_order_type, is_orderable
from australis.algebra.progress import Passing, Shift
from australis.algebra.schema import Schema
from australis.algebra.spans import Span, units
from australis.algebra.types import DataType
from australis.errors import AlgebraError, Problem


@dataclass(frozen=True)
class BoundJoin:
    """A Join with its types. `size` and `order_type` are None where a side is a stored table."""

    predicate: Expr
    order_type: DataType | None
    size: int | float | None
    slacks: Slacks = (None, None)
    """How late the tuples of each side may be, where its order has a slack by length."""


@dataclass(frozen=True)
class Join(Box):
    """`Join(P, Size s, Left Assuming O1, Right Assuming O2)`: pairs that are near each other and satisfy P.

    Near means that their order values differ by at most `size`; with size 0 they are equal. P names
    attributes as `left.pos` and `right.pos`. Attributes that both sides have are called `left_pos` and
    `right_pos` in the result.

    One side may be a stored table: a window of infinite size, so the join then has no `size`. It is the side
    without an order, or the one that `table` names: then the stream needs no order either, and no tuple is
    late.

    `how` says what is emitted: pairs (`inner`); also the tuples of a side that have no partner, with NULLs
    (`left`, `right`, `full`); or only the left tuples that have a partner (`semi`) or have none (`anti`).
    """

    predicate: str
    size: Span | None = None
    left: Order | None = None
    right: Order | None = None
    how: str = INNER
    table: str | None = None
    kind: ClassVar[str] = "join"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    pairs_inputs: ClassVar[bool] = True
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        with at("predicate"):
            parse(self.predicate)
        check_side(self.left, "left", optional=True)
        check_side(self.right, "right", optional=True)
        check_word(self.how, tuple(UNMATCHED), "how")
        self._check_table()
        if (self.size is None) == (self.table_side is None):
            expected = "size where both sides are streams, none where one is a stored table"
            raise AlgebraError(Problem("size", f"is {self.size!r}", expected))

    def _check_table(self) -> None:
        """Refuse what leaves open which side is the table, or asks for rows of a table without a partner."""
        if self.table is not None:
            check_word(self.table, SIDES, "table")
            if self.sides[SIDES.index(self.table)] is not None:
                what = "has an order, but is the stored table"
                raise AlgebraError(Problem(self.table, what, "no order for the side of the table"))
        elif self.left is None and self.right is None:
            expected = "an order for left, right or both; or table: right if that side is a stored table"
            raise AlgebraError(Problem("", "neither side has an order", expected))
        if self.table_side is not None:
            self._check_how(self.table_side)

    def _check_how(self, table: int) -> None:
        allowed = (INNER, "left", SEMI, ANTI) if table == 1 else (INNER, "right")
        if self.how not in allowed:
            what = f"is {self.how}, but {SIDES[table]} is a stored table, whose rows alone are no results"
            expected = f"one of {', '.join(allowed)}; or the table on the other side"
            raise AlgebraError(Problem("how", what, expected))

    @property
    def sides(self) -> tuple[Order | None, Order | None]:
        """The orders of both sides."""
        return (self.left, self.right)

    @property
    def orders(self) -> Mapping[int, Order]:
        return {port: order for port, order in enumerate(self.sides) if order is not None}

    @property
    def table_side(self) -> int | None:
        """The port of the stored table, if there is one."""
        if self.table is not None:
            return SIDES.index(self.table)
        return 0 if self.left is None else 1 if self.right is None else None

    @property
    def unmatched(self) -> frozenset[int]:
        """The ports whose tuples are emitted where they have no partner."""
        return UNMATCHED[self.how]

    @property
    def emits_pairs(self) -> bool:
        """Whether results have the attributes of both sides, not of the left one alone."""
        return self.how not in (SEMI, ANTI)

    def lookup_keys(self, *schemas: Schema) -> Sequence[str]:
        side = self.table_side
        return () if side is None else tuple(pair[side] for pair in equalities(self.bind(*schemas).predicate))

    def bind(self, left: Schema, right: Schema) -> BoundJoin:
        """The box with types, for inputs of two schemas."""
        with Gathering() as found:
            with found.at():
                bound = predicate(self.predicate, {"left": left, "right": right}, "predicate")
            types = order_types(self.sides, (left, right))
        lengths = slacks(self.sides, (left, right))
        if self.size is None or types[0] is None or types[1] is None:
            return BoundJoin(bound, None, None, lengths)
        order_type = common_order_type(types[0], types[1])
        for port in self.unmatched:
            other = self.sides[1 - port]
            assert other is not None, "a join with a size has two orders"
            check_decidable(equalities(bound), other, 1 - port)
        with at("size"):
            return BoundJoin(bound, order_type, units(self.size, order_type, zero=True), lengths)

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        left, right = inputs
        self.bind(left, right)
        if not self.emits_pairs:
            return self.with_late(left, left, right)
        return self.with_late(pair_schema(left, right, self.unmatched), left, right)

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        left, right = schemas
        if self.table_side is not None:
            return (self._looked_up(1 - self.table_side, schemas),)
        bound = self.bind(left, right)
        if self.left is None or self.right is None or bound.size is None:
            return ({},)
        if not (self.left.by_progress and self.right.by_progress):
            return ({},)
        # A result that is still to come has a tuple that is still to come, and one near it, or a tuple that
        # the other side has not passed.
        near, own, other = Shift(-bound.size), self.left.on, self.right.on
        lefts = (Passing(0, own), Passing(1, other, near))
        if not self.emits_pairs:
            return ({own: lefts},)
        rights = (Passing(1, other), Passing(0, own, near))
        return ({pair_name(own, "left", right): lefts, pair_name(other, "right", left): rights},)

    def _looked_up(self, port: int, schemas: tuple[Schema, ...]) -> Passings:
        """The marks of a stream whose tuples are looked up in a table as they come."""
        own, other = schemas[port], schemas[1 - port]
        names = {f.name: pair_name(f.name, SIDES[port], other) if self.emits_pairs else f.name for f in own}
        return {names[f.name]: (Passing(port, f.name),) for f in own if is_orderable(f.type)}

    def partition_keys(self, port: int) -> Sequence[str]:
        # Without some tuples of a side, tuples of the other one could be left without a partner.
        order = self.sides[port]
        return () if order is None or self._decides_of_other(port) else order.group_by

    def equated(self, *schemas: Schema) -> Sequence[tuple[str, str]]:
        return equalities(self.bind(*schemas).predicate)

    def _decides_of_other(self, port: int) -> bool:
        """Whether the tuples of a side decide what is emitted of the other side alone."""
        return 1 - port in self.unmatched or (port == 1 and self.how == SEMI)

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        return (self.bind(*schemas).predicate,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        sides = zip(self.sides, schemas, strict=True)
        return any(order is not None and order.rejects(schema) for order, schema in sides)

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        left, right = schemas
        used = self._used(*schemas)
        if self.emits_pairs:
            read = [
                read_of_pair("left", left, right, used, wanted[0]),
                read_of_pair("right", right, left, used, wanted[0]),
            ]
        else:
            read = [used_of("left", left, used) | wanted[0], used_of("right", right, used)]
        own = zip(read, self.sides, strict=True)
        names = [each if order is None else each | order.reads for each, order in own]
        return self.with_wanted_late(names, wanted)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        if not self.emits_pairs:
            return self.but_late(({name: name for name in schemas[0].names}, {}), *schemas)
        shown = enumerate(names_of_pair(schemas))
        names = [{} if 1 - port in self.unmatched else each for port, each in shown]
        return self.but_late(names, *schemas)

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        if self.table_side is not None or self.left is None or self.right is None:
            return ()
        return open_ended(equalities(self.bind(*inputs).predicate), (self.left, self.right))
