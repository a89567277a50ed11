"""What a source delivers, what a node takes, and the two halves of a source: its settings and its run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from australis.engine.files import Rejected
from australis.engine.sources.waiting import Waiter

Positions = Callable[[str], str | None]
"""Returns the last committed position of a source by its id; `Node.position` is one."""


@dataclass(frozen=True)
class Adoption:
    """A Parquet file that can become a segment as it is."""

    path: str
    num_rows: int


@dataclass(frozen=True)
class Delivery:
    """Tuples for an input, rows that are not tuples, and the source's position once these are committed."""

    input: str
    content: pa.Table | Adoption
    source: str
    position: str
    rejected: tuple[Rejected, ...] = ()
    committed: Callable[[], None] | None = field(default=None, compare=False, repr=False)
    """Called once all this is committed: a broker may forget it then."""


class Inlet(Protocol):
    """The part of a node that takes tuples; a position is committed together with its tuples."""

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
    """A running source, which continues after the last committed position."""

    @property
    def turn(self) -> int:
        """The number of deliveries so far, including those of earlier runs."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that are not errors, such as columns that are not attributes."""

    def deliveries(self) -> Iterator[Delivery]:
        """What the source delivers; ends when there is no more, or when the waiter is ended."""


class Source(Protocol):
    """The settings of a source; it can be started any number of times."""

    @property
    def input(self) -> str: ...

    @property
    def at_rest(self) -> bool:
        """Whether all of it is there and wanted at once, so that it never waits."""

    @property
    def is_endless(self) -> bool:
        """Whether it continues until somebody ends it."""

    def start(self, positions: Positions, waiter: Waiter) -> RunningSource: ...


def hand_over(node: Inlet, delivery: Delivery) -> None:
    """Commit a delivery together with its position."""
    position = (delivery.source, delivery.position)
    if isinstance(delivery.content, Adoption):
        node.adopt(delivery.input, delivery.content.path, position=position)
    else:
        node.push(delivery.input, delivery.content, rejected=delivery.rejected, position=position)
    if delivery.committed is not None:
        delivery.committed()
