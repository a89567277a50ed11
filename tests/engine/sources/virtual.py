"""A time that passes only when somebody waits, and a ledger that takes deliveries as a node does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from australis.engine.files import Rejected
from australis.engine.sources import Adoption, Delivery, Source, hand_over


class VirtualWaiter:
    """Every wait is over at once; what is planned for a moment happens when a wait passes it."""

    def __init__(self, *planned: tuple[float, Callable[[], object]], ends: float = 1e9) -> None:
        self._now = 0.0
        self._ends = ends
        self._planned = sorted(planned, key=lambda plan: plan[0])
        self.waits: list[float] = []

    def now(self) -> float:
        return self._now

    def until(self, moment: float) -> bool:
        self.waits.append(moment)
        while self._planned and self._planned[0][0] <= moment:
            at, happens = self._planned.pop(0)
            self._now = max(self._now, at)
            happens()
        self._now = max(self._now, min(moment, self._ends))
        return not self.is_ended

    @property
    def is_ended(self) -> bool:
        return self._now >= self._ends

    def end(self) -> None:
        self._ends = self._now


class Ledger:
    """Keeps what is pushed, and each position together with it."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.rejected: list[str] = []
        self.adopted: list[str] = []
        self.positions: dict[str, str] = {}
        self.inputs: list[str] = []

    def push(
        self,
        input: str,
        table: pa.Table,
        *,
        rejected: Sequence[Rejected] = (),
        position: tuple[str, str] | None = None,
    ) -> int:
        self.rows.setdefault(input, []).extend(table.to_pylist())
        self.rejected += [row.reason for row in rejected]
        self.inputs.append(input)
        return self._committed(position)

    def adopt(self, input: str, parquet_path: str, *, position: tuple[str, str] | None = None) -> int:
        self.adopted.append(parquet_path)
        self.rows.setdefault(input, []).extend(pq.read_table(parquet_path).to_pylist())
        self.inputs.append(input)
        return self._committed(position)

    def position(self, source_id: str) -> str | None:
        return self.positions.get(source_id)

    def _committed(self, position: tuple[str, str] | None) -> int:
        self.positions.update([position] if position else [])
        return sum(map(len, self.rows.values()))


def run(ledger: Ledger, source: Source, waiter: VirtualWaiter | None = None, most: int | None = None) -> int:
    """Start a source and commit its deliveries, at most so many; gives how many there were."""
    deliveries = source.start(ledger.position, waiter or VirtualWaiter()).deliveries()
    return len([hand_over(ledger, delivery) for delivery in islice(deliveries, most)])


def plain(deliveries: Iterator[Delivery]) -> list[tuple[object, ...]]:
    """Deliveries as values that can be compared."""
    return [
        (
            delivery.input,
            delivery.content if isinstance(delivery.content, Adoption) else delivery.content.to_pylist(),
            [row.reason for row in delivery.rejected],
            delivery.source,
            delivery.position,
        )
        for delivery in deliveries
    ]
