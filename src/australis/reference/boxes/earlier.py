"""Changes and Lag: boxes that see a tuple beside an earlier one of its group."""

from __future__ import annotations

from australis.algebra.boxes import Changes, Lag
from australis.algebra.expr import Value
from australis.algebra.schema import Schema
from australis.reference.expressions import evaluate
from australis.reference.machine import Machine
from australis.reference.order import Arrivals, Key, group_key
from australis.reference.row import Item, Row, Tuple


class ChangesMachine(Machine):
    """Remembers the last values of each group, and the tuple with which they began."""

    def __init__(self, box: Changes, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box = box
        self._bound = box.bind(schemas[0])
        self._timezone = timezone
        super().__init__()

    def start(self) -> None:
        self._arrivals = Arrivals(self._box.forget_us)
        self._last: dict[Key, Key] = {}
        self._began: dict[Key, Row] = {}

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        group, values = (group_key(tuple.values, names) for names in (self._box.group_by, self._box.of))
        if self._arrivals.is_new(group, now):
            self._last.pop(group, None)
            self._began.pop(group, None)
        if self._last.get(group) == values:
            return []
        began = self._began.get(group)
        self._last[group], self._began[group] = values, tuple.values
        if began is None and not self._box.first:
            return []
        added: dict[str, Value] = {
            name: None if began is None else evaluate(expr, began, self._timezone)
            for name, expr in self._bound.items()
        }
        return [(0, Tuple({**tuple.values, **added}, tuple.ts))]


class LagMachine(Machine):
    """Remembers the last tuples of each group."""

    def __init__(self, box: Lag, schemas: tuple[Schema, ...], timezone: str) -> None:
        self._box = box
        self._bound = box.bind(schemas[0])
        self._timezone = timezone
        super().__init__()

    def start(self) -> None:
        self._arrivals = Arrivals(self._box.forget_us)
        self._groups: dict[Key, list[Row]] = {}

    def take(self, port: int, tuple: Tuple, now: int) -> list[Item]:
        group = group_key(tuple.values, self._box.group_by)
        if self._arrivals.is_new(group, now):
            self._groups[group] = []
        earlier = self._groups[group]
        row = earlier[-self._box.back] if len(earlier) >= self._box.back else None
        earlier.append(tuple.values)
        added: dict[str, Value] = {
            name: None if row is None else evaluate(expr, row, self._timezone)
            for name, expr in self._bound.items()
        }
        return [(0, Tuple({**tuple.values, **added}, tuple.ts))]
