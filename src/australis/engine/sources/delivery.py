"""What a source brings, what a node takes, and the two halves of a source: its settings and its run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from australis.engine.files import Rejected
from australis.engine.sources.waiting import Waiter

Positions = Callable[[str], str | None]
"""Gives the last committed position of a source by its id; `Node.position` is one."""


@dataclass(frozen=True)
class Adoption:
    """A Parquet file that can become a segment as it stands."""

    path: str
    num_rows: int


@dataclass(frozen=True)
class Delivery:
    """Tuples for an input, rows that are none, and where the source stands once these are committed."""

    input: str
    content: pa.Table | Adoption
    source: str
    position: str
    rejected: tuple[Rejected, ...] = ()


class Inlet(Protocol):
    """The part of a node that takes tuples in; a position is committed together with its tuples."""

    def push(
        self,
        input: str,
        table: pa.Table,
        /,
        *,
        rejected: Sequence[Rejected] = (),
        position: tuple[str, str] | None = None,
    ) -> int | None: ...

    def adopt(self, input: str, path: str, /, *, position: tuple[str, str] | None = None) -> int | None: ...

    def position(self, source: str, /) -> str | None: ...


class RunningSource(Protocol):
    """A source on its way, which goes on behind the last committed position."""

    @property
    def turn(self) -> int:
        """How many deliveries there were so far, those of earlier runs included."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that are no errors, such as columns that no attribute has."""

    def deliveries(self) -> Iterator[Delivery]:
        """What the source brings; it ends when there is no more, or when the waiter is ended."""


class Source(Protocol):
    """The settings of a source; it starts as often as one likes."""

    @property
    def input(self) -> str: ...

    @property
    def at_rest(self) -> bool:
        """Whether all of it is there and wanted at once, so that it never waits."""

    def start(self, positions: Positions, waiter: Waiter) -> RunningSource: ...


def hand_over(node: Inlet, delivery: Delivery) -> None:
    """Commit a delivery together with its position."""
    position = (delivery.source, delivery.position)
    if isinstance(delivery.content, Adoption):
        node.adopt(delivery.input, delivery.content.path, position=position)
    else:
        node.push(delivery.input, delivery.content, rejected=delivery.rejected, position=position)
