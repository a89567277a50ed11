"""What moves need of a node, and of what carries messages to others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

from australis.algebra.network import Network
from australis.cluster.identity import NodeName
from australis.cluster.wire import Chunk, Fetch
from australis.engine.change import Difference, Moves


class MovingNode(Protocol):
    """The part of a node that moves use."""

    @property
    def moves(self) -> Moves: ...

    @property
    def log_end(self) -> int: ...

    def recorded(self) -> Network | None: ...

    def split_network(self) -> Network: ...

    def difference(self, network: Network, /) -> Difference: ...

    def position(self, source: str, /) -> str | None: ...

    def consumers(self, output: str, /) -> dict[str, tuple[int, int]]: ...

    def consumer(self, consumer: str, output: str, /) -> tuple[int, str | None]: ...

    def read(self, output: str, begin: int = 0, /) -> pa.Table: ...

    def push(
        self,
        name: str,
        batch: pa.Table,
        /,
        *,
        position: tuple[str, int] | None = None,
        wait_s: float | None = None,
    ) -> int | None: ...

    def forget(self, consumer: str, output: str, /) -> None: ...

    def listen(self, told: Callable[[], None], /) -> Callable[[], None]: ...


class Carrier(Protocol):
    """What carries messages to other nodes."""

    def post(self, node: NodeName, topic: str, data: bytes, /) -> bool: ...

    def ask(self, node: NodeName, said: Fetch, /) -> bool: ...

    def answer(self, node: NodeName, said: Chunk, body: bytes, /) -> None: ...

    def reaches(self, node: NodeName, /) -> bool: ...

    def remove(self, name: str, /) -> None: ...
