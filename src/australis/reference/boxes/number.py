"""Number: counts the tuples of each group."""

from __future__ import annotations

from dataclasses import replace

from australis.algebra.boxes import Number
from australis.algebra.schema import Schema
from australis.reference.machine import Machine
from australis.reference.order import Arrivals, Key, group_key
from australis.reference.row import Item, Tuple


class NumberMachine(Machine):
    """Remembers how many tuples each group has had."""

    def __init__(self, box: Number, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box = box
        super().__init__()

    def start(self) -> None:
        self._arrivals = Arrivals(self._box.forget_us)
        self._counts: dict[Key, int] = {}

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        group = group_key(tuple.values, self._box.group_by)
        count = 0 if self._arrivals.is_new(group, now) else self._counts[group]
        self._counts[group] = count + 1
        numbered = {**tuple.values, self._box.attribute: self._box.start + count}
        return [(0, replace(tuple, values=numbered))]
