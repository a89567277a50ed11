"""Join: pairs of tuples of two streams, or of a stream and a stored table (Aurora 5.2.2.3)."""

from __future__ import annotations

from australis.algebra.boxes import Join, equalities, pair_name
from australis.algebra.order import Order
from australis.algebra.quarantine_text import order_reason
from australis.algebra.schema import Schema
from australis.reference.expressions import evaluate
from australis.reference.machine import Machine
from australis.reference.order import group_key
from australis.reference.row import Item, Row, Tuple
from australis.reference.sides import Kept, Side, is_beyond


class JoinMachine(Machine):
    """Matches each arriving tuple with the tuples kept of the other side."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._bound = box.bind(*schemas)
        self._orders = (box.left, box.right)
        self._schemas = schemas
        self._timezone = timezone
        self._equated = equalities(self._bound.predicate)
        self._table: list[Row] = []
        super().__init__()

    def start(self) -> None:
        # The stored table stays: it is not a stream, and does not end.
        self._sides = [_side(*each) for each in zip(self._orders, self._schemas, strict=True)]

    @property
    def kept(self) -> tuple[int, int]:
        """How many tuples of the left and of the right stream are kept."""
        left, right = self._sides
        return (len(left.kept) if left else 0, len(right.kept) if right else 0)

    def load(self, row: Row) -> None:
        self._table.append(row)

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        side = self._sides[port]
        assert side is not None, "a stored table is loaded, not pushed"
        value = side.value(tuple.values)
        reason = order_reason(side.order.on, value)
        if value is None or reason is not None:
            return self.reject(port, tuple, str(reason))
        arrived = side.arrive(tuple, value)
        if arrived is None:
            self.late += 1
            return []
        other = self._sides[1 - port]
        if other is None:
            return self._pairs(port, tuple, [Tuple(row, tuple.ts) for row in self._table])
        return self._match(port, arrived, side, other)

    def _match(self, port: int, arrived: Kept, side: Side, other: Side) -> list[Item]:
        size = self._bound.size
        assert size is not None, "a join of two streams has a size"
        near = [each for each in sorted(other.kept) if abs(arrived.value - each.value) <= size]
        side.kept.append(arrived)
        for kept_port in (0, 1):
            self._forget(kept_port, size)
        return self._pairs(port, arrived.tuple, [each.tuple for each in near])

    def _pairs(self, port: int, tuple: Tuple, partners: list[Tuple]) -> list[Item]:
        pairs = [(tuple, partner) if port == 0 else (partner, tuple) for partner in partners]
        return [(0, self._concatenated(left, right)) for left, right in pairs if self._holds(left, right)]

    def _holds(self, left: Tuple, right: Tuple) -> bool:
        row = {f"left.{name}": value for name, value in left.values.items()}
        row |= {f"right.{name}": value for name, value in right.values.items()}
        return evaluate(self._bound.predicate, row, self._timezone) is True

    def _concatenated(self, left: Tuple, right: Tuple) -> Tuple:
        values = {pair_name(name, "left", self._schemas[1]): value for name, value in left.values.items()}
        values |= {pair_name(name, "right", self._schemas[0]): value for name, value in right.values.items()}
        return Tuple(values, min(left.ts, right.ts))

    # --- what is dropped

    def _forget(self, port: int, size: int | float) -> None:
        """Drop the tuples that cannot join with any future tuple of the other side."""
        side = self._sides[port]
        assert side is not None
        side.kept = [each for each in side.kept if not self._is_useless(port, each, size)]

    def _is_useless(self, port: int, kept: Kept, size: int | float) -> bool:
        other = self._sides[1 - port]
        assert other is not None
        row = kept.tuple.values
        if any(row[pair[port]] is None for pair in self._equated):
            return True
        same = {pair[1 - port]: row[pair[port]] for pair in self._equated}
        if not set(other.order.group_by) <= set(same):
            return False
        return is_beyond(other.passed(group_key(same, other.order.group_by)), kept.value, size)


def _side(order: Order | None, schema: Schema) -> Side | None:
    return None if order is None else Side(order, order.type(schema))
