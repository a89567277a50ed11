"""As-of join: each left tuple with the latest right tuple at or before it."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import INNER, AsOf, pair_name
from australis.algebra.schema import Schema
from australis.reference.machine import Machine
from australis.reference.order import Key, Number, group_key
from australis.reference.row import Item, Tuple
from australis.reference.sides import Kept, Side, is_beyond, leaving, partner_key


class AsOfMachine(Machine):
    """Keeps the left tuples that the right side has not passed, and the right tuples they may ask for."""

    def __init__(self, box: AsOf, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box, self._schemas = box, schemas
        self._bound = box.bind(*schemas)
        self._names = tuple(tuple(pair[port] for pair in self._bound.equated) for port in (0, 1))
        super().__init__()

    def start(self) -> None:
        left, right = self._box.left, self._box.right
        slacks = self._bound.slacks
        self._left = Side(left, left.type(self._schemas[0]), slacks[0])
        self._right = Side(right, right.type(self._schemas[1]), slacks[1])

    @property
    def kept(self) -> tuple[int, int]:
        """How many left and right tuples are kept."""
        return (len(self._left.kept), len(self._right.kept))

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        side = (self._left, self._right)[port]
        arrived = self.enter(port, side, tuple)
        if isinstance(arrived, list):
            return arrived
        side.kept.append(arrived)
        return self._decided()

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        for port, mark in marks.items():
            (self._left, self._right)[port].mark = mark
        return self._decided()

    def _decided(self) -> list[Item]:
        """Emit the left tuples that the right side has passed, and drop what is needed no more."""
        decided = [each for each in self._waiting() if self._is_decided(each)]
        emitted = [item for each in decided for item in self._result(each)]
        self._left.kept = [each for each in self._left.kept if each not in decided]
        self._right.kept = [each for each in self._right.kept if not self._is_useless(each)]
        return emitted

    def finish(self) -> list[Item]:
        """The left tuples that still wait."""
        return [item for each in self._waiting() for item in self._result(each)]

    def _waiting(self) -> list[Kept]:
        """The left tuples that wait, by order value, then by key, then by arrival."""
        return sorted(self._left.kept, key=lambda each: leaving(each, self._names[0]))

    # --- results

    def _is_decided(self, left: Kept) -> bool:
        """Whether no right tuple that could be the latest for a left one can still come."""
        if None in self._key(0, left):
            return True
        row = partner_key(self._bound.equated, 0, left.tuple.values)
        return is_beyond(self._right.passed_for(row), left.value, 0)

    def _result(self, left: Kept) -> list[Item]:
        found = [each for each in self._right.kept if self._is_partner(left, each)]
        if found:
            return [(0, self._shown(left.tuple, max(found).tuple))]
        nothing = Tuple(dict.fromkeys(self._schemas[1].names), left.tuple.ts)
        return [] if self._box.how == INNER else [(0, self._shown(left.tuple, nothing))]

    def _is_partner(self, left: Kept, right: Kept) -> bool:
        within, key = self._bound.within, self._key(0, left)
        near = right.value <= left.value and (within is None or left.value - right.value <= within)
        return near and None not in key and key == self._key(1, right)

    def _shown(self, left: Tuple, right: Tuple) -> Tuple:
        values = {pair_name(name, "left", self._schemas[1]): value for name, value in left.values.items()}
        values |= {pair_name(name, "right", self._schemas[0]): value for name, value in right.values.items()}
        return Tuple(values, min(left.ts, right.ts))

    def _key(self, port: int, kept: Kept) -> Key:
        return group_key(kept.tuple.values, self._names[port])

    # --- what is dropped

    def _is_useless(self, right: Kept) -> bool:
        """Whether no left tuple, waiting or to come, can have a right one as its latest."""
        key, within = self._key(1, right), self._bound.within
        if None in key:
            return True
        least = self._least_asked(right)
        if least is None:
            return False
        if within is not None and least - right.value > within:
            return True
        later = (each for each in self._right.kept if each > right and self._key(1, each) == key)
        return any(each.value <= least for each in later)

    def _least_asked(self, right: Kept) -> Number | None:
        """The least value for which a right tuple's key may be asked; None if it may be any."""
        passed = self._left.passed_for(partner_key(self._bound.equated, 1, right.tuple.values))
        if passed is None:
            return None
        waiting = [each.value for each in self._left.kept if self._key(0, each) == self._key(1, right)]
        return min([passed, *waiting])
