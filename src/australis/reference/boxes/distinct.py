"""Distinct: one of the tuples that are equal and near each other."""

from __future__ import annotations

from collections.abc import Mapping

from australis.algebra.boxes import Distinct
from australis.algebra.schema import Schema
from australis.reference.machine import Machine
from australis.reference.order import Key, Number, group_key
from australis.reference.row import Item, Tuple
from australis.reference.sides import Side


class DistinctMachine(Machine):
    """Remembers the order values at which it has emitted each key."""

    def __init__(self, box: Distinct, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box = box
        self._type, self._within = box.bind(schemas[0])
        self._length = box.order.length(schemas[0])
        super().__init__()

    def start(self) -> None:
        self._side = Side(self._box.order, self._type, self._length)
        self._emitted: dict[Key, list[Number]] = {}

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        arrived = self.enter(port, self._side, tuple)
        if isinstance(arrived, list):
            return arrived
        emitted = self._emitted.setdefault(group_key(tuple.values, self._box.of), [])
        if any(abs(arrived.value - each) <= self._within for each in emitted):
            return []
        emitted.append(arrived.value)
        return [(0, tuple)]

    def progress(self, marks: Mapping[int, Number]) -> list[Item]:
        self._side.mark = marks[0]
        return []
