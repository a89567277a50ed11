"""The meaning of Changes, tuple at a time: what would be `src/australis/reference/changes.py`."""

from __future__ import annotations

from tests.example_box.value import Changes

from australis.algebra.schema import Schema
from australis.reference.machine import Machine
from australis.reference.order import Key, group_key
from australis.reference.row import Item, Tuple


class ChangesMachine(Machine):
    """Remembers the last value of each group."""

    def __init__(self, box: Changes, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._box = box

    def start(self) -> None:
        self._last: dict[Key, Key] = {}

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        group = group_key(tuple.values, self._box.group_by)
        value = group_key(tuple.values, (self._box.on,))
        before, self._last[group] = self._last.get(group), value
        return [] if value == before else [(0, tuple)]
