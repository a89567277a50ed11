"""As-of join: each left tuple with the latest right tuple at or before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from australis.algebra.boxes.box import Box, Names, Passings, at
from australis.algebra.boxes.two_inputs.sides import (
    INNER,
    LEFT,
    Slacks,
    check_decidable,
    check_side,
    check_word,
    equalities,
    key_predicate,
    names_of_pair,
    open_ended,
    order_types,
    pair_name,
    pair_schema,
    read_of_pair,
    slacks,
)
from australis.algebra.expr import Expr, WindowCall, parse
from australis.algebra.guards import Gathering
from australis.algebra.order import Order, common_order_type
from australis.algebra.progress import Passing
from australis.algebra.schema import Schema
from australis.algebra.spans import Span, units
from australis.algebra.types import DataType
from australis.errors import Problem


@dataclass(frozen=True)
class BoundAsOf:
    """An as-of join with its types."""

    predicate: Expr | None
    equated: list[tuple[str, str]]
    order_type: DataType
    within: int | float | None
    slacks: Slacks
    """As in `BoundJoin`."""


@dataclass(frozen=True)
class AsOf(Box):
    """`AsOf(P, Within s, Left Assuming O1, Right Assuming O2)`: the latest right tuple for each left one.

    For each left tuple: the right tuple with the greatest order value at or before its own, of several the
    one that arrived last; if P, which only equates attributes (`left.sym = right.sym`), holds of both, and
    they are at most `within` apart. A result is emitted when the right side has passed the left tuple. A left
    tuple without such a partner is emitted with NULLs (`how` left), or not at all (inner).
    """

    left: Order
    right: Order
    predicate: str | None = None
    within: Span | None = None
    how: str = LEFT
    kind: ClassVar[str] = "asof"
    arity: ClassVar[tuple[int, int | None]] = (2, 2)
    ordered: ClassVar[bool] = True
    keeps_tuples: ClassVar[bool] = True
    copies_tuples: ClassVar[bool] = True
    timeout_us: ClassVar[None] = None

    def __post_init__(self) -> None:
        check_side(self.left, "left")
        check_side(self.right, "right")
        check_word(self.how, (LEFT, INNER), "how")
        if self.predicate is not None:
            with at("predicate"):
                parse(self.predicate)

    def bind(self, left: Schema, right: Schema) -> BoundAsOf:
        """The box with types, for inputs of two schemas."""
        with Gathering() as found:
            with found.at():
                bound = key_predicate(self.predicate, left, right)
            left_type, right_type = order_types((self.left, self.right), (left, right))
        assert left_type is not None
        assert right_type is not None
        order_type = common_order_type(left_type, right_type)
        equated = [] if bound is None else equalities(bound)
        check_decidable(equated, self.right, 1)
        with at("within"):
            within = None if self.within is None else units(self.within, order_type, zero=True)
        lengths = slacks((self.left, self.right), (left, right))
        return BoundAsOf(bound, equated, order_type, within, lengths)

    @property
    def outputs(self) -> int:
        return 1 + len(self.late_ports)

    def output_schemas(self, *inputs: Schema) -> tuple[Schema, ...]:
        left, right = inputs
        self.bind(left, right)
        alone = frozenset({0}) if self.how == LEFT else frozenset[int]()
        return self.with_late(pair_schema(left, right, alone=alone), left, right)

    @property
    def orders(self) -> Mapping[int, Order]:
        return {0: self.left, 1: self.right}

    def passings(self, *schemas: Schema) -> tuple[Passings, ...]:
        if not (self.left.by_progress and self.right.by_progress):
            return ({},)
        # A left tuple waits until the right side has passed it.
        shown = pair_name(self.left.on, "left", schemas[1])
        return ({shown: (Passing(0, self.left.on), Passing(1, self.right.on))},)

    @property
    def pairs_inputs(self) -> bool:
        return self.how == INNER

    def partition_keys(self, port: int) -> Sequence[str]:
        # Without some right tuples, left ones would be emitted with NULLs.
        if port == 0:
            return self.left.group_by
        return self.right.group_by if self.how == INNER else ()

    def equated(self, *schemas: Schema) -> Sequence[tuple[str, str]]:
        return self.bind(*schemas).equated

    def expressions(self, *schemas: Schema) -> tuple[Expr, ...]:
        bound = self.bind(*schemas).predicate
        return () if bound is None else (bound,)

    def window_functions(self, *schemas: Schema) -> tuple[WindowCall, ...]:
        return ()

    def rejects(self, *schemas: Schema) -> bool:
        return self.left.rejects(schemas[0]) or self.right.rejects(schemas[1])

    def reads(self, *schemas: Schema, wanted: Sequence[Names]) -> tuple[Names, ...]:
        left, right = schemas
        used = self._used(*schemas)
        read = (
            read_of_pair("left", left, right, used, wanted[0]) | self.left.reads,
            read_of_pair("right", right, left, used, wanted[0]) | self.right.reads,
        )
        return self.with_wanted_late(read, wanted)

    def origins(self, *schemas: Schema) -> tuple[Mapping[str, str], ...]:
        left, right = names_of_pair(schemas)
        return self.but_late((left, right if self.how == INNER else {}), *schemas)

    def warnings(self, *inputs: Schema) -> tuple[Problem, ...]:
        return open_ended(self.bind(*inputs).equated, (self.left, self.right))
