"""One box of the reference, run by hand: its output as plain rows."""

from __future__ import annotations

from typing import Any

from australis.algebra.boxes import Box
from australis.algebra.expr.tree import Value
from australis.algebra.schema import parse_schema
from australis.reference.machines import machine_of
from australis.reference.row import Item, Rejected, Tuple

Row = dict[str, Value]


class Run:
    """A box on inputs of some schemas. Local time stands still unless a step says `now`; a ts is a number."""

    def __init__(self, box: Box, *schemas: str) -> None:
        self.machine: Any = machine_of(box, tuple(map(parse_schema, schemas)))
        self.reasons: list[str] = []
        self.ts: list[int] = []
        """The ts of everything that was emitted."""
        self._number = 0
        self._now = 0

    def push(self, port: int = 0, now: int | None = None, **values: Value) -> list[Row]:
        """A tuple arrives; the rows that come out."""
        self._number += 1
        self._now = self._now if now is None else now
        return self._rows(self.machine.push(port, Tuple(values, self._number), self._now))

    def tick(self, now: int) -> list[Row]:
        """Time passes."""
        self._now = now
        return self._rows(self.machine.tick(now))

    def flush(self, now: int | None = None) -> list[Row]:
        """The streams end."""
        self._now = self._now if now is None else now
        return self._rows(self.machine.flush(self._now))

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many tuples were late, ignored, rejected."""
        return (self.machine.late, self.machine.ignored, self.machine.rejected)

    def _rows(self, items: list[Item]) -> list[Row]:
        self.reasons += [item.reason for item in items if isinstance(item, Rejected)]
        emitted = [item[1] for item in items if not isinstance(item, Rejected)]
        self.ts += [each.ts for each in emitted]
        return [dict(each.values) for each in emitted]
