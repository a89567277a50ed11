"""Join: pairs of tuples of two streams, or of a stream and a stored table (Aurora 5.2.2.3)."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import ANTI, SEMI, Join, equalities, pair_name
from australis.algebra.order import Order
from australis.algebra.schema import Schema
from australis.reference.expressions import evaluate
from australis.reference.machine import Machine
from australis.reference.order import Number
from australis.reference.row import Item, Row, Tuple
from australis.reference.sides import Kept, Side, is_beyond, leaving, partner_key


class JoinMachine(Machine):
    """Matches each arriving tuple with the tuples kept of the other side."""

    def __init__(self, box: Join, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box = box
        self._bound = box.bind(*schemas)
        self._schemas = schemas
        self._timezone = timezone
        self._equated = equalities(self._bound.predicate)
        self._table: list[Row] = []
        super().__init__()

    def start(self) -> None:
        # The stored table stays: it is not a stream, and does not end.
        self._sides = [
            _side(*each) for each in zip(self._box.sides, self._schemas, self._bound.slacks, strict=True)
        ]
        self._settled: tuple[set[int], set[int]] = (set(), set())
        """For each side the numbers of the kept tuples that have had a partner."""

    @property
    def kept(self) -> tuple[int, int]:
        """How many tuples of the left and of the right stream are kept."""
        left, right = self._sides
        return (len(left.kept) if left else 0, len(right.kept) if right else 0)

    def load(self, row: Row) -> None:
        self._table.append(row)

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        assert port != self._box.table_side, "a stored table is loaded, not pushed"
        side, other = self._sides[port], self._sides[1 - port]
        if side is None:
            return self._look_up(port, tuple)
        arrived = self.enter(port, side, tuple)
        if isinstance(arrived, list):
            return arrived
        return self._look_up(port, tuple) if other is None else self._match(port, arrived, side, other)

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        """What the marks let go: left tuples, then right ones, each by order value, key, then by arrival."""
        for port, mark in marks.items():
            side = self._sides[port]
            assert side is not None, "a stored table has no marks"
            side.mark = mark
        size = self._bound.size
        return [] if size is None else [*self._forget(0, size), *self._forget(1, size)]

    def finish(self) -> list[Item]:
        """The tuples that have had no partner: by order value, the left ones first, by key, by arrival."""
        waiting = [(each.value, port, each) for port in (0, 1) for each in self._unmatched(port)]
        waiting.sort(key=lambda each: each[:2])
        return [item for _, port, each in waiting for item in self._alone(port, each.tuple)]

    # --- what is emitted

    def _look_up(self, port: int, tuple: Tuple) -> list[Item]:
        """What a tuple makes of the rows of the stored table."""
        rows = [Tuple(row, tuple.ts) for row in self._table]
        partners = [each for each in rows if self._holds(*_in_order(port, tuple, each))]
        if not partners:
            return self._alone(port, tuple)
        return self._results(port, tuple, partners[:1] if self._box.how == SEMI else partners)

    def _match(self, port: int, arrived: Kept, side: Side, other: Side) -> list[Item]:
        """What a tuple makes of the kept ones: its own results, then what its arrival lets go."""
        size = self._bound.size
        assert size is not None, "a join of two streams has a size"
        near = [each for each in sorted(other.kept) if abs(arrived.value - each.value) <= size]
        partners = [each for each in near if self._holds(*_in_order(port, arrived.tuple, each.tuple))]
        emitted = self._results(port, arrived.tuple, [each.tuple for each in self._new(port, partners)])
        if partners:
            self._settled[port].add(arrived.number)
            self._settled[1 - port].update(each.number for each in partners)
        side.kept.append(arrived)
        return [*emitted, *self._forget(port, size), *self._forget(1 - port, size)]

    def _new(self, port: int, partners: list[Kept]) -> list[Kept]:
        """The partners with which a tuple is emitted: a semijoin emits a left tuple with the first."""
        if self._box.how != SEMI:
            return partners
        if port == 0:
            return partners[:1]
        return [each for each in partners if each.number not in self._settled[0]]

    def _results(self, port: int, tuple: Tuple, partners: list[Tuple]) -> list[Item]:
        if self._box.how == ANTI:
            return []
        return [(0, self._shown(*_in_order(port, tuple, partner))) for partner in partners]

    def _alone(self, port: int, tuple: Tuple) -> list[Item]:
        """A tuple that has no partner."""
        if port not in self._box.unmatched:
            return []
        nothing = Tuple(dict.fromkeys(self._schemas[1 - port].names), tuple.ts)
        return [(0, self._shown(*_in_order(port, tuple, nothing)))]

    def _holds(self, left: Tuple, right: Tuple) -> bool:
        row = {f"left.{name}": value for name, value in left.values.items()}
        row |= {f"right.{name}": value for name, value in right.values.items()}
        return evaluate(self._bound.predicate, row, self._timezone) is True

    def _shown(self, left: Tuple, right: Tuple) -> Tuple:
        ts = min(left.ts, right.ts)
        if not self._box.emits_pairs:
            return Tuple(left.values, ts)
        values = {pair_name(name, "left", self._schemas[1]): value for name, value in left.values.items()}
        values |= {pair_name(name, "right", self._schemas[0]): value for name, value in right.values.items()}
        return Tuple(values, ts)

    # --- what is dropped

    def _forget(self, port: int, size: int | float) -> list[Item]:
        """Drop the tuples that can do nothing any more, and emit those of them that have had no partner."""
        side = self._sides[port]
        assert side is not None
        unmatched = self._unmatched(port)
        side.kept = [each for each in side.kept if not self._is_useless(port, each, size)]
        left = {each.number for each in side.kept}
        return [
            item for each in unmatched if each.number not in left for item in self._alone(port, each.tuple)
        ]

    def _unmatched(self, port: int) -> list[Kept]:
        """The kept tuples of a side that have had no partner, in order; none if none is emitted alone."""
        side = self._sides[port] if port in self._box.unmatched else None
        names = [pair[port] for pair in self._equated]
        kept = sorted(side.kept, key=lambda each: leaving(each, names)) if side else []
        return [each for each in kept if each.number not in self._settled[port]]

    def _is_useless(self, port: int, kept: Kept, size: int | float) -> bool:
        """Whether a tuple has said all it can say, or can have no partner any more."""
        if port == 0 and not self._box.emits_pairs and kept.number in self._settled[0]:
            return True
        row = kept.tuple.values
        if any(row[pair[port]] is None for pair in self._equated):
            return True
        return self._has_passed(1 - port, kept, size)

    def _has_passed(self, port: int, kept: Kept, size: int | float) -> bool:
        """Whether a side has passed a tuple of the other side by more than the size of the window."""
        side = self._sides[port]
        assert side is not None
        same = partner_key(self._equated, 1 - port, kept.tuple.values)
        return is_beyond(side.passed_for(same), kept.value, size)


def _side(order: Order | None, schema: Schema, slack: Number | None) -> Side | None:
    return None if order is None else Side(order, order.type(schema), slack)


def _in_order(port: int, tuple: Tuple, partner: Tuple) -> tuple[Tuple, Tuple]:
    """A tuple of a port and its partner, the left one first."""
    return (tuple, partner) if port == 0 else (partner, tuple)
