"""Top: the first tuples of each window by some keys, whole and with their ranks."""

from __future__ import annotations

from australis.algebra.boxes import RANK, WINDOW, Top
from australis.algebra.expr import Value
from australis.algebra.schema import TUP, Schema
from australis.reference.boxes.aggregate import AggregateMachine, Group, Window
from australis.reference.order import sort_value
from australis.reference.row import Tuple, oldest


class TopMachine(AggregateMachine):
    """Has the windows of an Aggregate, and emits of each the tuples that sort first."""

    def __init__(self, box: Top, schemas: tuple[Schema, ...], timezone: str) -> None:
        super().__init__(box.windows, schemas, timezone)
        self._most, self._keys = box.n, box.bind(schemas[0]).keys

    def _tuples(self, group: Group, window: Window) -> list[Tuple]:
        tuples = [each.tuple for each in window.held]
        first = sorted(tuples, key=lambda each: sort_value(each.values, self._keys))[: self._most]
        start: dict[str, Value] = {}
        if self._box.order.on != TUP:
            start[WINDOW] = self._shown_start(window)
        return [
            Tuple({**start, **each.values, RANK: rank}, oldest(tuples)) for rank, each in enumerate(first, 1)
        ]
