"""Nodes with links between them, for tests: real ones, whose trains run in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
from tests.cluster.identities import identity
from tests.engine.in_process import InProcess

import australis
from australis.algebra.network import Network
from australis.cluster import Cluster
from australis.engine import Node


def passing() -> Network:
    """What goes in at `n` comes out at `seen`."""
    net = australis.NetworkBuilder("passing")
    net.input("n", "k long not null, v double").output("seen")
    return net.build()


def numbers(*found: int) -> pa.Table:
    return pa.table({"k": pa.array(found, pa.int64()), "v": pa.array([each / 2 for each in found])})


class Linked:
    """A node that others can reach."""

    def __init__(
        self,
        folder: Path,
        name: str,
        network: Network | None = None,
        *,
        root: str | None = None,
        listens: bool = True,
        offers: Mapping[str, Sequence[str]] | None = None,
        trusts: tuple[str, ...] = (),
        window: int = 1 << 20,
        disk: int | None = None,
        **options: Any,
    ) -> None:
        self.name = name
        self._stack = ExitStack()
        home = identity(folder, name, trusts)
        place = folder / (root or f"root-{name.replace('/', '-')}")
        self.node = self._stack.enter_context(Node(place, runner=InProcess(), disk=disk))
        self.node.deploy(network or passing())
        listen = ("127.0.0.1", 0) if listens else None
        self.cluster = self._stack.enter_context(
            Cluster(self.node, home, listen=listen, offers=offers, window=window, **options)
        )

    @property
    def place(self) -> tuple[str, int]:
        assert self.cluster.listens is not None
        return self.cluster.listens

    def reads(self, other: Linked, output: str = "seen", name: str = "n", **options: float) -> None:
        """Link an input with an output of another node."""
        self.cluster.connect(other.name, other.place)
        self.cluster.link(name, f"{other.name}/{output}", **options)

    def seen(self, output: str = "seen") -> list[int]:
        self.node.drain()
        found: list[int] = self.node.read(output)["k"].to_pylist()
        return found

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
