"""Tumble: window functions over runs of consecutive tuples with equal attributes (Aurora* 2.2)."""

from __future__ import annotations

from australis.algebra.boxes import Tumble
from australis.algebra.schema import Schema
from australis.algebra.spans import microseconds
from australis.reference.functions import window_values
from australis.reference.machine import Machine
from australis.reference.order import Key, group_attributes, group_key
from australis.reference.row import Item, Tuple, oldest


class TumbleMachine(Machine):
    """Collects one run at a time."""

    def __init__(self, box: Tumble, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__()
        self._group_by = box.group_by
        self._functions = box.bind(schemas[0])
        self._timeout = None if box.timeout is None else microseconds(box.timeout)
        self._timezone = timezone

    def start(self) -> None:
        self._key: Key | None = None
        self._run: list[Tuple] = []
        self._begin = 0
        self._timed_out = False

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        emitted: list[Item] = []
        key = group_key(tuple.values, self._group_by)
        if key != self._key:
            emitted = self.finish()
            self._key, self._run, self._begin, self._timed_out = key, [], now, False
        if self._timed_out:
            self.ignored += 1
        else:
            self._run.append(tuple)
        return emitted

    def tick(self, now: int) -> list[Item]:
        if self._timeout is None or self._timed_out or not self._run or now <= self._begin + self._timeout:
            return []
        self._timed_out = True
        return [self._result()]

    def finish(self) -> list[Item]:
        return [] if self._timed_out or not self._run else [self._result()]

    def _result(self) -> Item:
        values = group_attributes(self._run[0].values, self._group_by)
        values |= window_values(self._functions, [each.values for each in self._run], self._timezone)
        return (0, Tuple(values, oldest(self._run)))
